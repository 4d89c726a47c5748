"""The first thing that is wrong with a package; the same for bundles and images."""

from evaluation.images.findings import Finding, shown

__all__ = ["Finding", "shown"]
