"""A reserve that is made apart from a bank: the same families and strata, no name in common."""

from __future__ import annotations

from collections import Counter

from benchmark.synthetic.allocate import level, slots, spare
from benchmark.synthetic.bank import FIRST_SPARE
from benchmark.synthetic.families.catalogue import FAMILIES


def test_a_reserve_has_the_banks_families_and_levels_and_other_numbers() -> None:
    bank = slots(FAMILIES.values(), "full", seed="v|1")
    found = spare(FAMILIES.values(), 300, first=FIRST_SPARE)
    assert len({(slot.family, slot.index) for slot in found}) == 300
    assert not {(slot.family, slot.index) for slot in found} & {(slot.family, slot.index) for slot in bank}
    assert {slot.family for slot in found} == {slot.family for slot in bank}
    assert {slot.group for slot in found} == {"reserve"}
    levels = Counter(level(slot.index) for slot in found)
    assert levels == {1: 90, 2: 120, 3: 90}
    assert all(FAMILIES[slot.family].split == "bank" for slot in found)
