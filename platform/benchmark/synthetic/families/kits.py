"""Manufacturing: complete-kit check before release, with a change of plan in a second turn."""

from __future__ import annotations

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

RELEASE = Table("release", ("工单号",), {"工单号": "text", "开工顺序": "number"}, file="开工清单.csv")
SHORT = Table(
    "short", ("工单号", "物料"), {"工单号": "text", "物料": "text", "缺口": "number"}, file="缺料清单.csv"
)


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
        count = s.count * (2 if s.twice and "duplicate" in flaws else 1) + (
            s.pending if "unapproved" in flaws else 0
        )
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
    orders = [
        _Order(
            n,
            rank,
            scene.has("void") and rank in (1, 4),
            {i: r.randint(4, 30) for i in sorted(r.sample(items, r.randint(2, 3)))},
        )
        for n, rank in zip(numbers, ranks, strict=True)
    ]
    stores = []
    for place, item in enumerate(items):
        total = sum(o.needs.get(item, 0) for o in orders)
        stores.append(
            _Store(
                item,
                total * r.randint(5, 9) // 10 + 4,
                r.randint(10, 40) if scene.has("unapproved") else 0,
                scene.has("duplicate") and place % 2 == 0,
                scene.has("full_width") and place == 1,
            )
        )
    return orders, stores


def _kit_files(scene: Scene, orders: list[_Order], stores: list[_Store]) -> dict[str, bytes]:
    r = scene.rng
    stock: list[Row] = []
    for place, s in enumerate(stores):
        row = {
            "库存行": f"KC{place + 10}",
            "物料": s.item,
            "数量": mess.wide(str(s.count)) if s.wide else str(s.count),
            "状态": "可用",
        }
        stock += [row, dict(row)] if s.twice else [row]
        if s.pending:
            stock.append(
                {"库存行": f"KC{place + 50}", "物料": s.item, "数量": str(s.pending), "状态": "待检"}
            )
    r.shuffle(stock)
    needs = [
        {
            "工单号": o.number,
            "优先级": str(o.rank),
            "物料": i,
            "需求": str(n),
            "工单状态": "冻结" if o.frozen else "已下达",
        }
        for o in orders
        for i, n in o.needs.items()
    ]
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "线边库存", stock, xlsx=scene.xlsx)
    mess.put_export(files, r, "工单用料", needs)
    return files


def _kit_words(scene: Scene) -> str:
    r, say = scene.rng, scene.say
    return spoken.ask(
        r,
        say(
            "明天开哪些单，帮我按库存做个齐套。",
            "车间问哪些工单能开工，你跑一遍齐套检查。",
            "料不够，先看看按优先级哪些工单能凑齐料开工。",
        ),
        "按优先级数字从小到大看，料全够才开，开了就把料占掉；有一样不够就不开、也不占料，接着看下一张。"
        + say("冻结的工单不准开，也不占料。", "状态是冻结的绝对不能开。")
        + say("待检的料不能用。", "没检完的料不算数。")
        + say("库存行号重复的是导重的。", "库存行号一样的算一行。"),
        "能开的：" + spoken.wanted(r, RELEASE),
        "因缺料没开的，缺什么、轮到它时差多少：" + spoken.wanted(r, SHORT),
    )


def _kit_rules(
    scene: Scene, orders: list[_Order], gold: Answer, adversarial: Answer
) -> tuple[Rules, str, Answer, Answer]:
    """Rules, the rule the adversarial answer fails, that answer, and a baseline that releases what is short."""
    rules = Rules()
    rules.deliver(RELEASE)
    rules.deliver(SHORT)
    frozen = [o.number for o in orders if o.frozen]
    at = {"table": "release", "column": "工单号"}
    own = [row["工单号"] for row in gold.tables["release"]]
    fatal = rules.forbid({"check": "set", "at": at, "excludes": frozen}, "void") if frozen else ""
    if scene.trap == "void":
        extra = {"工单号": frozen[0], "开工顺序": str(len(own) + 1)}
        adversarial = Answer(
            tables={"release": [*gold.tables["release"], extra], "short": gold.tables["short"]}
        )
        rules.item({"check": "set", "at": at, "includes": own})
        rule = fatal
    else:
        rule = rules.item({"check": "ranking", "at": at, "expected": own}, scene.trap)
        rules.keys(RELEASE, own)
    waiting = sorted({row["工单号"] for row in gold.tables["short"]})
    rules.keys(SHORT, waiting)
    check_cells(scene, rules, SHORT, gold, adversarial, limit=6)
    baseline = Answer(
        tables={
            "release": [{"工单号": n, "开工顺序": str(p)} for p, n in enumerate(waiting, 1)],
            "short": [
                {**row, "工单号": own[0], "缺口": str(int(row["缺口"]) + 7)}
                for row in gold.tables["short"][:1]
            ],
        }
    )
    return rules, rule, adversarial, baseline


def _kit(scene: Scene) -> Draft:
    orders, stores = _kit_truth(scene)
    files = _kit_files(scene, orders, stores)
    turns: tuple[str, ...] = ()
    if scene.multi_turn:
        last = max(orders, key=lambda o: o.rank)
        orders = [
            o if o is not last else _Order(o.number, rank=0, frozen=False, needs=o.needs) for o in orders
        ]
        turns = (
            scene.say("客户加急了，", "计划有调整，")
            + f"{last.number} 提到最前面，其他顺序不动。两张清单按新的顺序重出，文件名不变。\n",
        )
    gold, adversarial, _ = views(scene, lambda flaws: _kit_view(orders, stores, flaws))
    if len(gold.tables["release"]) < 2 or not gold.tables["short"]:
        raise Dull("everything or nothing can be released")
    rules, rule, adversarial, baseline = _kit_rules(scene, orders, gold, adversarial)
    instruction = _kit_words(scene)
    return Draft(
        ("工单齐套检查", "Complete-kit check before release"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        turns,
        seconds=50 if turns else 35,
    )


FAMILIES = (
    Family(
        "mf-kit-release",
        "manufacturing",
        "planning",
        "operation",
        ("duplicate", "unapproved", "void", "full_width"),
        _kit,
        "生产调度",
        "开工准备",
        "high",
        xlsx_every=5,
        turn_every=1,
    ),
)
