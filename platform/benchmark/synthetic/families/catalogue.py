"""Every task family by its key, in a fixed order."""

from __future__ import annotations

from benchmark.synthetic.drafts import Family
from benchmark.synthetic.families import (
    analysis,
    assets_close,
    engineering,
    fulfilment,
    logistics,
    office_data,
    papers,
    paperwork,
    payables,
    planning,
    practice,
    quality,
    reading,
    receivables,
    scheduling,
    stock,
)

_MODULES = (
    analysis, office_data, paperwork, reading, scheduling, papers,
    payables, receivables, assets_close,
    stock, fulfilment, logistics,
    engineering, quality, planning,
    practice,
)  # fmt: skip
FAMILIES: dict[str, Family] = {family.key: family for module in _MODULES for family in module.FAMILIES}
