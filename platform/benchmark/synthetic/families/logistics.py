"""Supply chain: carrier choice under a tariff."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import ceil

from benchmark.synthetic import mess, names, spoken
from benchmark.synthetic.drafts import (
    Answer,
    Draft,
    Dull,
    Family,
    Flaws,
    Rules,
    Scene,
    Table,
    check_cells,
    views,
)

CHOICE = Table(
    "choice",
    ("运单号",),
    {"运单号": "text", "计费重量": "number", "承运商": "text", "运费": "number"},
    file="承运商选择.csv",
    units={"计费重量": "kg", "运费": "元"},
)


@dataclass(frozen=True)
class _Carrier:
    name: str
    first: Decimal
    each: Decimal
    days: int
    until: str
    banned: bool


@dataclass(frozen=True)
class _Parcel:
    number: str
    grams: bool
    weight: Decimal
    size: tuple[int, int, int]
    days: int
    city: str


def _carriers(scene: Scene) -> list[_Carrier]:
    r = scene.rng
    found = []
    for place, name in enumerate(names.companies(r, 5)):
        cheap = place in (0, 1)
        expired = scene.has("period") and place == 0
        banned = scene.has("unapproved") and place == 1
        found.append(
            _Carrier(
                name[:4] + "物流",
                mess.amount(r, 8, 13, "0.5") if cheap else mess.amount(r, 14, 22, "0.5"),
                mess.amount(r, 1, 2, "0.1") if cheap else mess.amount(r, 2, 5, "0.1"),
                r.randint(1, 4),
                "2025-12-31" if expired else "2026-12-31",
                banned,
            )
        )
    if len({c.name for c in found}) < len(found):
        raise Dull("two carriers share a name")
    return found


def _parcels(scene: Scene) -> list[_Parcel]:
    r = scene.rng
    made = []
    for place, number in enumerate(names.codes(r, "YD", scene.some(6, 11), 6)):
        weight = mess.amount(r, 1, 30, "0.1")
        side = 10 if not scene.has("volume") else 10 if place % 3 else 22
        size = (r.randint(2, 3) * side, r.randint(1, 3) * side, r.randint(1, 2) * side)
        made.append(
            _Parcel(
                number,
                scene.has("unit") and place % 3 == 1,
                weight,
                size,
                r.randint(2, 5),
                r.choice(names.CITIES),
            )
        )
    return made


def _fee(carrier: _Carrier, kilos: int) -> Decimal:
    return carrier.first + carrier.each * (kilos - 1)


def _choice_view(parcels: list[_Parcel], carriers: list[_Carrier], flaws: Flaws) -> Answer:
    rows = []
    for p in parcels:
        actual = p.weight * 1000 if p.grams and "unit" in flaws else p.weight
        cubic = Decimal(p.size[0] * p.size[1] * p.size[2]) / 6000
        kilos = max(1, ceil(actual if "volume" in flaws else max(actual, cubic)))
        able = [
            c
            for c in carriers
            if c.days <= p.days
            and (c.until > "2026" or "period" in flaws)
            and (not c.banned or "unapproved" in flaws)
        ]
        if not able:
            raise Dull("a parcel that nobody can carry")
        fees = sorted(_fee(c, kilos) for c in able)
        if len(fees) > 1 and fees[0] == fees[1]:
            raise Dull("two carriers at the same price")
        best = min(able, key=lambda c: _fee(c, kilos))
        rows.append(
            {
                "运单号": p.number,
                "计费重量": str(kilos),
                "承运商": best.name,
                "运费": mess.money(_fee(best, kilos)),
            }
        )
    return Answer(tables={"choice": rows})


def _choice_files(scene: Scene, parcels: list[_Parcel], carriers: list[_Carrier]) -> dict[str, bytes]:
    r = scene.rng
    tariff = [
        {
            "承运商": c.name,
            "首重1kg（元）": mess.plain(c.first),
            "续重每kg（元）": mess.plain(c.each),
            "时效（天）": str(c.days),
            "报价有效期至": c.until,
            "合作状态": "暂停合作" if c.banned else "正常",
        }
        for c in carriers
    ]
    goods = [
        {
            "运单号": p.number,
            "目的地": p.city,
            "实重": mess.plain(p.weight * 1000 if p.grams else p.weight),
            "重量单位": "g" if p.grams else "kg",
            "尺寸（cm）": "×".join(map(str, p.size)),
            "最晚到达（天）": str(p.days),
        }
        for p in parcels
    ]
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "承运商报价", tariff, xlsx=scene.xlsx)
    mess.put_export(files, r, "待发运单", goods)
    files["发运规定.md"] = (
        "# 发运规定\n\n计费重量取实重与体积重（长×宽×高÷6000，厘米）中大的，不足 1 公斤的进成整公斤。\n\n"
        "运费 = 首重 + 续重单价 ×（计费重量 − 1）。\n\n"
        "在时效够、报价没过期（今天是 2026 年）、合作正常的承运商里选运费最低的。"
        "暂停合作的承运商不得使用。\n"
    ).encode()
    return files


def _carrier_words(scene: Scene) -> str:
    r, say = scene.rng, scene.say
    return spoken.ask(
        r,
        say(
            "今天这批货要发，每票选哪家物流最划算，帮我定一下。",
            "这几票运单还没排承运商，按规定挑便宜又赶得上的。",
            "给待发的运单选承运商，算好运费，我直接下单。",
        ),
        say("规矩都在发运规定里。", "照发运规定来。")
        + say("有的称重是克，注意下。", "重量单位不统一，你看着换算。")
        + "每票一行。",
        spoken.wanted(r, CHOICE),
    )


def _carrier(scene: Scene) -> Draft:
    carriers, parcels = _carriers(scene), _parcels(scene)
    files = _choice_files(scene, parcels, carriers)
    gold, adversarial, baseline = views(scene, lambda flaws: _choice_view(parcels, carriers, flaws))
    rules = Rules()
    rules.deliver(CHOICE, [p.number for p in parcels])
    words = tuple(c.name for c in carriers)
    rules.tables["choice"] = Table(**{**CHOICE.__dict__, "words": {"承运商": words}})
    banned = [c.name for c in carriers if c.banned]
    fatal = ""
    if banned:
        at = {"table": "choice", "column": "承运商"}
        fatal = rules.forbid({"check": "set", "at": at, "excludes": banned}, "unapproved")
    used_banned = {row["运单号"] for row in adversarial.tables["choice"] if row["承运商"] in banned}
    if scene.trap == "unapproved":
        if not used_banned:
            raise Dull("the suspended carrier tempts nobody")
        # What is asked are the weights and the consignments where the suspended carrier would not win.
        kept = [row for row in gold.tables["choice"] if row["运单号"] not in used_banned]
        for row in gold.tables["choice"]:
            rules.cell(CHOICE, row, "计费重量", tolerance="0")
        for row in kept[:6]:
            rules.cell(CHOICE, row, "运费")
        rule = fatal
    else:
        rule = check_cells(scene, rules, CHOICE, gold, adversarial, limit=14)
    instruction = _carrier_words(scene)
    return Draft(
        ("运单承运商选择", "Carrier choice under a tariff"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=35,
    )


FAMILIES = (
    Family(
        "sc-carrier-choice",
        "supply_chain",
        "logistics",
        "analysis",
        ("volume", "period", "unapproved", "unit"),
        _carrier,
        "物流专员",
        "发运安排",
        "medium",
        xlsx_every=5,
    ),
)
