"""Units a cell, a header or a rule may state, and their factors.

A unit belongs to a dimension; only units of one dimension convert. A word that is not in the table is a
dimension of its own with factor 1, so 件 never equals 箱.
"""

from __future__ import annotations

from decimal import Decimal

_DIMENSIONS: dict[str, dict[str, str]] = {
    "money": {
        "元": "1", "圆": "1", "人民币": "1", "人民币元": "1", "rmb": "1", "cny": "1", "yuan": "1",
        "角": "0.1", "分": "0.01", "百元": "100", "千元": "1000", "百万元": "1000000", "千万元": "10000000",
        "万": "10000", "万元": "10000", "万人民币": "10000",
        "亿": "100000000", "亿元": "100000000", "亿人民币": "100000000",
    },
    "ratio": {"%": "0.01", "百分比": "0.01", "百分点": "0.01", "个百分点": "0.01", "‰": "0.001"},
    "mass": {
        "g": "0.001", "克": "0.001", "kg": "1", "千克": "1", "公斤": "1", "斤": "0.5",
        "t": "1000", "吨": "1000",
    },
    "length": {
        "mm": "0.001", "毫米": "0.001", "cm": "0.01", "厘米": "0.01", "m": "1", "米": "1",
        "km": "1000", "公里": "1000", "千米": "1000",
    },
    "time": {
        "秒": "1", "s": "1", "分钟": "60", "min": "60", "小时": "3600", "h": "3600",
        "天": "86400", "日": "86400", "d": "86400",
    },
}  # fmt: skip
# Counting words and foreign currencies: equal only to themselves.
_WORDS = frozenset("件个箱台套人次笔张份单条批只包桶卷块支瓶辆车托盘把片根双户家项月年周") | {
    "人次", "家次", "工时", "usd", "hkd", "eur", "jpy", "gbp", "krw",
}  # fmt: skip
_TABLE: dict[str, tuple[str, Decimal]] = {
    name: (dimension, Decimal(size))
    for dimension, sizes in _DIMENSIONS.items()
    for name, size in sizes.items()
}
_ONE = Decimal(1)
# A rule that states no unit means 元 and ratios; "3天" is simply 3.
_COUNTED_BARE = frozenset({"money", "ratio"})
_OPENING, _CLOSING = "([【", ")]】"
_MAX_UNIT_CHARS = 12


def is_known(unit: str) -> bool:
    """Whether `unit` (NFKC, lower case) is a unit this table knows."""
    return unit in _TABLE or unit in _WORDS


def ratio(unit: str | None, *, into: str | None) -> tuple[Decimal, Decimal] | None:
    """What a number in `unit` is multiplied with and divided by to stand in `into`; None if it cannot.

    Two numbers, so that hours into days stay exact. A number without a unit takes the wanted one, except that
    it is never a percentage by itself: into "%" it is read as a ratio (0.123 is 12.3 %). Where no unit is
    wanted, money turns into 元 and percentages into ratios.
    """
    if unit == into:
        return _ONE, _ONE
    if unit is None:
        return (_ONE, _TABLE[into][1]) if into is not None and is_ratio(into) else (_ONE, _ONE)
    if into is None:
        dimension, size = _TABLE.get(unit, ("", _ONE))
        return (size, _ONE) if dimension in _COUNTED_BARE else (_ONE, _ONE)
    if unit not in _TABLE or into not in _TABLE or _TABLE[unit][0] != _TABLE[into][0]:
        return None
    return _TABLE[unit][1], _TABLE[into][1]


def is_ratio(unit: str) -> bool:
    """Whether the unit is a share of one, as % is."""
    return unit in _TABLE and _TABLE[unit][0] == "ratio"


def split_header(header: str) -> tuple[str, str | None]:
    """Split "差异金额(万元)" into ("差异金额", "万元"); a header without a known unit stays whole.

    `header` is already NFKC-normalised, so that full-width brackets have become ASCII ones.
    """
    start = max(header.rfind(mark, 0, -1) for mark in _OPENING)
    base, inside = header[: max(start, 0)].rstrip(), header[start + 1 : -1]
    if not base or header[-1] not in _CLOSING or any(mark in inside for mark in _CLOSING):
        return header, None
    label, colon, rest = inside.partition(":")
    unit = (rest if colon and label.strip() == "单位" else inside).strip().lower()
    return (base, unit) if len(unit) <= _MAX_UNIT_CHARS and is_known(unit) else (header, None)
