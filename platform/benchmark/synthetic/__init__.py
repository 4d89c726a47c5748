"""The synthetic task bank: real-looking office and ERP work, drawn from a seed. No Django in here."""

from benchmark.synthetic.bank import Summary, generate

__all__ = ["Summary", "generate"]
