"""General: contract clauses against a standard; travel claims against two policy versions."""

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

REVIEW = Table(
    "review", ("审查项",), {"审查项": "text", "合同值": "number", "标准值": "number"}, file="条款审查.csv"
)
_CLAUSES = ("预付款比例", "质保期", "违约金上限", "付款期限")
_UNITS = {"预付款比例": "%", "质保期": "个月", "违约金上限": "%", "付款期限": "天"}
_DIGITS = "零一二三四五六七八九"


@dataclass(frozen=True)
class _Contract:
    number: str
    party: str
    values: dict[str, int]
    before: dict[str, int]
    draft: dict[str, int]
    spelled: bool
    years: bool


def chinese(number: int) -> str:
    """1 to 99 in Chinese numerals."""
    tens, ones = divmod(number, 10)
    head = "" if tens == 0 else "十" if tens == 1 else _DIGITS[tens] + "十"
    return head + (_DIGITS[ones] if ones or not tens else "")


def _breaks(clause: str, value: int, standard: int) -> bool:
    return value < standard if clause == "质保期" else value > standard


def _contracts(scene: Scene, standard: dict[str, int]) -> list[_Contract]:
    r = scene.rng
    made = []
    for place, number in enumerate(names.codes(r, "HT-2026-", scene.some(4, 7))):
        values = {}
        for clause in _CLAUSES:
            base, bad = standard[clause], r.random() < 0.45
            step = {"预付款比例": 10, "质保期": 12, "违约金上限": 5, "付款期限": 15}[clause]
            values[clause] = (
                base if not bad else max(step, base - step) if clause == "质保期" else base + step
            )
        before = {}
        if scene.has("version") and place % 2 == 0:
            clause = r.choice(_CLAUSES[:1] + _CLAUSES[2:])
            before = {clause: values[clause] + (5 if values[clause] <= standard[clause] else -20)}
            before = {c: max(1, v) for c, v in before.items()}
        draft = {}
        if scene.has("unapproved") and place % 2 == 1:
            clause = r.choice(("违约金上限", "付款期限"))
            draft = {clause: standard[clause] + 25}
        made.append(
            _Contract(
                number,
                names.company(r),
                values,
                before,
                draft,
                scene.has("chinese_numerals") and place % 2 == 0,
                scene.has("unit") and place % 3 != 2,
            )
        )
    return made


def _clause_text(clause: str, value: int, *, spelled: bool = False, years: bool = False) -> str:
    told = chinese(value) if spelled else str(value)
    if clause == "质保期":
        if years and value % 12 == 0:
            return f"质保期为验收合格后{chinese(value // 12) if spelled else value // 12}年。"
        return f"质保期为验收合格后{told}个月。"
    share = f"百分之{told}" if spelled else f"{told}%"
    return {
        "预付款比例": f"合同生效后甲方预付合同总价的{share}。",
        "违约金上限": f"违约金累计不超过合同总价的{share}。",
        "付款期限": f"甲方收到发票后{told}天内付清余款。",
    }[clause]


def _contract_files(scene: Scene, contracts: list[_Contract], standard: dict[str, int]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for c in contracts:
        lines = [f"# 采购合同 {c.number}", "", f"乙方：{c.party}", ""]
        for place, clause in enumerate(_CLAUSES, 3):
            value = c.before.get(clause, c.values[clause])
            lines += [
                f"第{chinese(place)}条 {_clause_text(clause, value, spelled=c.spelled, years=c.years)}",
                "",
            ]
        files[f"合同/{c.number}.md"] = "\n".join(lines).encode()
        for clause in c.before:
            text = _clause_text(clause, c.values[clause])
            told = f"# 补充协议\n\n针对合同 {c.number}，双方已签署盖章，原条款作废，改为：\n\n{text}\n"
            files[f"合同/{c.number}_补充协议.md"] = told.encode()
        for clause, value in c.draft.items():
            text = _clause_text(clause, value)
            told = f"# 补充协议（征求意见稿）\n\n针对合同 {c.number}，草稿，未签署。拟改为：\n\n{text}\n"
            files[f"合同/{c.number}_补充协议_草稿.md"] = told.encode()
    rows = [
        {"条款": k, "标准": ("不少于" if k == "质保期" else "不超过") + f"{standard[k]}{_UNITS[k]}"}
        for k in _CLAUSES
    ]
    files["合同审查标准.md"] = (
        "# 采购合同审查标准\n\n" + mess.markdown_table(rows, ("条款", "标准"))
    ).encode()
    return files


def _review_view(contracts: list[_Contract], standard: dict[str, int], flaws: Flaws) -> Answer:
    rows = []
    for c in contracts:
        for clause in _CLAUSES:
            value = c.values[clause]
            if "version" in flaws:
                value = c.before.get(clause, value)
            if "unapproved" in flaws:
                value = c.draft.get(clause, value)
            if "unit" in flaws and c.years and clause == "质保期" and value % 12 == 0:
                value //= 12
            if "chinese_numerals" in flaws and c.spelled and clause not in c.before:
                continue
            if _breaks(clause, value, standard[clause]):
                rows.append(
                    {"审查项": f"{c.number}/{clause}", "合同值": str(value), "标准值": str(standard[clause])}
                )
    return Answer(tables={"review": rows})


def _review(scene: Scene) -> Draft:
    r = scene.rng
    standard = {
        "预付款比例": r.choice((20, 30)),
        "质保期": r.choice((12, 24)),
        "违约金上限": r.choice((10, 15, 20)),
        "付款期限": r.choice((45, 60)),
    }
    contracts = _contracts(scene, standard)
    files = _contract_files(scene, contracts, standard)
    gold, adversarial, baseline = views(scene, lambda flaws: _review_view(contracts, standard, flaws))
    rules = Rules()
    rules.deliver(REVIEW)
    rule = rules.keys(REVIEW, [row["审查项"] for row in gold.tables["review"]], trap=scene.trap)
    rule = (
        check_cells(scene, rules, REVIEW, gold, adversarial, limit=10, columns=("合同值",), tolerance="0")
        or rule
    )
    baseline.tables["review"] = [
        {"审查项": f"{c.party}/{_CLAUSES[n % 4]}", "合同值": "10", "标准值": "10"}
        for n, c in enumerate(contracts)
    ]
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            "法务让我先过一遍这批采购合同，看哪些条款不合我们的标准。",
            "这几份合同要签批，帮我按审查标准逐条对，只报不合标准的。",
            "合同文件夹里的合同对照标准审一下，把踩线的条款列出来。",
        ),
        "一条不合标准的条款写一行，审查项写成“合同编号/条款名”，条款名用标准里的叫法。"
        + say(
            "有补充协议的，签了的以补充协议为准，草稿不算数。", "签署了的补充协议会改掉原条款，没签的当没有。"
        )
        + "合同值和标准值都只写数字，百分比写百分号前面的数，质保期按月，付款期限按天。",
        spoken.wanted(r, REVIEW),
    )
    return Draft(
        ("采购合同条款审查", "Contract clauses against a standard"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=40,
    )


CLAIMS = Table(
    "claims",
    ("报销单号",),
    {"报销单号": "text", "超标金额": "number", "适用版本": "text"},
    file="超标明细.csv",
    units={"超标金额": "元"},
    words={"适用版本": ("2025版", "2026版")},
)
_TIERS = {
    "一类": ("北京", "上海", "广州", "深圳"),
    "二类": ("杭州", "成都", "武汉", "西安"),
    "三类": ("长沙", "合肥", "南昌", "贵阳"),
}


@dataclass(frozen=True)
class _Claim:
    number: str
    person: str
    senior: bool
    city: str
    start: dt.date
    nights: int
    total: Decimal
    state: str
    wide: bool


def _limits(base: int) -> dict[tuple[str, bool], int]:
    return {
        (tier, senior): base - 100 * place + (150 if senior else 0)
        for place, tier in enumerate(_TIERS)
        for senior in (False, True)
    }


def _tier(city: str) -> str:
    return next(t for t, cities in _TIERS.items() if city in cities)


def _claims(
    scene: Scene, old: dict[tuple[str, bool], int], new: dict[tuple[str, bool], int], switch: dt.date
) -> list[_Claim]:
    r = scene.rng
    made = []
    for place, number in enumerate(names.codes(r, "BX", scene.some(10, 18), 6)):
        senior, nights = r.random() < 0.3, r.randint(1, 5)
        city = r.choice([c for cities in _TIERS.values() for c in cities])
        before = scene.has("version") and place % 3 == 0
        start = (
            switch - dt.timedelta(days=r.randint(2, 25))
            if before
            else switch + dt.timedelta(days=r.randint(0, 25))
        )
        limit = (old if before else new)[_tier(city), senior] * nights
        over = place % 2 == 0 or r.random() < 0.2
        total = Decimal(limit) + (Decimal(r.randint(5, 90)) if over else -Decimal(r.randint(0, 60)))
        made.append(
            _Claim(
                number,
                names.person(r),
                senior,
                city,
                start,
                nights,
                total,
                "已撤回" if scene.has("void") and place % 4 == 2 else "审批中",
                scene.has("full_width") and place % 4 == 0,
            )
        )
    return made


def _claim_view(
    claims: list[_Claim], tables: dict[str, dict[tuple[str, bool], int]], switch: dt.date, flaws: Flaws
) -> Answer:
    rows = []
    for c in claims:
        if c.state == "已撤回" and "void" not in flaws:
            continue
        version = "2025版" if c.start < switch and "version" not in flaws else "2026版"
        senior = c.senior and "rank" not in flaws
        total = Decimal(0) if c.wide and "full_width" in flaws else c.total
        over = total - tables[version][_tier(c.city), senior] * c.nights
        if over > 0:
            rows.append({"报销单号": c.number, "超标金额": mess.money(over), "适用版本": version})
    return Answer(tables={"claims": rows})


def _policy_text(version: str, switch: dt.date, limits: dict[tuple[str, bool], int]) -> bytes:
    rows = [
        {
            "城市": f"{t}（{'、'.join(_TIERS[t])}）",
            "一般员工": str(limits[t, False]),
            "经理及以上": str(limits[t, True]),
        }
        for t in _TIERS
    ]
    since = (
        f"自 {switch} 起施行，出发日期在此之前的仍按 2025 版。"
        if version == "2026版"
        else "自 2025-01-01 起施行。"
    )
    return (
        f"# 差旅住宿标准（{version}）\n\n{since}\n\n每晚上限（元）：\n\n"
        + mess.markdown_table(rows, ("城市", "一般员工", "经理及以上"))
    ).encode()


def _travel_words(scene: Scene) -> str:
    r, say = scene.rng, scene.say
    return spoken.ask(
        r,
        say(
            "这批差旅报销里住宿有没有超标的，帮我查一遍。",
            "内控抽查差旅住宿，你按制度逐单核，超了的报给我。",
            "报销初审：把住宿费超标准的单子挑出来，算清超了多少。",
        ),
        "标准看制度文件夹，注意新旧两版"
        + say("按出发日期适用。", "各管各的出差。")
        + "超标金额是整单住宿金额减去每晚上限乘晚数；撤回的单子不用管。没超的不列。适用版本写"
        + spoken.choices(CLAIMS.words["适用版本"])
        + "。",
        spoken.wanted(r, CLAIMS),
    )


def _travel(scene: Scene) -> Draft:
    r = scene.rng
    switch = dt.date(2026, r.randint(3, 8), 1)
    base = r.choice((450, 500, 550))
    tables = {"2025版": _limits(base), "2026版": _limits(base + r.choice((40, 60, 80)))}
    claims = _claims(scene, tables["2025版"], tables["2026版"], switch)
    rows: list[Row] = []
    for c in claims:
        told = mess.wide(mess.money(c.total)) if c.wide else mess.money(c.total)
        rows.append(
            {
                "报销单号": c.number,
                "报销人": c.person,
                "职级": "经理" if c.senior else "员工",
                "目的地": c.city + r.choice(("", "市")),
                "出发日期": f"{c.start:%Y-%m-%d}",
                "住宿晚数": str(c.nights),
                "住宿金额": told,
                "单据状态": c.state,
            }
        )
    files = {f"制度/差旅住宿标准_{v}.md": _policy_text(v, switch, t) for v, t in tables.items()}
    mess.put_export(files, r, "差旅报销", rows, xlsx=scene.xlsx)
    gold, adversarial, baseline = views(scene, lambda flaws: _claim_view(claims, tables, switch, flaws))
    rules = Rules()
    rules.deliver(CLAIMS)
    own = [row["报销单号"] for row in gold.tables["claims"]]
    rule = rules.keys(CLAIMS, own, trap=scene.trap)
    rule = check_cells(scene, rules, CLAIMS, gold, adversarial, limit=10, columns=("超标金额",)) or rule
    clean = [c.number for c in claims if c.number not in set(own)]
    baseline.tables["claims"] = [
        {"报销单号": n, "超标金额": "50.00", "适用版本": "2026版"} for n in clean[:4]
    ]
    instruction = _travel_words(scene)
    return Draft(
        ("差旅住宿超标核查", "Travel claims against two policy versions"),
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
        "gen-contract-review",
        "general",
        "document-review",
        "document",
        ("version", "chinese_numerals", "unit", "unapproved"),
        _review,
        "法务助理",
        "合同签批",
        "high",
    ),
    Family(
        "gen-travel-policy",
        "general",
        "compliance",
        "document",
        ("version", "rank", "void", "full_width"),
        _travel,
        "内控专员",
        "报销初审",
        "medium",
        xlsx_every=4,
    ),
)
