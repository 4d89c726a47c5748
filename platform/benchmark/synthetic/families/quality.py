"""Manufacturing: two-day quality comparison; scrap cost by cause."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from benchmark.synthetic import mess, names, spoken
from benchmark.synthetic.drafts import (
    CANNOT,
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

TWO_DAYS = Table(
    "two_days",
    ("指标",),
    {"指标": "text", "前一天": "number", "后一天": "number"},
)
PROCESSES = Table(
    "processes", ("工序",), {"工序": "text", "前一天异常率": "number", "后一天异常率": "number"}
)
_STEPS = ("下料", "折弯", "焊接", "喷涂", "装配", "包装", "激光切割", "攻丝")


@dataclass(frozen=True)
class _First:
    order: str
    plan: str
    day: int
    samples: list[str]
    state: str


@dataclass(frozen=True)
class _Patrol:
    number: str
    step: str
    day: int
    rejected: int | None
    state: str
    twice: bool


def _inspections(scene: Scene, steps: list[str]) -> tuple[list[_First], list[_Patrol]]:
    r = scene.rng
    firsts: list[_First] = []
    patrols: list[_Patrol] = []
    for day in (0, 1):
        for place in range(scene.some(6, 10)):
            bad = r.random() < 0.35
            samples = ["B"] * r.randint(2, 4)
            if bad or place == 0:
                samples[r.randrange(len(samples))] = "C"
            state = "未审核" if scene.has("unapproved") and place == 1 else "已审核"
            firsts.append(
                _First(f"FI{day}{r.randint(100, 999)}{place}", str(r.randint(1, 3)), day, samples, state)
            )
        for step in steps[: -1 if day == 0 else None]:
            for place in range(r.randint(4, 8)):
                rejected = r.choice((0, 0, 0, r.randint(1, 5)))
                state = "未审核" if scene.has("unapproved") and place == 2 else "已审核"
                twice = scene.has("duplicate") and place == 0 and r.random() < 0.7
                patrols.append(
                    _Patrol(f"PI{day}{len(patrols) + 100}", step, day, 3 if twice else rejected, state, twice)
                )
    return firsts, patrols


def _two_day_view(firsts: list[_First], patrols: list[_Patrol], steps: list[str], flaws: Flaws) -> Answer:
    def ok(state: str) -> bool:
        return state == "已审核" or "unapproved" in flaws

    columns: dict[int, dict[str, str]] = {}
    rates: dict[str, dict[int, str]] = {s: {} for s in steps}
    for day in (0, 1):
        batches = [f for f in firsts if f.day == day and ok(f.state)]
        if "granularity" in flaws:
            total = sum(len(f.samples) for f in batches)
            good = sum(f.samples.count("B") for f in batches)
        else:
            total, good = len(batches), sum(set(f.samples) == {"B"} for f in batches)
        rows = [p for p in patrols if p.day == day and ok(p.state)]
        rows += [p for p in rows if p.twice] if "duplicate" in flaws else []
        bad = [p for p in rows if p.rejected]
        columns[day] = {
            "首检合格率": mess.percent(Decimal(good), Decimal(total)),
            "巡检记录数": str(len(rows)),
            "巡检异常数": str(len(bad)),
            "巡检异常率": mess.percent(Decimal(len(bad)), Decimal(len(rows))),
        }
        for step in steps:
            own = [p for p in rows if p.step == step]
            hit = [p for p in own if p.rejected]
            none = "0.0%" if "missing_not_zero" in flaws else CANNOT
            rates[step][day] = mess.percent(Decimal(len(hit)), Decimal(len(own))) if own else none
    table = [{"指标": name, "前一天": columns[0][name], "后一天": columns[1][name]} for name in columns[0]]
    places = [{"工序": s, "前一天异常率": rates[s][0], "后一天异常率": rates[s][1]} for s in steps]
    return Answer(tables={"two_days": table, "processes": places}, reply="两天的对比如下。")


def _inspection_files(
    scene: Scene, firsts: list[_First], patrols: list[_Patrol], days: tuple[str, str]
) -> dict[str, bytes]:
    r = scene.rng
    sampled: list[Row] = []
    for f in firsts:
        sampled += [
            {
                "检验单号": f.order,
                "计划行": f.plan,
                "日期": days[f.day],
                "样本": str(n),
                "结果": s,
                "单据状态": f.state,
            }
            for n, s in enumerate(f.samples, 1)
        ]
    walked: list[Row] = []
    for p in patrols:
        row = {
            "巡检单号": p.number,
            "日期": days[p.day].replace("-", "/"),
            "工序": p.step,
            "检查数": str(r.randint(20, 50)),
            "拒收数": "" if p.rejected is None else str(p.rejected),
            "单据状态": p.state,
        }
        walked += [row, dict(row)] if p.twice else [row]
    r.shuffle(walked)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "首检记录", sampled)
    mess.put_export(files, r, "巡检记录", walked, xlsx=scene.xlsx)
    return files


def _two_day(scene: Scene) -> Draft:
    r = scene.rng
    steps = r.sample(_STEPS, scene.some(4, 6))
    firsts, patrols = _inspections(scene, steps)
    month, first = r.randint(3, 10), r.randint(3, 24)
    days = (f"2026-{month:02d}-{first:02d}", f"2026-{month:02d}-{first + 1:02d}")
    files = _inspection_files(scene, firsts, patrols, days)
    gold, adversarial, baseline = views(scene, lambda flaws: _two_day_view(firsts, patrols, steps, flaws))
    rules = Rules()
    rules.deliver(TWO_DAYS, [row["指标"] for row in gold.tables["two_days"]])
    rules.deliver(PROCESSES, steps)
    rule = check_cells(scene, rules, TWO_DAYS, gold, adversarial, limit=8, tolerance="0")
    rule = check_cells(scene, rules, PROCESSES, gold, adversarial, limit=6) or rule
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            f"对比一下 {days[0]} 和 {days[1]} 两天的过程质量，看看变好还是变差了。",
            f"质量例会要讲 {days[0]}、{days[1]} 这两天的检验情况，帮我对比。",
            f"{days[1]} 比前一天（{days[0]}）质量怎么样，拿数说话。",
        ),
        "首检以“检验单号＋计划行”为一批，样本全是 B 这批才算合格；"
        "巡检一行算一次，拒收数大于零就是异常。只统计已审核的，"
        + say("巡检单号重复的算一条。", "同一个巡检单号出现两次的只算一条。")
        + f"比率写百分数、一位小数；某天没有巡检的工序写“{CANNOT}”，别写 0。",
        "第一张表的指标有首检合格率、巡检记录数、巡检异常数、巡检异常率。" + spoken.wanted(r, TWO_DAYS),
        "第二张表按工序：" + spoken.wanted(r, PROCESSES),
    )
    return Draft(
        ("两日过程质量对比", "Two-day process quality comparison"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=40,
    )


SCRAP = Table(
    "scrap",
    ("原因",),
    {"原因": "text", "报废数量": "number", "报废成本": "number", "占比": "number"},
    file="报废归因.csv",
    units={"报废成本": "元"},
)
_CAUSES = ("来料不良", "设备故障", "操作失误", "工艺参数", "搬运磕碰", "图纸变更")


@dataclass(frozen=True)
class _Scrap:
    number: str
    item: str
    count: int
    cause: str
    state: str
    rework: bool
    twice: bool


def _scraps(scene: Scene, items: list[str]) -> list[_Scrap]:
    r = scene.rng
    causes = r.sample(_CAUSES, scene.some(3, 5))
    made = []
    for place in range(scene.some(14, 26)):
        cause = "" if scene.has("missing_not_zero") and place % 5 == 1 else causes[place % len(causes)]
        made.append(
            _Scrap(
                f"BF{r.randint(100, 999)}{place:02d}",
                r.choice(items),
                r.randint(1, 30),
                cause,
                "草稿" if scene.has("unapproved") and place % 6 == 2 else "已审核",
                scene.has("rework") and place % 5 == 3,
                scene.has("duplicate") and place % 6 == 4,
            )
        )
    return made


def _scrap_view(scraps: list[_Scrap], prices: dict[str, tuple[Decimal, int]], flaws: Flaws) -> Answer:
    counts: dict[str, int] = {}
    costs: dict[str, Decimal] = {}
    for s in scraps:
        if (s.state != "已审核" and "unapproved" not in flaws) or (s.rework and "rework" not in flaws):
            continue
        if not s.cause and "missing_not_zero" in flaws:
            continue
        price, per = prices[s.item]
        times = 2 if s.twice and "duplicate" in flaws else 1
        cause = s.cause or "未归因"
        counts[cause] = counts.get(cause, 0) + s.count * times
        costs[cause] = costs.get(cause, Decimal(0)) + s.count * times * price / (
            1 if "unit" in flaws else per
        )
    total = sum(costs.values(), Decimal(0))
    order = sorted(costs, key=lambda c: (-costs[c], c))
    return Answer(
        tables={
            "scrap": [
                {
                    "原因": c,
                    "报废数量": str(counts[c]),
                    "报废成本": mess.money(costs[c]),
                    "占比": mess.percent(costs[c], total),
                }
                for c in order
            ]
        }
    )


def _scrap_files(
    scene: Scene, scraps: list[_Scrap], prices: dict[str, tuple[Decimal, int]]
) -> dict[str, bytes]:
    r = scene.rng
    rows: list[Row] = []
    for s in scraps:
        row = {
            "报废单号": s.number,
            "物料": s.item,
            "数量": str(s.count),
            "原因": s.cause,
            "处理方式": "返工" if s.rework else "报废",
            "单据状态": s.state,
        }
        rows += [row, dict(row)] if s.twice else [row]
    r.shuffle(rows)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "不良处理单", rows, xlsx=scene.xlsx)
    mess.put_export(
        files,
        r,
        "标准成本",
        [
            {"物料": i, "标准成本": mess.thousands(p), "计价单位": f"元/{n}件" if n > 1 else "元/件"}
            for i, (p, n) in prices.items()
        ],
    )
    return files


def _scrap_words(scene: Scene) -> str:
    r, say = scene.rng, scene.say
    return spoken.ask(
        r,
        say(
            "报废花了多少钱、都是什么原因，归一下，从高到低排。",
            "老板问报废的钱都亏在哪了，按原因汇总成本，大的排前面。",
            "做个报废归因，按成本从大到小。",
        ),
        "只算真正报废的，返工的不算；"
        + say("草稿单不算。", "没审核的单子别算。")
        + say("报废单号重复的只算一次。", "单号重复的是导重了。")
        + "没填原因的归到“未归因”，"
        + say("别丢掉。", "不能不算。")
        + "成本用数量乘标准成本，注意计价单位；占比是成本占比，百分数、一位小数。",
        spoken.wanted(r, SCRAP),
    )


def _scrap(scene: Scene) -> Draft:
    r = scene.rng
    items = names.materials(r, scene.some(4, 6))
    prices = {
        i: (
            mess.amount(r, 20, 400, "0.1") * (100 if scene.has("unit") and n % 2 else 1),
            100 if scene.has("unit") and n % 2 else 1,
        )
        for n, i in enumerate(items)
    }
    scraps = _scraps(scene, items)
    files = _scrap_files(scene, scraps, prices)
    gold, adversarial, baseline = views(scene, lambda flaws: _scrap_view(scraps, prices, flaws))
    rules = Rules()
    rules.deliver(
        SCRAP, [row["原因"] for row in gold.tables["scrap"]] if scene.trap != "missing_not_zero" else None
    )
    order = [row["原因"] for row in gold.tables["scrap"]]
    rules.item({"check": "ranking", "at": {"table": "scrap", "column": "原因"}, "expected": order})
    rule = check_cells(scene, rules, SCRAP, gold, adversarial, limit=12)
    instruction = _scrap_words(scene)
    return Draft(
        ("报废成本归因", "Scrap cost by cause"),
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
        "mf-two-day-quality",
        "manufacturing",
        "quality",
        "analysis",
        ("unapproved", "granularity", "duplicate", "missing_not_zero"),
        _two_day,
        "质量工程师",
        "过程检验",
        "medium",
        xlsx_every=5,
    ),
    Family(
        "mf-scrap-attribution",
        "manufacturing",
        "cost",
        "analysis",
        ("rework", "unapproved", "duplicate", "unit", "missing_not_zero"),
        _scrap,
        "成本会计",
        "成本分析",
        "medium",
        xlsx_every=4,
    ),
)
