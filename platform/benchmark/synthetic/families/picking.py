"""Supply chain: picking waves that come up short, with an urgent order in a second turn."""

from __future__ import annotations

from dataclasses import dataclass

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

PICK = Table(
    "pick",
    ("订单号", "物料"),
    {"订单号": "text", "物料": "text", "可拣数量": "number", "缺货数量": "number"},
    file="拣货缺货.csv",
)


@dataclass(frozen=True)
class _Need:
    order: str
    item: str
    count: int
    rank: int


@dataclass(frozen=True)
class _Bin:
    number: str
    item: str
    pieces: int
    state: str
    wide: bool


def _needs(scene: Scene, items: list[str], orders: list[str]) -> list[_Need]:
    r = scene.rng
    ranks = list(range(1, len(orders) + 1))
    r.shuffle(ranks)
    return [
        _Need(order, item, r.randint(5, 40), rank)
        for order, rank in zip(orders, ranks, strict=True)
        for item in sorted(r.sample(items, min(len(items), r.randint(2, 3))))
    ]


def _bins(scene: Scene, items: list[str], needs: list[_Need]) -> list[_Bin]:
    r = scene.rng
    bins: list[_Bin] = []

    def put(zone: str, item: str, count: int, state: str, *, wide: bool) -> None:
        bins.append(_Bin(f"{zone}-{r.randint(10, 99)}-{len(bins) + 1:02d}", item, count, state, wide))

    for place, item in enumerate(items):
        want = sum(n.count for n in needs if n.item == item)
        free = want * r.choice((5, 6, 8)) // 10 + 1
        put("A", item, free // 2, "可用", wide=scene.has("full_width") and place % 2 == 0)
        put("B", item, free - free // 2, "可用", wide=False)
        if scene.has("unapproved"):
            put("C", item, r.randint(6, 25), "待检", wide=False)
    return bins


def _pick_view(
    needs: list[_Need],
    bins: list[_Bin],
    dup: set[str],
    cancelled: set[str],
    flaws: Flaws,
) -> list[Row]:
    left: dict[str, int] = {}
    for b in bins:
        usable = b.state == "可用" or "unapproved" in flaws
        unread = b.wide and "full_width" in flaws
        times = 2 if b.number in dup and "duplicate" in flaws else 1
        left[b.item] = left.get(b.item, 0) + (b.pieces * times if usable and not unread else 0)
    rows = []
    for n in sorted(needs, key=lambda n: (n.rank, n.item)):
        if n.order in cancelled and "void" not in flaws:
            continue
        given = min(left.get(n.item, 0), n.count)
        left[n.item] = left.get(n.item, 0) - given
        rows.append(
            {"订单号": n.order, "物料": n.item, "可拣数量": str(given), "缺货数量": str(n.count - given)}
        )
    return rows


def _pick_files(
    scene: Scene, needs: list[_Need], bins: list[_Bin], dup: set[str], cancelled: set[str]
) -> dict[str, bytes]:
    r = scene.rng
    stock = [
        {
            "货位": b.number,
            "物料": b.item,
            "数量": mess.wide(str(b.pieces)) if b.wide else str(b.pieces),
            "状态": b.state,
        }
        for b in bins
    ]
    stock += [dict(row) for row in stock if row["货位"] in dup]
    lines = [
        {
            "订单号": n.order,
            "顺序": str(n.rank),
            "物料": n.item,
            "需求数量": str(n.count),
            "订单状态": "已取消" if n.order in cancelled else "待拣",
        }
        for n in needs
    ]
    r.shuffle(stock)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "货位库存", stock, xlsx=scene.xlsx)
    mess.put_export(files, r, "波次订单", lines)
    return files


def _urgent_words(scene: Scene, urgent: _Need) -> str:
    return (
        scene.say("刚接到电话，", "等一下，有变化，")
        + f"插进来一张急单 {urgent.order}，要{urgent.item} {urgent.count} 件，排在所有订单最前面。"
        + scene.say("麻烦把表重排一遍，还是原来那个文件。", "按这个重新出一版，文件名不变。")
        + "\n"
    )


def _short_pick_words(scene: Scene) -> str:
    r, say = scene.rng, scene.say
    return spoken.ask(
        r,
        say(
            "这一波拣货怕是不够，先推演一下每张订单每样能拣多少、缺多少。",
            "仓库说有几样不够，帮我按顺序分一下，看看谁缺。",
            "出这波之前先算一遍缺货，好通知客服。",
        ),
        "按顺序号从小到大满足订单，"
        + say("待检的货不能拣。", "没检完的不能动。")
        + say("取消的订单不要出现在表里。", "已经取消的就不用管了，也别写进来。")
        + say("货位号重复的是导重了。", "同一个货位导出两遍的只算一遍。")
        + "每张订单每样物料一行。",
        spoken.wanted(r, PICK),
    )


def _short_pick(scene: Scene) -> Draft:
    r = scene.rng
    items = names.materials(r, scene.some(3, 5))
    orders = names.codes(r, "CK", scene.some(4, 6), 5)
    needs = _needs(scene, items, orders)
    bins = _bins(scene, items, needs)
    dup = {b.number for b in bins[::3]} if scene.has("duplicate") else set()
    cancelled = {next(n.order for n in needs if n.rank == 2)} if scene.has("void") else set()
    final = list(needs)
    turns: tuple[str, ...] = ()
    if scene.multi_turn:
        urgent = _Need(f"CK{r.randint(90_001, 99_999)}", r.choice(items), r.randint(8, 30), 0)
        final.append(urgent)
        turns = (_urgent_words(scene, urgent),)
    gold, adversarial, baseline = views(
        scene, lambda flaws: Answer(tables={"pick": _pick_view(final, bins, dup, cancelled, flaws)})
    )
    files = _pick_files(scene, needs, bins, dup, cancelled)
    rules = Rules()
    rules.deliver(PICK, [row["订单号"] for row in gold.tables["pick"]] if scene.trap != "void" else None)
    fatal = ""
    if cancelled:
        at = {"table": "pick", "column": "订单号"}
        fatal = rules.forbid({"check": "set", "at": at, "excludes": sorted(cancelled)}, "void")
    if scene.trap == "void":
        extra = [row for row in adversarial.tables["pick"] if row["订单号"] in cancelled]
        adversarial.tables["pick"] = [*gold.tables["pick"], *extra]
    rule = check_cells(scene, rules, PICK, gold, adversarial, limit=14)
    instruction = _short_pick_words(scene)
    return Draft(
        ("波次拣货缺货推演", "Short pick of a picking wave"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        fatal if scene.trap == "void" else rule,
        turns,
        seconds=50 if turns else 35,
    )


FAMILIES = (
    Family(
        "sc-short-pick",
        "supply_chain",
        "warehouse",
        "operation",
        ("duplicate", "unapproved", "full_width", "void"),
        _short_pick,
        "仓库班长",
        "波次拣货",
        "medium",
        xlsx_every=5,
        turn_every=2,
    ),
)
