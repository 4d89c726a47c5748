"""Invented companies, people, materials and places. No real party is meant."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_PLACES = (
    "宁海",
    "临川",
    "青江",
    "云溪",
    "安澜",
    "平湖",
    "石桥",
    "江浦",
    "东陵",
    "南屏",
    "丰泽",
    "永嘉河",
    "北固",
    "白鹭洲",
)
_WORDS = (
    "恒信",
    "博远",
    "瑞达",
    "众合",
    "新拓",
    "嘉禾",
    "鼎盛",
    "启明",
    "汇川",
    "志诚",
    "万通",
    "海纳",
    "天工",
    "联创",
    "德润",
)
_TRADES = ("机电", "五金", "包装", "电子", "化工", "物流", "贸易", "精密", "塑业", "科技", "仪表", "轴承")
_SURNAMES = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗"
_GIVEN = (
    "建国",
    "晓敏",
    "海燕",
    "志强",
    "雨桐",
    "文博",
    "佳宁",
    "立新",
    "思远",
    "春梅",
    "浩然",
    "静怡",
    "永刚",
    "丽华",
    "子轩",
)
CITIES = ("北京", "上海", "广州", "深圳", "杭州", "成都", "武汉", "西安", "长沙", "合肥", "南昌", "贵阳")
DEPARTMENTS = (
    "销售部",
    "市场部",
    "研发部",
    "生产部",
    "采购部",
    "人力资源部",
    "财务部",
    "信息部",
    "质量部",
    "仓储部",
    "行政部",
    "客服部",
)
INDUSTRIES = ("装备制造", "消费电子", "食品饮料", "医药流通", "建材", "汽车零部件", "纺织服装", "商贸零售")
SIZES = ("小型", "中型", "大型")
_NOUNS = (
    "法兰",
    "轴承座",
    "电机壳",
    "密封圈",
    "控制板",
    "连接器",
    "导轨",
    "支架",
    "滤芯",
    "阀体",
    "弹簧",
    "线束",
    "面板",
    "铜排",
    "齿轮",
)
_KINDS = ("A型", "B型", "加长", "不锈钢", "轻量", "耐温", "标准", "加厚")


def company(rng: Random) -> str:
    """A company name."""
    return (
        rng.choice(_PLACES)
        + rng.choice(_WORDS)
        + rng.choice(_TRADES)
        + rng.choice(("有限公司", "股份有限公司"))
    )


def companies(rng: Random, count: int) -> list[str]:
    """Distinct company names."""
    return _distinct(count, lambda: company(rng))


def person(rng: Random) -> str:
    """A personal name."""
    return rng.choice(_SURNAMES) + rng.choice(_GIVEN)


def people(rng: Random, count: int) -> list[str]:
    """Distinct personal names."""
    return _distinct(count, lambda: person(rng))


def material(rng: Random) -> str:
    """A material name."""
    return rng.choice(_KINDS) + rng.choice(_NOUNS)


def materials(rng: Random, count: int) -> list[str]:
    """Distinct material names."""
    return _distinct(count, lambda: material(rng))


def codes(rng: Random, prefix: str, count: int, digits: int = 4) -> list[str]:
    """Distinct ascending document numbers such as `PO-0312`."""
    low = 10 ** (digits - 1)
    return [f"{prefix}{n}" for n in sorted(rng.sample(range(low, low * 10), count))]


def _distinct(count: int, draw: Callable[[], str]) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found[draw()] = None
    return list(found)
