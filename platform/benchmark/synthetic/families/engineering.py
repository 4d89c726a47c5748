"""Manufacturing: multi-level BOM explosion; work-order status from shop-floor reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

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

DEMAND = Table("demand", ("物料编码",), {"物料编码": "text", "毛需求": "number"}, file="物料需求.csv")


@dataclass(frozen=True)
class _Edge:
    parent: str
    child: str
    count: Decimal
    grams: bool = False
    until: str = ""
    since: str = ""
    twice: bool = False


@dataclass(frozen=True)
class _Tree:
    product: str
    lot: int
    edges: list[_Edge]
    phantom: str
    kilos: set[str]
    labels: dict[str, str]


def _tree(scene: Scene) -> _Tree:
    r = scene.rng
    product = f"P{r.randint(1000, 9999)}"
    subs = names.codes(r, "S", 3)
    raws = names.codes(r, "M", scene.some(5, 8))
    edges = [_Edge(product, s, Decimal(r.randint(1, 3))) for s in subs[:2]]
    edges.append(_Edge(subs[0], subs[2], Decimal(r.randint(1, 2))))
    kilos = set(raws[:2])
    for place, raw in enumerate(raws):
        parents = [subs[place % 3]] + ([product] if place % 3 == 1 else [])
        for parent in parents:
            grams = raw in kilos and scene.has("unit") and place == 0
            count = (
                mess.amount(r, 0, 2, "0.05") + Decimal("0.05") if raw in kilos else Decimal(r.randint(1, 6))
            )
            edges.append(_Edge(parent, raw, count, grams, twice=scene.has("duplicate") and place in (1, 3)))
    if scene.has("period"):
        old = r.choice([e for e in edges if e.child in raws[2:]])
        edges.append(_Edge(old.parent, old.child, old.count + 1, until="2025-12-31"))
        edges.append(
            _Edge(old.parent, raws[-1] if old.child != raws[-1] else raws[2], Decimal(2), since="2027-01-01")
        )
    labels = {code: names.material(r) for code in [product, *subs, *raws]}
    return _Tree(product, r.randint(3, 40) * 10, edges, subs[1], kilos, labels)


def _active(edge: _Edge, flaws: Flaws) -> bool:
    return "period" in flaws or not (edge.until or edge.since)


def _explode(tree: _Tree, flaws: Flaws) -> Answer:
    totals: dict[str, Decimal] = {}

    def walk(code: str, need: Decimal) -> None:
        for edge in tree.edges:
            if edge.parent != code or not _active(edge, flaws):
                continue
            count = edge.count * 1000 if edge.grams and "unit" in flaws else edge.count
            count *= 2 if edge.twice and "duplicate" in flaws else 1
            below = need * count
            totals[edge.child] = totals.get(edge.child, Decimal(0)) + below
            walk(edge.child, below)

    walk(tree.product, Decimal(tree.lot))
    shown = {c: n for c, n in totals.items() if c != tree.phantom or "phantom" in flaws}
    if "phantom" in flaws:
        below = {e.child for e in tree.edges if e.parent == tree.phantom}
        shown = {
            c: n
            if c not in below
            else n
            - totals[tree.phantom]
            * sum(
                (
                    e.count
                    for e in tree.edges
                    if e.parent == tree.phantom and e.child == c and _active(e, flaws)
                ),
                Decimal(0),
            )
            for c, n in shown.items()
        }
    return Answer(
        tables={"demand": [{"物料编码": c, "毛需求": mess.plain(n)} for c, n in sorted(shown.items())]}
    )


def _bom_files(scene: Scene, tree: _Tree) -> dict[str, bytes]:
    r = scene.rng
    rows: list[Row] = []
    for e in tree.edges:
        unit = "g" if e.grams else "kg" if e.child in tree.kilos else "件"
        row = {
            "父项": e.parent,
            "子项": e.child,
            "子项名称": tree.labels[e.child],
            "用量": mess.plain(e.count * 1000 if e.grams else e.count),
            "单位": unit,
            "生效日期": e.since or "2024-01-01",
            "失效日期": e.until,
            "虚拟件": "是" if e.child == tree.phantom else "",
        }
        rows += [row, dict(row)] if e.twice else [row]
    r.shuffle(rows)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "物料清单", rows, xlsx=scene.xlsx)
    files["计划单.txt"] = (
        f"产品：{tree.product} {tree.labels[tree.product]}\n计划数量：{tree.lot}\n开工：2026-06-15\n".encode()
    )
    return files


def _bom(scene: Scene) -> Draft:
    r = scene.rng
    tree = _tree(scene)
    files = _bom_files(scene, tree)
    gold, adversarial, _ = views(scene, lambda flaws: _explode(tree, flaws))
    rules = Rules("all_or_nothing" if scene.index % 5 == 0 else "itemised")
    keys = [row["物料编码"] for row in gold.tables["demand"]]
    rules.deliver(DEMAND)
    if rules.mode == "itemised":
        keys_rule = rules.keys(DEMAND, keys, trap="phantom" if scene.has("phantom") else "")
    else:
        keys_rule = rules.item(
            {"check": "set", "at": {"table": "demand", "column": "物料编码"}, "includes": keys}
        )
    rule = check_cells(scene, rules, DEMAND, gold, adversarial, limit=12)
    wrong = Answer(
        tables={"demand": [{"物料编码": e.parent, "毛需求": str(tree.lot)} for e in tree.edges[:1]]}
    )
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            "按计划单把物料清单一级级展开，看这批要备多少料。",
            "这个产品要开工了，各级子件一共要多少，帮我算毛需求。",
            "车间要备料清单，从成品往下展开到底，同一物料合在一起。",
        ),
        "半成品和原料都要列，虚拟件本身不列、它下面的照样展开。"
        + say("清单里已经失效或还没生效的行别用，按开工日判断。", "开工那天不在有效期内的行不算。")
        + say("完全一样的行是导重了。", "有的行导了两遍，算一次。")
        + "按重量计的一律用 kg，其余用件。",
        spoken.wanted(r, DEMAND),
    )
    return Draft(
        (f"产品 {tree.product} 物料展开", f"BOM explosion of product {tree.product}"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        wrong,
        rule or keys_rule,
        seconds=35,
    )


STATUS = Table(
    "status",
    ("工单号",),
    {"工单号": "text", "合格数": "number", "完工率": "number", "状态": "text"},
    file="工单状态.csv",
    words={"状态": ("未开工", "生产中", "已完工", "超期未完")},
)


@dataclass(frozen=True)
class _Work:
    number: str
    item: str
    planned: int
    due: str
    reports: list[tuple[int, int, str, str]] = field(default_factory=list)
    twice: bool = False
    wide: bool = False


def _works(scene: Scene) -> list[_Work]:
    r = scene.rng
    made = []
    for place, number in enumerate(names.codes(r, "MO", scene.some(8, 14), 6)):
        planned = r.randint(5, 40) * 10
        share = (0, 4, 10, 6)[place % 4] if place < 4 else r.choice((0, 3, 5, 8, 10))
        good = planned * share // 10
        first = good // 3
        reports = [(c, r.randint(0, 4), "已审核", "末道") for c in (first, good - first) if c]
        if scene.has("unapproved") and place % 3 == 1:
            reports.append((r.randint(3, 20), 0, "待审核", "末道"))
        if good and scene.has("process"):
            reports.append((min(planned, good + r.randint(5, 20)), 1, "已审核", "首道"))
        due = "2026-05-31" if place % 2 else "2026-06-20"
        made.append(
            _Work(
                number,
                names.material(r),
                planned,
                due,
                reports,
                scene.has("duplicate") and bool(good) and place % 4 != 0,
                scene.has("full_width") and place % 3 == 2,
            )
        )
    return made


def _status_view(works: list[_Work], flaws: Flaws) -> Answer:
    rows = []
    for w in works:
        good = 0
        for place, (count, _, state, step) in enumerate(w.reports):
            if (state != "已审核" and "unapproved" not in flaws) or (
                step != "末道" and "process" not in flaws
            ):
                continue
            good += count * (2 if w.twice and place == 0 and "duplicate" in flaws else 1)
        if w.wide and "full_width" in flaws:
            good = 0
        late = w.due < "2026-06-10"
        state = "已完工" if good >= w.planned else "超期未完" if late else "生产中" if good else "未开工"
        rows.append(
            {
                "工单号": w.number,
                "合格数": str(good),
                "完工率": mess.percent(Decimal(good), Decimal(w.planned)),
                "状态": state,
            }
        )
    return Answer(tables={"status": rows})


def _status_files(scene: Scene, works: list[_Work]) -> dict[str, bytes]:
    r = scene.rng
    orders = [
        {"工单号": w.number, "产品": w.item, "计划数": str(w.planned), "要求完工": w.due} for w in works
    ]
    reports: list[Row] = []
    number = r.randint(2000, 5000)
    for w in works:
        for place, (good, bad, state, step) in enumerate(w.reports):
            number += r.randint(1, 5)
            row = {
                "报工单号": f"BG{number}",
                "工单号": w.number,
                "工序": step,
                "合格": mess.wide(str(good)) if w.wide else str(good),
                "不良": str(bad),
                "审核": state,
            }
            reports += [row, dict(row)] if w.twice and place == 0 else [row]
    if not reports:
        raise Dull("nobody reported anything")
    r.shuffle(reports)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "生产工单", orders)
    mess.put_export(files, r, "报工记录", reports, xlsx=scene.xlsx)
    return files


def _work_status(scene: Scene) -> Draft:
    r = scene.rng
    works = _works(scene)
    files = _status_files(scene, works)
    gold, adversarial, baseline = views(scene, lambda flaws: _status_view(works, flaws))
    rules = Rules("all_or_nothing" if scene.index % 6 == 0 else "itemised")
    rules.deliver(STATUS, [w.number for w in works])
    rule = check_cells(scene, rules, STATUS, gold, adversarial, limit=15)
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            "早会要过工单进度，截至 2026-06-10 每张工单做到哪了，帮我列一下。",
            "生产例会前（2026-06-10）把各工单的完工情况汇总给我。",
            "看看到 2026-06-10 为止哪些工单完了、哪些拖了。",
        ),
        "合格数只看末道工序"
        + say("、已经审核的报工，", "的，而且报工要审核过，")
        + say("报工单号重复的只算一次。", "同号的报工是重复提交。")
        + "够计划数就是已完工；没够而要求完工日已经过了的是超期未完；没过期的，有合格数是生产中，没有是未开工。状态写"
        + spoken.choices(STATUS.words["状态"])
        + "，完工率写百分数、一位小数。",
        spoken.wanted(r, STATUS),
    )
    return Draft(
        ("工单进度汇总", "Work-order status from shop-floor reports"),
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
        "mf-bom-explosion",
        "manufacturing",
        "engineering",
        "operation",
        ("phantom", "period", "unit", "duplicate"),
        _bom,
        "计划员",
        "备料",
        "medium",
        xlsx_every=5,
    ),
    Family(
        "mf-work-order-status",
        "manufacturing",
        "shop-floor",
        "query",
        ("duplicate", "unapproved", "full_width", "process"),
        _work_status,
        "生产调度",
        "进度跟踪",
        "low",
        xlsx_every=4,
    ),
)
