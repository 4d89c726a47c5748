"""Equivalence of values: the same number and the same text however they are written."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.texts import same_text
from scoring.values import NotANumber, Quantity, Special, Tolerance, read_number, same_number

FULL_WIDTH = str.maketrans("0123456789,.-()%", "０１２３４５６７８９，．－（）％")


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1234.50", "1234.50", None),
        ("1,234.50", "1234.50", None),
        ("1 234.50", "1234.50", None),
        ("1\u00a0234.50", "1234.50", None),
        ("1\u2009234.50", "1234.50", None),
        ("1'234.50", "1234.50", None),
        ("１，２３４．５０", "1234.50", None),
        ("￥1,234.50", "1234.50", None),
        ("¥ 1,234.50", "1234.50", None),
        ("人民币1,234.50元", "1234.50", "元"),
        ("RMB 1,234.50", "1234.50", None),
        ("$1,234.50", "1234.50", "usd"),
        ("(1,234.50)", "-1234.50", None),
        ("（1,234.50）", "-1234.50", None),
        ("¥(1,234.50)", "-1234.50", None),
        ("(1,234.50)元", "-1234.50", "元"),
        ("(1,234.50元)", "-1234.50", "元"),
        ("-¥1,234.50", "-1234.50", None),
        ("¥-1,234.50", "-1234.50", None),
        ("−1234.5", "-1234.5", None),
        ("－１２３", "-123", None),
        ("+5", "5", None),
        ("-0", "0", None),
        ("0", "0", None),
        (".5", "0.5", None),
        ("5.", "5", None),
        ("1.2e3", "1200", None),
        ("1.5万元", "1.5", "万元"),
        ("1.5 万 元", "1.5", "万元"),
        ("2亿", "2", "亿"),
        ("12.3%", "12.3", "%"),
        ("12.3％", "12.3", "%"),
        ("12 件", "12", "件"),
        ("1,234,567", "1234567", None),
        ("\ufeff7", "7", None),
    ],
)
def test_one_number_however_written(text: str, value: str, unit: str | None) -> None:
    assert read_number(text) == Quantity(Decimal(value), unit)


@pytest.mark.parametrize(
    "text",
    [
        "约1,234.50",
        "1,23",
        "12,34,567",
        "1,2345",
        "1 23",
        "1.2.3",
        "12-5",
        "--5",
        "-(5)",
        "((5))",
        "(5",
        "10²",
        "①",
        "½",
        "5 美丽",
        "$5元",
        "１２３abc",
        "1e99",
        "1e9999",
        "٣",
        "合计",
        "12:30",
        "2026-01-31",
        "5" * 65,
        "5; 6",
        "TRUE",
    ],
)
def test_what_is_no_single_number(text: str) -> None:
    with pytest.raises(NotANumber):
        read_number(text)


@pytest.mark.parametrize("text", ["", "  ", "-", "—", "/", "N/A", "#N/A", "null", "None", "NaN", "－"])
def test_missing_is_not_zero(text: str) -> None:
    assert read_number(text) is Special.MISSING


@pytest.mark.parametrize(
    "text", ["无法计算", " 无法计算。", "cannot be computed", "Cannot Be Computed.", "cannot_compute"]
)
def test_cannot_be_computed_is_a_value_of_its_own(text: str) -> None:
    assert read_number(text) is Special.CANNOT_COMPUTE


@pytest.mark.parametrize(
    ("found", "expected", "equal"),
    [
        (("1.2", "万元"), ("12000", "元"), True),
        (("0.00012", "亿元"), ("12000", "元"), True),
        (("12", "千元"), ("12000", "元"), True),
        (("1.2", None), ("12000", "元"), False),
        (("12000", None), ("12000", "元"), True),
        (("12000", "元"), ("1.2", "万元"), True),
        (("1.2", "万元"), ("12000", None), True),
        (("12000", "usd"), ("12000", "元"), False),
        (("12", "件"), ("12", "件"), True),
        (("12", "件"), ("12", "箱"), False),
        (("12", "件"), ("12", None), True),
        (("3", "天"), ("3", None), True),
        (("72", "小时"), ("3", "天"), True),
        (("1.5", "t"), ("1500", "kg"), True),
        (("12.3", "%"), ("0.123", None), True),
        (("0.123", None), ("12.3", "%"), True),
        (("12.3", None), ("12.3", "%"), False),
        (("123", "‰"), ("12.3", "%"), True),
    ],
)
def test_units_convert_where_they_are_stated(
    found: tuple[str, str | None], expected: tuple[str, str | None], equal: bool
) -> None:
    left, right = (Quantity(Decimal(value), unit) for value, unit in (found, expected))
    assert same_number(left, right) is equal


@pytest.mark.parametrize(
    ("found", "expected", "tolerance", "equal"),
    [
        ("1234.51", "1234.50", Tolerance(absolute=Decimal("0.01")), True),
        ("1234.511", "1234.50", Tolerance(absolute=Decimal("0.01")), False),
        ("100.5", "100", Tolerance(relative=Decimal("0.005")), True),
        ("100.51", "100", Tolerance(relative=Decimal("0.005")), False),
        ("-99.5", "-100", Tolerance(relative=Decimal("0.005")), True),
        ("12.34%", "12.3%", Tolerance(decimals=1), True),
        ("12.35%", "12.3%", Tolerance(decimals=1), False),
        ("12.25%", "12.3%", Tolerance(decimals=1), True),
        ("0.123", "12.3%", Tolerance(decimals=1), True),
        ("0.1234", "0.123", Tolerance(decimals=1), True),
        ("0.124", "0.123", Tolerance(decimals=1), False),
        ("3.46天", "3.5天", Tolerance(decimals=1), True),
        ("0", "0.001", Tolerance(), False),
    ],
)
def test_tolerances(found: str, expected: str, tolerance: Tolerance, equal: bool) -> None:
    left, right = read_number(found), read_number(expected)
    assert isinstance(left, Quantity)
    assert isinstance(right, Quantity)
    assert same_number(left, right, tolerance) is equal


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (" 数量差异 ", "数量差异", True),
        ("ＰＯ－１", "po-1", True),
        ("Pass", "PASS", True),
        ("A  B", "a b", True),
        ("", "", True),
        ("001", "1", False),
        ("数量差异", "数量差异。", False),
    ],
)
def test_text_equivalence(left: str, right: str, equal: bool) -> None:
    assert same_text(left, right) is equal


numbers = st.decimals(min_value=-(10**12), max_value=10**12, places=2, allow_nan=False)


def _styles(number: Decimal) -> list[str]:
    grouped = f"{abs(number):,.2f}"
    sign = "-" if number < 0 else ""
    bracketed = f"({grouped})" if number < 0 else grouped
    styles = [
        f"{number:.2f}",
        sign + grouped,
        sign + grouped.replace(",", " "),
        bracketed,
        f"{sign}¥{grouped}",
    ]
    return [*styles, *(style.translate(FULL_WIDTH) for style in styles), f"  {sign}{grouped}  "]


@given(numbers)
@settings(max_examples=60, deadline=None)
def test_every_style_reads_back_to_the_number(number: Decimal) -> None:
    for style in _styles(number):
        assert read_number(style) == Quantity(number, None), style


@given(numbers, st.sampled_from([("元", 1), ("千元", 1000), ("万元", 10_000), ("亿元", 100_000_000)]))
@settings(max_examples=60, deadline=None)
def test_a_number_equals_itself_in_any_money_unit(number: Decimal, unit: tuple[str, int]) -> None:
    name, size = unit
    scaled = Quantity(number / size, name)
    assert same_number(scaled, Quantity(number, "元"))
    assert same_number(Quantity(number, "元"), scaled)


@given(st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_number_or_not_but_nothing_else(text: str) -> None:
    try:
        reading = read_number(text)
    except NotANumber:
        return
    assert isinstance(reading, Quantity | Special)
    if isinstance(reading, Quantity):
        assert reading.value.is_finite()
