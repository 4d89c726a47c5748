"""Supply chain: reorder points and purchase suggestions."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from math import ceil

from benchmark.synthetic import mess, names, spoken
from benchmark.synthetic.drafts import (
    Answer,
    Draft,
    Family,
    Flaws,
    Row,
    Rules,
    Scene,
    Table,
    check_cells,
    views,
)

REORDER = Table(
    "reorder",
    ("物料编码",),
    {
        "物料编码": "text",
        "日均用量": "number",
        "再订货点": "number",
        "可用量": "number",
        "建议采购量": "number",
    },
    file="补货建议.csv",
)


@dataclass(frozen=True)
class _Part:
    code: str
    name: str
    used: list[int | None]
    before: list[int]
    lead: int
    safety: int
    stock: int
    reserved: int
    coming: int
    pending: int
    pack: int
    boxed: bool


def _parts(scene: Scene) -> list[_Part]:
    r = scene.rng
    parts = []
    for place, code in enumerate(names.codes(r, "WL", scene.some(5, 9), 5)):
        base = r.randint(6, 40)
        used: list[int | None] = [max(0, base + r.randint(-5, 5)) for _ in range(20)]
        if scene.has("missing_not_zero"):
            for gap in r.sample(range(20), 4 if place % 2 == 0 else 0):
                used[gap] = None
        known = [u for u in used if u is not None]
        while sum(known) % len(known):
            spot = next(n for n, u in enumerate(used) if u is not None)
            used[spot] = (used[spot] or 0) + 1
            known = [u for u in used if u is not None]
        lead, safety = r.randint(3, 12), r.randint(10, 60)
        pack = r.choice((6, 10, 12, 24, 50))
        boxed = scene.has("unit") and place in (0, 3)
        stock = r.randint(2, 9) * pack if boxed else r.randint(20, 400)
        parts.append(
            _Part(
                code,
                names.material(r),
                used,
                [base + r.randint(30, 60) for _ in range(5)],
                lead,
                safety,
                stock,
                r.randint(0, 19),
                r.choice((0, r.randint(10, 80))),
                r.randint(40, 160) if scene.has("unapproved") and place in (1, 2) else 0,
                pack,
                boxed,
            )
        )
    return parts


def _part_files(scene: Scene, parts: list[_Part], first: dt.date) -> dict[str, bytes]:
    r = scene.rng
    usage: list[Row] = []
    coming: list[Row] = []
    stock: list[Row] = []
    for p in parts:
        days = [(first + dt.timedelta(days=n), u) for n, u in enumerate(p.used)]
        if scene.has("period"):
            days += [(first - dt.timedelta(days=n + 1), u) for n, u in enumerate(p.before)]
        usage += [
            {"日期": f"{d:%Y-%m-%d}", "物料编码": p.code, "出库数量": "" if u is None else str(u)}
            for d, u in days
        ]
        for count, state in ((p.coming, "已审核"), (p.pending, "待审核")):
            if count:
                coming.append(
                    {
                        "采购单": f"PO{r.randint(10000, 99999)}",
                        "物料编码": p.code,
                        "未到数量": str(count),
                        "状态": state,
                    }
                )
        count = p.stock // p.pack if p.boxed else p.stock
        stock.append(
            {
                "物料编码": p.code,
                "名称": p.name,
                "现存": f"{count}箱" if p.boxed else str(count),
                "已预留": str(p.reserved),
                "提前期（天）": str(p.lead),
                "安全库存": str(p.safety),
                "每箱件数": str(p.pack),
            }
        )
    usage.sort(key=lambda row: (row["日期"], row["物料编码"]))
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "日出库", usage, xlsx=scene.xlsx)
    mess.put_export(files, r, "库存与参数", stock)
    mess.put_export(
        files,
        r,
        "在途采购",
        coming or [{"采购单": "PO10000", "物料编码": "无", "未到数量": "0", "状态": "已审核"}],
    )
    return files


def _reorder_view(parts: list[_Part], flaws: Flaws) -> Answer:
    rows = []
    for p in parts:
        known = [u for u in p.used if u is not None]
        days, total = len(known), sum(known)
        if "missing_not_zero" in flaws:
            days = len(p.used)
        if "period" in flaws:
            total, days = total + sum(p.before), days + len(p.before)
        daily = mess.half_up(Decimal(total) / days)
        point = mess.half_up(Decimal(total) * p.lead / days) + p.safety
        stock = p.stock // p.pack if p.boxed and "unit" in flaws else p.stock
        free = stock - p.reserved + p.coming + (p.pending if "unapproved" in flaws else 0)
        short = point - free
        buy = ceil(short / p.pack) * p.pack if short > 0 else 0
        rows.append(
            {
                "物料编码": p.code,
                "日均用量": mess.plain(daily),
                "再订货点": mess.plain(point),
                "可用量": str(free),
                "建议采购量": str(buy),
            }
        )
    return Answer(tables={"reorder": rows})


def _reorder(scene: Scene) -> Draft:
    r = scene.rng
    first = dt.date(2026, r.randint(2, 10), 6)
    parts = _parts(scene)
    files = _part_files(scene, parts, first)
    gold, adversarial, baseline = views(scene, lambda flaws: _reorder_view(parts, flaws))
    rules = Rules("all_or_nothing" if scene.index % 6 == 0 else "itemised")
    rules.deliver(REORDER, [p.code for p in parts])
    rule = check_cells(scene, rules, REORDER, gold, adversarial, limit=14)
    last = first + dt.timedelta(days=19)
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            "看看哪些料该补货了，补多少，给我个建议。",
            "采购周会要用，帮我把这几个料的补货建议算出来。",
            "最近老缺料，你按现有参数把再订货点重新算一遍，该买的列出量。",
        ),
        f"日均用量取{first:%Y-%m-%d}到{last:%Y-%m-%d}有记录的日子平均，"
        + say("空着的是那天没盘，不是没用。", "没填的那天跳过，不当零。")
        + "再订货点等于日均用量乘提前期再加安全库存；可用量是现存减已预留加在途，"
        + say("采购单没审核的不算在途；", "待审核的采购不能当在途；")
        + "都用件。可用量低于再订货点就补到不低于它，按整箱买，不用买的写 0。",
        spoken.wanted(r, REORDER),
    )
    return Draft(
        ("物料补货建议", "Reorder points and purchase suggestions"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=40,
    )


FAMILIES = (
    Family(
        "sc-reorder-point",
        "supply_chain",
        "planning",
        "analysis",
        ("missing_not_zero", "unit", "unapproved", "period"),
        _reorder,
        "计划员",
        "采购计划",
        "medium",
        xlsx_every=5,
    ),
)
