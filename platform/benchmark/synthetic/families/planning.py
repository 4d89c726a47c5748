"""Manufacturing: load against capacity per work centre; complete-kit check before release (two turns)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from benchmark.synthetic import mess, names, spoken
from benchmark.synthetic.drafts import (
    Answer, Draft, Dull, Family, Flaws, Row, Rules, Scene, Table, check_cells, views,
)

LOAD = Table(
    "load", ("工作中心",),
    {"工作中心": "text", "可用工时": "number", "负荷工时": "number", "负荷率": "number", "结论": "text"},
    file="产能负荷.csv", words={"结论": ("超负荷", "正常", "富余")},
)
_CENTRES = ("数控车", "加工中心", "折弯线", "焊接线", "喷涂线", "总装线", "线切割", "热处理")
_DEFAULT = 85


@dataclass(frozen=True)
class _Centre:
    name: str
    shifts: int
    days: int
    repair: int
    efficiency: int | None


@dataclass(frozen=True)
class _Job:
    number: str
    centre: str
    pieces: int
    setup: int
    minutes: Decimal
    seconds: bool
    state: str


def _centres(scene: Scene) -> list[_Centre]:
    r = scene.rng
    return [
        _Centre(name, r.randint(1, 2), r.randint(5, 6),
                r.choice((4, 8, 12)) if scene.has("maintenance") and n % 2 == 0 else 0,
                None if scene.has("missing_not_zero") and n % 3 == 1 else r.choice((75, 80, 90, 95)))
        for n, name in enumerate(r.sample(_CENTRES, scene.some(3, 5)))
    ]


def _jobs(scene: Scene, centres: list[_Centre]) -> list[_Job]:
    r = scene.rng
    made = []
    numbers = names.codes(r, "GD", scene.some(8, 16), 5)
    for place, number in enumerate(numbers):
        centre = centres[place % len(centres)]
        made.append(_Job(number, centre.name, r.randint(4, 40) * 10, r.randint(2, 12) * 15,
                         Decimal(r.randint(2, 30)) / 5, scene.has("unit") and place % 4 == 1,
                         "计划" if scene.has("unapproved") and place % 4 == 2 else "已下达"))
    return made


def _load_view(centres: list[_Centre], jobs: list[_Job], flaws: Flaws) -> Answer:
    rows = []
    for c in centres:
        hours = c.shifts * c.days * 8 - (0 if "maintenance" in flaws else c.repair)
        rate = c.efficiency if c.efficiency is not None else 100 if "missing_not_zero" in flaws else _DEFAULT
        able = Decimal(hours) * rate / 100
        need = Decimal(0)
        for j in jobs:
            if j.centre != c.name or (j.state != "已下达" and "unapproved" not in flaws):
                continue
            minutes = j.minutes * 60 if j.seconds and "unit" in flaws else j.minutes
            need += j.pieces * minutes + (0 if "setup" in flaws else j.setup)
        need = mess.half_up(need / 60)
        ratio = need * 100 / able
        verdict = "超负荷" if ratio > 100 else "富余" if ratio < 60 else "正常"
        rows.append({"工作中心": c.name, "可用工时": mess.plain(able), "负荷工时": mess.plain(need),
                     "负荷率": mess.percent(need, able), "结论": verdict})
    return Answer(tables={"load": rows})


def _capacity(scene: Scene) -> Draft:
    r = scene.rng
    centres = _centres(scene)
    jobs = _jobs(scene, centres)
    gold, adversarial, baseline = views(scene, lambda flaws: _load_view(centres, jobs, flaws))
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "工作中心", [
        {"工作中心": c.name, "班次": str(c.shifts), "每班小时": "8", "本周天数": str(c.days),
         "效率": "" if c.efficiency is None else f"{c.efficiency}%"} for c in centres])
    mess.put_export(files, r, "本周工序任务", [
        {"任务号": j.number, "工作中心": j.centre, "数量": str(j.pieces), "准备时间（分钟）": str(j.setup),
         "单件工时": mess.plain(j.minutes * 60 if j.seconds else j.minutes), "工时单位": "秒" if j.seconds else "分钟",
         "状态": j.state} for j in r.sample(jobs, len(jobs))], xlsx=scene.xlsx)
    repairs = "".join(f"- {c.name}：停机 {c.repair} 小时\n" for c in centres if c.repair) or "- 无\n"
    files["设备科通知.md"] = f"# 本周检修安排\n\n{repairs}".encode()
    rules = Rules("all_or_nothing" if scene.index % 6 == 0 else "itemised")
    rules.deliver(LOAD, [c.name for c in centres])
    rule = check_cells(scene, rules, LOAD, gold, adversarial, limit=14)
    say = scene.say
    instruction = spoken.ask(
        r,
        say("排产会要用，算一下这周各工作中心吃不吃得消。", "这周活多，帮我看哪个工作中心要爆。", "按本周的任务把产能负荷算一版。"),
        f"可用工时等于班次乘每班小时乘天数，减掉检修停机，再乘效率（没填效率的按 {_DEFAULT}%）。负荷含准备时间，每个任务准备一次，折成小时留两位。"
        + say("还在“计划”状态、没下达的任务不算。", "只算已下达的任务。") + "负荷率超过 100% 是“超负荷”，不到 60% 是“富余”，其余“正常”；负荷率写百分数、一位小数。",
        spoken.wanted(r, LOAD),
    )
    return Draft(("周产能负荷", "Weekly load against capacity"), instruction, files, rules, gold, adversarial, baseline, rule,
                 seconds=35)


RELEASE = Table("release", ("工单号",), {"工单号": "text", "开工顺序": "number"}, file="开工清单.csv")
SHORT = Table("short", ("工单号", "物料"), {"工单号": "text", "物料": "text", "缺口": "number"}, file="缺料清单.csv")


@dataclass(frozen=True)
class _Order:
    number: str
    rank: int
    frozen: bool
    needs: dict[str, int]


@dataclass(frozen=True)
class _Store:
    item: str
    count: int
    pending: int
    twice: bool
    wide: bool


def _kit_view(orders: list[_Order], stores: list[_Store], flaws: Flaws) -> Answer:
    left = {}
    for s in stores:
        count = s.count * (2 if s.twice and "duplicate" in flaws else 1) + (s.pending if "unapproved" in flaws else 0)
        left[s.item] = 0 if s.wide and "full_width" in flaws else count
    released: list[Row] = []
    short: list[Row] = []
    for o in sorted(orders, key=lambda o: o.rank):
        if o.frozen:
            continue
        gaps = {i: n - left[i] for i, n in o.needs.items() if n > left[i]}
        if gaps:
            short += [{"工单号": o.number, "物料": i, "缺口": str(g)} for i, g in gaps.items()]
            continue
        for item, count in o.needs.items():
            left[item] -= count
        released.append({"工单号": o.number, "开工顺序": str(len(released) + 1)})
    return Answer(tables={"release": released, "short": short})


def _kit_truth(scene: Scene) -> tuple[list[_Order], list[_Store]]:
    r = scene.rng
    items = names.materials(r, scene.some(4, 6))
    numbers = names.codes(r, "MO", scene.some(6, 9), 5)
    ranks = list(range(1, len(numbers) + 1))
    r.shuffle(ranks)
    orders = [_Order(n, rank, scene.has("void") and rank in (1, 4),
                     {i: r.randint(4, 30) for i in sorted(r.sample(items, r.randint(2, 3)))})
              for n, rank in zip(numbers, ranks, strict=True)]
    stores = []
    for place, item in enumerate(items):
        total = sum(o.needs.get(item, 0) for o in orders)
        stores.append(_Store(item, total * r.randint(5, 9) // 10 + 4, r.randint(10, 40) if scene.has("unapproved") else 0,
                             scene.has("duplicate") and place % 2 == 0, scene.has("full_width") and place == 1))
    return orders, stores


def _kit_files(scene: Scene, orders: list[_Order], stores: list[_Store]) -> dict[str, bytes]:
    r = scene.rng
    stock: list[Row] = []
    for place, s in enumerate(stores):
        row = {"库存行": f"KC{place + 10}", "物料": s.item, "数量": mess.wide(str(s.count)) if s.wide else str(s.count), "状态": "可用"}
        stock += [row, dict(row)] if s.twice else [row]
        if s.pending:
            stock.append({"库存行": f"KC{place + 50}", "物料": s.item, "数量": str(s.pending), "状态": "待检"})
    r.shuffle(stock)
    needs = [{"工单号": o.number, "优先级": str(o.rank), "物料": i, "需求": str(n), "工单状态": "冻结" if o.frozen else "已下达"}
             for o in orders for i, n in o.needs.items()]
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "线边库存", stock, xlsx=scene.xlsx)
    mess.put_export(files, r, "工单用料", needs)
    return files


def _kit(scene: Scene) -> Draft:
    r = scene.rng
    orders, stores = _kit_truth(scene)
    files = _kit_files(scene, orders, stores)
    turns: tuple[str, ...] = ()
    if scene.multi_turn:
        last = max(orders, key=lambda o: o.rank)
        orders = [o if o is not last else _Order(o.number, 0, False, o.needs) for o in orders]
        turns = (scene.say("客户加急了，", "计划有调整，") + f"{last.number} 提到最前面，其他顺序不动。两张清单按新的顺序重出，文件名不变。\n",)
    gold, adversarial, baseline = views(scene, lambda flaws: _kit_view(orders, stores, flaws))
    if len(gold.tables["release"]) < 2 or not gold.tables["short"]:
        raise Dull("everything or nothing can be released")
    rules = Rules()
    rules.deliver(RELEASE)
    rules.deliver(SHORT)
    frozen = [o.number for o in orders if o.frozen]
    at = {"table": "release", "column": "工单号"}
    own = [row["工单号"] for row in gold.tables["release"]]
    fatal = rules.forbid({"check": "set", "at": at, "excludes": frozen}, "void") if frozen else ""
    if scene.trap == "void":
        extra = {"工单号": frozen[0], "开工顺序": str(len(own) + 1)}
        adversarial = Answer(tables={"release": [*gold.tables["release"], extra], "short": gold.tables["short"]})
        rules.item({"check": "set", "at": at, "includes": own})
        rule = fatal
    else:
        rule = rules.item({"check": "ranking", "at": at, "expected": own}, scene.trap)
        rules.keys(RELEASE, own)
    waiting = sorted({row["工单号"] for row in gold.tables["short"]})
    rules.keys(SHORT, waiting)
    check_cells(scene, rules, SHORT, gold, adversarial, limit=6)
    baseline = Answer(tables={"release": [{"工单号": n, "开工顺序": str(p)} for p, n in enumerate(waiting, 1)],
                              "short": [{**row, "工单号": own[0], "缺口": str(int(row["缺口"]) + 7)}
                                        for row in gold.tables["short"][:1]]})
    say = scene.say
    instruction = spoken.ask(
        r,
        say("明天开哪些单，帮我按库存做个齐套。", "车间问哪些工单能开工，你跑一遍齐套检查。", "料不够，先看看按优先级哪些工单能凑齐料开工。"),
        "按优先级数字从小到大看，料全够才开，开了就把料占掉；有一样不够就不开、也不占料，接着看下一张。"
        + say("冻结的工单不准开，也不占料。", "状态是冻结的绝对不能开。") + say("待检的料不能用。", "没检完的料不算数。") + say("库存行号重复的是导重的。", "库存行号一样的算一行。"),
        "能开的：" + spoken.wanted(r, RELEASE),
        "因缺料没开的，缺什么、轮到它时差多少：" + spoken.wanted(r, SHORT),
    )
    return Draft(("工单齐套检查", "Complete-kit check before release"), instruction, files, rules, gold, adversarial,
                 baseline, rule, turns, seconds=50 if turns else 35)


FAMILIES = (
    Family("mf-capacity", "manufacturing", "planning", "analysis",
           ("unit", "maintenance", "missing_not_zero", "unapproved", "setup"), _capacity, "计划员", "周排产", "medium", xlsx_every=5),
    Family("mf-kit-release", "manufacturing", "planning", "operation",
           ("duplicate", "unapproved", "void", "full_width"), _kit, "生产调度", "开工准备", "high", xlsx_every=5, turn_every=1),
)
