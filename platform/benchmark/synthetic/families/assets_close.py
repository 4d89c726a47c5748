"""Finance: monthly depreciation of fixed assets; period close with its blockers."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

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

DEPRECIATION = Table(
    "depreciation",
    ("资产编号",),
    {"资产编号": "text", "本月折旧": "number", "累计折旧": "number"},
    file="折旧计提.csv",
    units={"本月折旧": "元", "累计折旧": "元"},
)
_CLASSES = {"机器设备": (120, 5), "电子设备": (36, 3), "运输工具": (48, 4), "办公家具": (60, 5)}


@dataclass(frozen=True)
class _Asset:
    number: str
    name: str
    kind: str
    value: Decimal
    start: dt.date
    told_rate: bool
    rate: Decimal
    wan: bool
    status: str
    gone: dt.date | None

    def months(self, month: dt.date, flaws: Flaws) -> int:
        """Whole months depreciated up to and including `month`, not capped by life."""
        passed = (month.year - self.start.year) * 12 + month.month - self.start.month
        return passed + (1 if "period" in flaws else 0)


def _assets(scene: Scene, month: dt.date) -> list[_Asset]:
    r = scene.rng
    made = []
    kinds = sorted(_CLASSES)
    for place, number in enumerate(names.codes(r, "FA", scene.some(7, 12), 5)):
        kind = kinds[place % 4]
        life = _CLASSES[kind][0]
        ago = (
            0
            if scene.has("period") and place == 1
            else life + r.randint(2, 9)
            if scene.has("fully_used") and place in (2, 5)
            else r.randint(2, life - 4)
        )
        year, left = divmod(month.year * 12 + month.month - 1 - ago, 12)
        unapproved = scene.has("unapproved") and place in (3, 6)
        rate = Decimal(_CLASSES[kind][1])
        made.append(
            _Asset(
                number,
                r.choice(names.INDUSTRIES)[:2] + kind,
                kind,
                mess.amount(r, 6_000, 900_000, "100"),
                dt.date(year, left + 1, r.randint(1, 28)),
                not (scene.has("missing_not_zero") and place in (0, 4)),
                rate,
                scene.has("unit") and place in (2, 6, 3),
                "审批中" if unapproved else "在用",
                None,
            )
        )
    return made


def _asset_files(scene: Scene, assets: list[_Asset]) -> dict[str, bytes]:
    r = scene.rng
    cards: list[Row] = []
    for a in assets:
        cards.append(
            {
                "资产编号": a.number,
                "资产名称": a.name,
                "类别": a.kind,
                "入账日期": f"{a.start:%Y-%m-%d}",
                "原值": mess.in_wan(a.value) if a.wan else mess.thousands(a.value),
                "金额单位": "万元" if a.wan else "元",
                "残值率": f"{a.rate}%" if a.told_rate else "",
                "卡片状态": a.status,
            }
        )
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "固定资产卡片", cards, xlsx=scene.xlsx)
    policy = (
        "# 固定资产折旧办法（节选）\n\n一律年限平均法，按月计提；当月增加的资产当月不提，次月起提；提足以后不再提。\n\n"
        + mess.markdown_table(
            [{"类别": k, "年限（月）": m, "残值率": f"{s}%"} for k, (m, s) in _CLASSES.items()],
            ("类别", "年限（月）", "残值率"),
        )
        + "\n卡片没有填残值率的，取上表的残值率。月折旧额四舍五入到分。\n"
    )
    files["折旧办法.md"] = policy.encode()
    return files


def _asset_view(assets: list[_Asset], month: dt.date, flaws: Flaws) -> Answer:
    rows = []
    for a in assets:
        if a.status != "在用" and "unapproved" not in flaws:
            continue
        value = a.value / 10_000 if a.wan and "unit" in flaws else a.value
        rate = Decimal(0) if not a.told_rate and "missing_not_zero" in flaws else a.rate
        life = _CLASSES[a.kind][0]
        monthly = mess.half_up(value * (100 - rate) / 100 / life)
        done = a.months(month, flaws)
        over = done > life and "fully_used" not in flaws
        now = Decimal(0) if over or done <= 0 else monthly
        total = mess.half_up(value * (100 - rate) / 100) if done >= life else monthly * max(done, 0)
        rows.append({"资产编号": a.number, "本月折旧": mess.money(now), "累计折旧": mess.money(total)})
    return Answer(tables={"depreciation": rows})


def _depreciation(scene: Scene) -> Draft:
    r = scene.rng
    month = dt.date(2026, r.randint(1, 10), 1)
    assets = _assets(scene, month)
    files = _asset_files(scene, assets)
    gold, adversarial, baseline = views(scene, lambda flaws: _asset_view(assets, month, flaws))
    rules = Rules()
    own = [row["资产编号"] for row in gold.tables["depreciation"]]
    rules.deliver(DEPRECIATION)
    rule = rules.item(
        {"check": "set", "at": {"table": "depreciation", "column": "资产编号"}, "includes": own}
    )
    pending = [a.number for a in assets if a.status != "在用"]
    if pending:
        at = {"table": "depreciation", "column": "资产编号"}
        fatal = rules.forbid({"check": "set", "at": at, "excludes": pending}, "unapproved")
    rule = check_cells(scene, rules, DEPRECIATION, gold, adversarial, limit=14)
    if scene.trap == "unapproved":
        rule = fatal
    baseline.tables["depreciation"] = baseline.tables["depreciation"][:-1]
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            f"该提{month:%Y年}{month.month}月的折旧了，按工作区的卡片和办法算一版给我过目。",
            f"{month.month}月折旧还没计提，帮我把每张卡片这个月该提多少、提完累计多少算出来，年份是{month.year}。",
            f"麻烦算{month:%Y年}{month.month}月的固定资产折旧，规则看折旧办法。",
        ),
        say(
            "卡片还在审批的一律不许计提，表里也不能出现。",
            "没批下来的卡片千万别提，出现在表里审计要找麻烦的。",
        )
        + "其他卡片每张一行，这个月不该提的本月折旧写 0。累计折旧包含本月。",
        spoken.wanted(r, DEPRECIATION),
    )
    return Draft(
        (f"{month.month}月固定资产折旧计提", f"Depreciation run of month {month.month}"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=40,
    )


_STEPS = ("凭证全部过账", "存货核算完成", "折旧已计提", "银行对账已完成", "往来核对已完成", "损益已结转")
CLOSE = Table(
    "close",
    ("组织",),
    {"组织": "text", "结论": "text", "未完成项": "text", "损益净额": "number"},
    file="结账检查.csv",
    units={"损益净额": "元"},
    words={"结论": ("可以结账", "暂不结账")},
)


@dataclass(frozen=True)
class _Unit:
    name: str
    open_steps: tuple[str, ...]
    reopened: str
    income: Decimal
    cost: Decimal
    later: Decimal


def _units(scene: Scene) -> list[_Unit]:
    r = scene.rng
    made = []
    for place, name in enumerate(names.companies(r, scene.some(4, 7))):
        some = tuple(s for s in _STEPS if r.random() < 0.22) if place % 2 else ()
        reopened = ""
        if scene.has("status_order") and place in (0, 2):
            reopened = r.choice([s for s in _STEPS if s not in some])
        made.append(
            _Unit(
                name,
                some,
                reopened,
                mess.amount(r, 200_000, 900_000),
                mess.amount(r, 100_000, 800_000),
                mess.amount(r, 3_000, 50_000),
            )
        )
    return made


def _close_ledger(scene: Scene, units: list[_Unit], month: dt.date, after: dt.date) -> list[Row]:
    ledger: list[Row] = []
    for u in units:
        for kind, total in (("收入", u.income), ("成本费用", u.cost)):
            part = mess.half_up(total / 3)
            for value in (part, total - part):
                wan = scene.has("unit") and kind == "收入" and value == part and u is not units[-1]
                ledger.append(
                    {
                        "期间": f"{month:%Y-%m}",
                        "组织": u.name,
                        "类别": kind,
                        "金额": f"{mess.in_wan(value)}万元" if wan else mess.thousands(value),
                    }
                )
        if scene.has("period"):
            ledger.append(
                {"期间": f"{after:%Y-%m}", "组织": u.name, "类别": "收入", "金额": mess.thousands(u.later)}
            )
    return ledger


def _close_files(scene: Scene, units: list[_Unit], month: dt.date) -> dict[str, bytes]:
    r = scene.rng
    log: list[tuple[str, Row]] = []
    after = (month + dt.timedelta(days=32)).replace(day=1)
    for u in units:
        for step in _STEPS:
            first = f"{after:%Y-%m}-0{r.randint(1, 3)} {r.randint(9, 17):02d}:{r.randint(0, 59):02d}"
            state = "进行中" if step in u.open_steps else "完成"
            log.append(
                (first, {"时间": first, "组织": u.name, "事项": step, "状态": state, "经办": names.person(r)})
            )
            if step == u.reopened:
                later = f"{after:%Y-%m}-0{r.randint(4, 5)} {r.randint(9, 17):02d}:{r.randint(0, 59):02d}"
                back = {"时间": later, "组织": u.name, "事项": step, "状态": "退回", "经办": names.person(r)}
                log.append((later, back))
    ledger = _close_ledger(scene, units, month, after)
    r.shuffle(ledger)
    files: dict[str, bytes] = {}
    rows = [row for _, row in sorted(log, key=lambda pair: (pair[0], pair[1]["组织"], pair[1]["事项"]))]
    if scene.has("status_order"):
        r.shuffle(rows)
    mess.put_export(files, r, "结账事项流水", rows, xlsx=scene.xlsx)
    mess.put_export(files, r, "损益发生额", ledger)
    files["结账须知.md"] = (
        "# 结账须知\n\n结账前要完成："
        + "、".join(_STEPS)
        + "。每一项以最后一次登记的状态为准，只有“完成”算完成，"
        "被退回的要重做。\n\n只要有一项没完成就不能结账。\n"
    ).encode()
    return files


def _close_view(units: list[_Unit], flaws: Flaws, scene: Scene) -> Answer:
    rows = []
    for u in units:
        income = u.income + (u.later if "period" in flaws else 0)
        if "unit" in flaws and u is not units[-1]:
            part = mess.half_up(u.income / 3)
            income = income - part + part / 10_000
        missing = [
            s for s in _STEPS if s in u.open_steps or (s == u.reopened and "status_order" not in flaws)
        ]
        rows.append(
            {
                "组织": u.name,
                "结论": "暂不结账" if missing else "可以结账",
                "未完成项": "、".join(missing) or "无",
                "损益净额": mess.money(income - u.cost),
            }
        )
    return Answer(tables={"close": rows})


def _close(scene: Scene) -> Draft:
    r = scene.rng
    month = dt.date(2026, r.randint(1, 9), 1)
    units = _units(scene)
    files = _close_files(scene, units, month)
    gold, adversarial, baseline = views(scene, lambda flaws: _close_view(units, flaws, scene))
    rules = Rules("all_or_nothing" if scene.index % 4 == 0 else "itemised")
    rules.deliver(CLOSE, [u.name for u in units])
    columns = ("未完成项", "损益净额")
    rule = check_cells(scene, rules, CLOSE, gold, adversarial, limit=12, columns=columns)
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            f"集团催着关{month:%Y年}{month.month}月的账，各家公司能不能结你先替我把把关。",
            f"想今天把{month.month}月结掉（{month.year}年），但我心里没底，你看看哪几家现在能结、哪几家还差什么。",
            f"帮我判断一下各公司{month:%Y年}{month.month}月能不能结账。",
        ),
        "结论写"
        + spoken.choices(CLOSE.words["结论"])
        + "，未完成项按须知里的先后用顿号连起来，没有就写“无”。"
        f"损益净额是{month.month}月收入减成本费用，"
        + say("别的期间不要混进来。", "只要当月的。")
        + "不用真去结账。",
        spoken.wanted(r, CLOSE),
    )
    return Draft(
        (f"{month.month}月结账检查", f"Readiness to close month {month.month}"),
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
        "fin-depreciation",
        "finance",
        "fixed-assets",
        "operation",
        ("unit", "period", "missing_not_zero", "unapproved", "fully_used"),
        _depreciation,
        "资产会计",
        "月末计提",
        "medium",
        xlsx_every=4,
    ),
    Family(
        "fin-period-close",
        "finance",
        "close",
        "query",
        ("status_order", "period", "unit"),
        _close,
        "财务经理",
        "期末结账",
        "high",
        xlsx_every=5,
    ),
)
