"""Supply chain: allocation under lot rules."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from benchmark.synthetic import mess, names, spoken
from benchmark.synthetic.drafts import (
    Answer,
    Draft,
    Dull,
    Family,
    Flaws,
    Row,
    Rules,
    Scene,
    Table,
    check_cells,
    views,
)

LOTS = Table(
    "lots",
    ("订单号", "批次号"),
    {"订单号": "text", "批次号": "text", "分配数量": "number"},
    file="批次分配.csv",
    units={"分配数量": "件"},
)


@dataclass
class _Lot:
    number: str
    item: str
    expiry: dt.date
    stock: int
    held: bool = False
    boxed: int = 0
    wide: bool = False


@dataclass(frozen=True)
class _Demand:
    number: str
    item: str
    wanted: int
    priority: int
    days: int


def _stock(scene: Scene, items: list[str], today: dt.date) -> list[_Lot]:
    r = scene.rng
    lots: list[_Lot] = []
    numbers = iter(names.codes(r, "L", len(items) * 6, 5))
    for place, item in enumerate(items):
        days = sorted(r.sample(range(35, 300), 4))
        for rank, left in enumerate(days):
            box = r.choice((12, 20, 24)) if scene.has("unit") and rank == 1 else 0
            stock = box * r.randint(2, 5) if box else r.randint(25, 80)
            held = scene.has("unapproved") and rank == 0 and place < 2
            lots.append(
                _Lot(
                    next(numbers),
                    item,
                    today + dt.timedelta(days=left),
                    stock,
                    held,
                    box,
                    scene.has("full_width") and rank == 2,
                )
            )
        if scene.has("period"):
            soon = today + dt.timedelta(days=r.randint(5, 25))
            lots.append(_Lot(next(numbers), item, soon, r.randint(30, 60)))
    return lots


def _demands(scene: Scene, lots: list[_Lot], items: list[str]) -> list[_Demand]:
    r = scene.rng
    made = []
    priorities = list(range(1, 3 * len(items) + 1))
    r.shuffle(priorities)
    numbers = iter(names.codes(r, "SO", 3 * len(items), 5))
    for item in items:
        free = sum(lot.stock for lot in lots if lot.item == item and not lot.held)
        for _ in range(r.randint(2, 3)):
            made.append(
                _Demand(next(numbers), item, max(8, free * r.randint(18, 34) // 100), priorities.pop(), 30)
            )
    return made


def _allocate(lots: list[_Lot], demands: list[_Demand], today: dt.date, flaws: Flaws) -> list[Row]:
    left = {}
    for lot in lots:
        count = lot.stock // lot.boxed if lot.boxed and "unit" in flaws else lot.stock
        left[lot.number] = 0 if lot.wide and "full_width" in flaws else count
    rows = []
    for d in sorted(demands, key=lambda d: d.priority):
        need = d.wanted
        for lot in sorted((x for x in lots if x.item == d.item), key=lambda x: (x.expiry, x.number)):
            fresh = (lot.expiry - today).days >= d.days or "period" in flaws
            if (lot.held and "unapproved" not in flaws) or not fresh or not need:
                continue
            given = min(need, left[lot.number])
            if given:
                left[lot.number] -= given
                need -= given
                rows.append({"订单号": d.number, "批次号": lot.number, "分配数量": str(given)})
    return rows


def _lot_files(scene: Scene, lots: list[_Lot], demands: list[_Demand], today: dt.date) -> dict[str, bytes]:
    r = scene.rng
    stock = []
    for lot in r.sample(lots, len(lots)):
        count = str(lot.stock // lot.boxed if lot.boxed else lot.stock)
        stock.append(
            {
                "批次号": lot.number,
                "物料": lot.item,
                "有效期至": lot.expiry.isoformat(),
                "现存量": mess.wide(count) if lot.wide else count,
                "单位": "箱" if lot.boxed else "件",
                "每箱件数": str(lot.boxed or ""),
                "质检状态": "冻结" if lot.held else "合格",
            }
        )
    orders = [
        {"订单号": d.number, "物料": d.item, "需求件数": str(d.wanted), "优先级": str(d.priority)}
        for d in r.sample(demands, len(demands))
    ]
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "批次库存", stock, xlsx=scene.xlsx)
    mess.put_export(files, r, "待发订单", orders)
    files["发货规则.md"] = (
        f"# 发货批次规则\n\n- 今天按 {today.isoformat()} 算。\n- 优先级数字小的订单先分。\n"
        "- 同一物料先发快到期的批次，到期日一样的先发批次号小的。\n- 距有效期不足 30 天的批次不发。\n"
        "- 冻结的批次任何情况下不得发出。\n- 不够就有多少分多少。\n"
    ).encode()
    return files


def _allocation_words(scene: Scene) -> str:
    r, say = scene.rng, scene.say
    return spoken.ask(
        r,
        say(
            "这批订单下午装车，先把每张订单用哪个批次、各发多少分好。",
            "仓库等着拣货，帮我按规则把待发订单分到批次上。",
            "几张订单抢同一批货，你按发货规则分配一下批次。",
        ),
        say("库存里有的按箱记，分配都用件。", "有些批次账上记的是箱数，最后一律折成件。")
        + "规则看工作区里的发货规则，一张订单用到几个批次就写几行，没分到的不写。",
        spoken.wanted(r, LOTS),
    )


def _allocation(scene: Scene) -> Draft:
    r = scene.rng
    today = dt.date(2026, r.randint(2, 10), r.randint(1, 28))
    items = names.materials(r, scene.some(2, 4))
    lots = _stock(scene, items, today)
    demands = _demands(scene, lots, items)
    files = _lot_files(scene, lots, demands, today)
    gold, adversarial, baseline = views(
        scene, lambda f: Answer(tables={"lots": _allocate(lots, demands, today, f)})
    )
    rules = Rules()
    rules.deliver(LOTS)
    held = [lot.number for lot in lots if lot.held]
    fatal = ""
    if held:
        at = {"table": "lots", "column": "批次号"}
        fatal = rules.forbid({"check": "set", "at": at, "excludes": held}, "unapproved")
    true_rows = gold.tables["lots"]
    if scene.trap == "unapproved":
        if not set(held) & {row["批次号"] for row in adversarial.tables["lots"]}:
            raise Dull("no frozen lot is tempting")
        first = next(row for row in adversarial.tables["lots"] if row["批次号"] in held)
        adversarial.tables["lots"] = [*true_rows, {**first}]
    rules.item(
        {
            "check": "set",
            "at": {"table": "lots", "column": "订单号"},
            "includes": sorted({row["订单号"] for row in true_rows}),
        }
    )
    if scene.trap != "unapproved":
        rules.keys(LOTS, {row["批次号"] for row in true_rows}, column="批次号")
    rule = check_cells(scene, rules, LOTS, gold, adversarial, limit=12)
    baseline.tables["lots"] = [
        {**row, "批次号": "待定"} for row in true_rows[1:] if row["订单号"] != true_rows[0]["订单号"]
    ]
    merged = {row["订单号"]: row for row in baseline.tables["lots"]}
    baseline.tables["lots"] = list(merged.values())
    instruction = _allocation_words(scene)
    return Draft(
        ("订单批次分配", "Lot allocation for open orders"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        fatal if scene.trap == "unapproved" else rule,
        seconds=40,
    )


FAMILIES = (
    Family(
        "sc-lot-allocation",
        "supply_chain",
        "inventory",
        "operation",
        ("unapproved", "unit", "period", "full_width"),
        _allocation,
        "仓储主管",
        "发货准备",
        "high",
        xlsx_every=4,
    ),
)
