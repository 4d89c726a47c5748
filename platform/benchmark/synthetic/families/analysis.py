"""General: budget overrun and its drill-down (two turns); regional sales against last year."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from benchmark.synthetic import mess, names, spoken
from benchmark.synthetic.drafts import (
    CANNOT,
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

OVERRUN = Table(
    "overrun",
    ("部门",),
    {"部门": "text", "预算": "number", "实际": "number", "超支率": "number"},
    file="部门超支.csv",
    units={"预算": "元", "实际": "元"},
)
DRILL = Table(
    "drill", ("科目",), {"科目": "text", "超支金额": "number"}, file="超支科目.csv", units={"超支金额": "元"}
)
_SUBJECTS = ("差旅费", "招待费", "办公费", "培训费", "外包服务费", "广告费", "物料消耗", "维修费")


@dataclass(frozen=True)
class _Department:
    name: str
    budget: dict[str, Decimal] | None
    actual: dict[str, Decimal]
    twice: str
    other: Decimal


def _departments(scene: Scene) -> list[_Department]:
    r = scene.rng
    made = []
    for place, name in enumerate(r.sample(names.DEPARTMENTS, scene.some(4, 7))):
        subjects = r.sample(_SUBJECTS, 4)
        budget = {s: mess.amount(r, 2_000, 90_000, "100") for s in subjects}
        actual = {s: mess.half_up(b * r.randint(70, 135) / 100) for s, b in budget.items()}
        missing = scene.has("missing_not_zero") and place == 2
        made.append(
            _Department(
                name,
                None if missing else budget,
                actual,
                r.choice(subjects) if scene.has("duplicate") and place % 2 == 0 else "",
                mess.amount(r, 900, 9_000) if scene.has("period") else Decimal(0),
            )
        )
    return made


def _spent(d: _Department, flaws: Flaws) -> Decimal:
    total = sum(d.actual.values(), Decimal(0))
    total += d.actual[d.twice] if d.twice and "duplicate" in flaws else 0
    return total + (d.other if "period" in flaws else 0)


def _overrun_view(departments: list[_Department], drill: bool, flaws: Flaws) -> Answer:
    rows, worst, top = [], None, Decimal("-9")
    for d in departments:
        actual = _spent(d, flaws)
        if d.budget is None:
            blank = "missing_not_zero" in flaws
            rows.append(
                {
                    "部门": d.name,
                    "预算": "0" if blank else CANNOT,
                    "实际": mess.money(actual),
                    "超支率": "0.0%" if blank else CANNOT,
                }
            )
            continue
        budget = sum(d.budget.values(), Decimal(0))
        budget = budget / 10_000 if "unit" in flaws else budget
        rate = (actual - budget) / budget
        worst, top = (d, rate) if rate > top else (worst, top)
        rows.append(
            {
                "部门": d.name,
                "预算": mess.plain(budget),
                "实际": mess.money(actual),
                "超支率": mess.percent(actual - budget, budget),
            }
        )
    tables = {"overrun": rows}
    if drill and worst is not None and worst.budget is not None:
        gaps = {
            s: worst.actual[s] * (2 if s == worst.twice and "duplicate" in flaws else 1) - b
            for s, b in worst.budget.items()
        }
        over = sorted((s for s in gaps if gaps[s] > 0), key=lambda s: -gaps[s])
        if not over:
            raise Dull("nothing runs over")
        tables["drill"] = [{"科目": s, "超支金额": mess.money(gaps[s])} for s in over]
    return Answer(tables=tables)


def _overrun_files(scene: Scene, departments: list[_Department], quarter: int) -> dict[str, bytes]:
    r = scene.rng
    plan = [
        {"部门": d.name, "科目": s, "季度": f"2026Q{quarter}", "预算（万元）": mess.in_wan(b)}
        for d in departments
        for s, b in (d.budget or {}).items()
    ]
    plan += [
        {"部门": d.name, "科目": "（未下达）", "季度": f"2026Q{quarter}", "预算（万元）": ""}
        for d in departments
        if d.budget is None
    ]
    spent: list[Row] = []
    number = r.randint(1000, 4000)
    for d in departments:
        for subject, value in d.actual.items():
            part = mess.half_up(value * r.randint(2, 8) / 10)
            # A repeated line carries its whole subject, so that the repeat is one voucher.
            for piece in [value] if subject == d.twice else [part, value - part]:
                number += 1
                row = {
                    "凭证": f"J{number}",
                    "期间": f"2026-{quarter * 3 - r.randint(0, 2):02d}",
                    "部门": d.name,
                    "科目": subject,
                    "金额（元）": mess.thousands(piece),
                }
                spent += [row, dict(row)] if subject == d.twice else [row]
        if d.other:
            number += 1
            spent.append(
                {
                    "凭证": f"J{number}",
                    "期间": f"2026-{quarter * 3 + 1:02d}",
                    "部门": d.name,
                    "科目": next(iter(d.actual)),
                    "金额（元）": mess.thousands(d.other),
                }
            )
    r.shuffle(spent)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "部门预算", plan)
    mess.put_export(files, r, "费用明细", spent, xlsx=scene.xlsx)
    return files


def _overrun_words(scene: Scene, quarter: int) -> str:
    r, say = scene.rng, scene.say
    return spoken.ask(
        r,
        say(
            f"二〇二六年第{'一二三四'[quarter - 1]}季度各部门费用超没超预算，帮我算一下。",
            f"经营分析会要讲 2026 年 {quarter} 季度的费用执行，先出部门超支情况。",
            f"看看 2026Q{quarter} 哪个部门花超了。",
        ),
        "超支率是（实际−预算）÷预算，写百分数、一位小数，没超就是负的。金额都用元。"
        + say("只算这个季度的费用。", "别的季度的费用混在里面，剔掉。")
        + say("凭证号重复的是导重。", "同一个凭证号出现两次的只算一次。")
        + f"预算没下达的部门，预算和超支率都写“{CANNOT}”。",
        spoken.wanted(r, OVERRUN),
    )


def _overrun(scene: Scene) -> Draft:
    r = scene.rng
    quarter = r.randint(1, 3)
    departments = _departments(scene)
    files = _overrun_files(scene, departments, quarter)
    drill = scene.multi_turn
    gold, adversarial, baseline = views(scene, lambda flaws: _overrun_view(departments, drill, flaws))
    rules = Rules()
    rules.deliver(OVERRUN, [d.name for d in departments])
    rule = check_cells(scene, rules, OVERRUN, gold, adversarial, limit=12)
    turns: tuple[str, ...] = ()
    if drill:
        rules.deliver(DRILL)
        check_cells(scene, rules, DRILL, gold, adversarial, limit=4)
        rules.item(
            {
                "check": "ranking",
                "at": {"table": "drill", "column": "科目"},
                "expected": [row["科目"] for row in gold.tables["drill"]],
            }
        )
        turns = (
            scene.say("好，", "看到了。", "嗯，")
            + "那超支率最高的那个部门，到底是哪些科目超了？只列超了的，按超的金额从大到小。"
            + spoken.wanted(r, DRILL)
            + "\n",
        )
        baseline.tables["drill"] = [
            {"科目": s, "超支金额": "0.00"}
            for s in sorted(_SUBJECTS)
            if s not in {row["科目"] for row in gold.tables["drill"]}
        ][:2]
    instruction = _overrun_words(scene, quarter)
    return Draft(
        ("部门费用超支分析", "Cost overrun by department with drill-down"),
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


TREND = Table(
    "trend",
    ("大区",),
    {"大区": "text", "本期销售额": "number", "去年同期": "number", "同比": "number"},
    units={"本期销售额": "万元", "去年同期": "万元"},
)
_REGIONS = ("华东", "华南", "华北", "西南", "华中", "西北", "东北")


@dataclass(frozen=True)
class _Sale:
    number: str
    region: str
    year: int
    month: int
    value: Decimal
    refund: bool = False
    twice: bool = False


def _trend_truth(scene: Scene, regions: list[str], month: int) -> list[_Sale]:
    r = scene.rng
    made: list[_Sale] = []
    number = r.randint(10_000, 50_000)

    def add(region: str, year: int, when: int, value: Decimal, **marks: bool) -> None:
        made.append(_Sale(str(number + 7 * len(made) + r.randint(1, 6)), region, year, when, value, **marks))

    for place, region in enumerate(regions):
        for year in (2025, 2026):
            if scene.has("missing_not_zero") and place == len(regions) - 1 and year == 2025:
                continue
            for turn in range(r.randint(2, 4)):
                twice = scene.has("duplicate") and turn == 0 and place % 2 == 0
                add(region, year, month, mess.amount(r, 20_000, 300_000, "100"), twice=twice)
            if scene.has("refund") and place % 2 == 1:
                add(region, year, month, mess.amount(r, 5_000, 18_000, "100"), refund=True)
            if scene.has("period"):
                add(region, year, month + 1, mess.amount(r, 20_000, 90_000, "100"))
    return made


def _trend_view(sales: list[_Sale], regions: list[str], month: int, flaws: Flaws) -> Answer:
    rows = []
    for region in regions:
        sums: dict[int, Decimal] = {}
        for s in sales:
            if s.region != region or (s.month != month and "period" not in flaws):
                continue
            sign = 1 if not s.refund or "refund" in flaws else -1
            sums[s.year] = sums.get(s.year, Decimal(0)) + s.value * sign * (
                2 if s.twice and "duplicate" in flaws else 1
            )
        now, before = sums.get(2026, Decimal(0)), sums.get(2025)
        if before is None and "missing_not_zero" not in flaws:
            rows.append({"大区": region, "本期销售额": mess.in_wan(now), "去年同期": CANNOT, "同比": CANNOT})
            continue
        growth = "100.0%" if not before else mess.percent(now - before, before)
        rows.append(
            {
                "大区": region,
                "本期销售额": mess.in_wan(now),
                "去年同期": mess.in_wan(before or Decimal(0)),
                "同比": growth,
            }
        )
    return Answer(tables={"trend": rows}, reply="同比结果如下。")


def _trend(scene: Scene) -> Draft:
    r = scene.rng
    month = r.randint(1, 10)
    regions = r.sample(_REGIONS, scene.some(4, 6))
    sales = _trend_truth(scene, regions, month)
    files: dict[str, bytes] = {}
    for year in (2025, 2026):
        rows: list[Row] = []
        for s in (s for s in sales if s.year == year):
            row = {
                "单号": s.number,
                "日期": f"{s.year}年{s.month}月{r.randint(1, 28)}日",
                "大区": s.region + r.choice(("", "", "区")),
                "类型": "退货" if s.refund else "销售",
                "金额": mess.thousands(s.value),
            }
            rows += [row, dict(row)] if s.twice else [row]
        r.shuffle(rows)
        mess.put_export(files, r, f"{year}年销售流水", rows, xlsx=scene.xlsx and year == 2026)
    gold, adversarial, baseline = views(scene, lambda flaws: _trend_view(sales, regions, month, flaws))
    rules = Rules("all_or_nothing" if scene.index % 6 == 0 else "itemised")
    rules.deliver(TREND, regions)
    rule = check_cells(scene, rules, TREND, gold, adversarial, limit=12, tolerance="0.0001")
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            f"{month}月各大区卖得比去年好还是差？给我同比。",
            f"做个 2026 年 {month} 月分大区的同比，周报里要贴。",
            f"帮我把 2026 年 {month} 月各区销售额和去年同月比一下。",
        ),
        say("退货要冲减。", "退货的金额是要减掉的。")
        + f"只看 {month} 月。"
        + say("单号重复的行只算一次。", "单号一样的是导重的。")
        + f"大区名就写“{regions[0]}”这样不带“区”字。同比写百分数、一位小数；"
        f"去年这个月没数据的大区，去年同期和同比写“{CANNOT}”。",
        spoken.wanted(r, TREND),
    )
    return Draft(
        (f"{month}月大区销售同比", f"Regional sales of month {month} against last year"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=30,
    )


FAMILIES = (
    Family(
        "gen-cost-overrun",
        "general",
        "data-analysis",
        "analysis",
        ("unit", "missing_not_zero", "duplicate", "period"),
        _overrun,
        "经营分析",
        "季度复盘",
        "medium",
        xlsx_every=5,
        turn_every=1,
    ),
    Family(
        "gen-sales-trend",
        "general",
        "data-analysis",
        "analysis",
        ("refund", "period", "duplicate", "missing_not_zero"),
        _trend,
        "销售助理",
        "周报",
        "low",
        xlsx_every=5,
    ),
)
