"""Every task family by its key, in a fixed order."""

from __future__ import annotations

from benchmark.synthetic.drafts import Family
from benchmark.synthetic.families import (
    analysis,
    assets_close,
    engineering,
    fulfilment,
    incidents,
    kits,
    logistics,
    office_data,
    papers,
    paperwork,
    payables,
    picking,
    planning,
    practice,
    quality,
    reading,
    receivables,
    replenishment,
    scheduling,
    stock,
)

_MODULES = (
    analysis, office_data, paperwork, reading, scheduling, papers, incidents,
    payables, receivables, assets_close,
    stock, replenishment, fulfilment, logistics, picking,
    engineering, quality, planning, kits,
    practice,
)  # fmt: skip
FAMILIES: dict[str, Family] = {family.key: family for module in _MODULES for family in module.FAMILIES}
