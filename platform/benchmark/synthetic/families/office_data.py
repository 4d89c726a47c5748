"""General: cleaning a customer list; extracting orders from a database dump."""

from __future__ import annotations

from dataclasses import dataclass, replace

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

CLEAN = Table(
    "clean",
    ("客户编号",),
    {"客户编号": "text", "客户名称": "text", "手机": "text", "城市": "text", "信用额度": "number"},
    file="清洗后客户.csv",
    units={"信用额度": "元"},
)


@dataclass(frozen=True)
class _Customer:
    code: str
    name: str
    phone: str
    city: str
    limit: int
    updated: str
    wan: bool = False
    wide: bool = False
    empty: bool = False


def _customers(scene: Scene) -> tuple[list[_Customer], dict[str, _Customer]]:
    """The true current state, and the outdated entries that are still in the list."""
    r = scene.rng
    codes = names.codes(r, "KH", scene.some(8, 14), 5)
    current, old = [], {}
    for place, (code, name) in enumerate(zip(codes, names.companies(r, len(codes)), strict=True)):
        phone = f"1{r.choice('3578')}{r.randint(0, 9)}{r.randint(10_000_000, 99_999_999)}"
        one = _Customer(
            code,
            name,
            phone,
            r.choice(names.CITIES),
            r.randint(1, 90) * 5000,
            f"2026-0{r.randint(4, 9)}-{r.randint(10, 28)}",
            scene.has("unit") and place % 3 == 0,
            scene.has("full_width") and place % 3 == 1,
            scene.has("missing_not_zero") and place % 4 == 2,
        )
        current.append(one)
        if (scene.has("duplicate") and place % 3 == 2) or r.random() < 0.08:
            old[code] = replace(
                one,
                phone=phone[:-4] + f"{r.randint(1000, 9999)}",
                city=r.choice(names.CITIES),
                limit=one.limit + 5000,
                updated="2025-11-" + str(r.randint(10, 28)),
                wan=False,
                wide=False,
            )
    return current, old


def _shown(scene: Scene, c: _Customer) -> Row:
    r = scene.rng
    phone = r.choice(
        (
            c.phone,
            f"{c.phone[:3]}-{c.phone[3:7]}-{c.phone[7:]}",
            f"+86 {c.phone}",
            f" {c.phone[:3]} {c.phone[3:7]} {c.phone[7:]}",
        )
    )
    return {
        "客户编号": mess.wide(c.code) if c.wide else c.code,
        "客户名称": c.name + r.choice(("", " ", "　")),
        "手机": mess.wide(phone) if c.wide else phone,
        "城市": c.city + r.choice(("", "市")),
        "信用额度": "" if c.empty else f"{c.limit / 10_000:g}万" if c.wan else str(c.limit),
        "更新日期": c.updated,
    }


def _clean_view(current: list[_Customer], old: dict[str, _Customer], flaws: Flaws) -> Answer:
    rows = []
    for true in current:
        c = old.get(true.code, true) if "duplicate" in flaws else true
        limit = "0" if c.empty and "missing_not_zero" in flaws else "无法计算" if c.empty else str(c.limit)
        if c.wan and "unit" in flaws and not c.empty:
            limit = f"{c.limit / 10_000:g}"
        # Whoever overlooks full-width digits finds no mobile number in the cell.
        phone = "未知" if c.wide and "full_width" in flaws else c.phone
        rows.append(
            {"客户编号": c.code, "客户名称": c.name, "手机": phone, "城市": c.city, "信用额度": limit}
        )
    return Answer(tables={"clean": rows})


def _clean(scene: Scene) -> Draft:
    r = scene.rng
    current, old = _customers(scene)
    listed = [_shown(scene, c) for c in [*current, *old.values()]]
    r.shuffle(listed)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "客户名单_汇总", listed, xlsx=scene.xlsx)
    gold, adversarial, baseline = views(scene, lambda flaws: _clean_view(current, old, flaws))
    rules = Rules()
    rules.deliver(CLEAN, [c.code for c in current])
    rule = check_cells(scene, rules, CLEAN, gold, adversarial, limit=16, columns=("手机", "城市", "信用额度"))
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            "客户名单是几个人拼起来的，很乱，帮我洗干净，准备导进新系统。",
            "新系统要导客户档案，先把这份名单清洗一下。",
            "这份客户名单有重复、格式也不统一，整理一份能直接导入的。",
        ),
        "一个客户编号只留一行，有几行的留更新日期最新的那行。手机统一成 11 位半角数字，不带区号和横杠；城市不带“市”字；"
        + say("额度统一成元的数字；", "额度有写“万”的，统一成元；")
        + "额度空着的不代表零，写“无法计算”。编号也用半角。",
        spoken.wanted(r, CLEAN),
    )
    return Draft(
        ("客户名单清洗", "Cleaning a customer list"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=30,
    )


EXTRACT = Table(
    "extract",
    ("订单号",),
    {"订单号": "text", "客户": "text", "负责人": "text", "金额": "number"},
    file="筛选结果.csv",
    units={"金额": "元"},
)


@dataclass(frozen=True)
class _Entry:
    number: str
    customer: int
    cents: int
    day: str
    states: tuple[str, ...]
    test: bool


def _entries(scene: Scene, customers: int) -> list[_Entry]:
    r = scene.rng
    made = []
    for place, number in enumerate(names.codes(r, "DD", scene.some(18, 32), 6)):
        states: tuple[str, ...] = ("已下单", "已付款")
        if scene.has("void") and place % 4 == 1:
            states = ("已下单", "已付款", "已取消")
        elif r.random() < 0.2:
            states = ("已下单",)
        day = f"2026-0{5 if scene.has('period') and place % 5 == 2 else 6}-{r.randint(1, 30):02d}"
        made.append(
            _Entry(
                number,
                r.randrange(customers),
                r.randint(200_000, 4_000_000),
                day,
                states,
                scene.has("unapproved") and place % 5 == 3,
            )
        )
    return made


def _extract_view(
    entries: list[_Entry], people: list[tuple[str, str, str]], floor: int, flaws: Flaws
) -> Answer:
    rows = []
    for e in sorted(entries, key=lambda e: -e.cents):
        state = "已付款" if "void" in flaws and "已付款" in e.states else e.states[-1]
        inside = e.day.startswith("2026-06") or "period" in flaws
        low = floor if "unit" in flaws else floor * 100
        if state != "已付款" or not inside or (e.test and "unapproved" not in flaws) or e.cents < low:
            continue
        name, _, owner = people[e.customer]
        told = str(e.cents) if "unit" in flaws else f"{e.cents / 100:.2f}"
        rows.append({"订单号": e.number, "客户": name, "负责人": owner, "金额": told})
    return Answer(tables={"extract": rows})


def _insert(table: str, *values: str | int) -> str:
    told = ", ".join(str(v) if isinstance(v, int) else f"'{v}'" for v in values)
    return " ".join(("INSERT INTO", table, "VALUES", f"({told});"))


def _dump(entries: list[_Entry], people: list[tuple[str, str, str]]) -> str:
    lines = [
        "-- 备份自业务库，金额字段 amount 单位为分",
        "CREATE TABLE customer (id INTEGER, name TEXT, region TEXT, owner_id INTEGER);",
        "CREATE TABLE staff (id INTEGER, name TEXT);",
        "CREATE TABLE orders (no TEXT, customer_id INTEGER, amount INTEGER, created TEXT, is_test INTEGER);",
        "CREATE TABLE order_status (no TEXT, seq INTEGER, status TEXT);",
    ]
    owners = sorted({owner for _, _, owner in people})
    lines += [_insert("staff", n, o) for n, o in enumerate(owners, 1)]
    lines += [
        _insert("customer", n, name, region, owners.index(o) + 1)
        for n, (name, region, o) in enumerate(people, 1)
    ]
    lines += [_insert("orders", e.number, e.customer + 1, e.cents, e.day, int(e.test)) for e in entries]
    lines += [_insert("order_status", e.number, n, s) for e in entries for n, s in enumerate(e.states, 1)]
    return "\n".join(lines) + "\n"


def _extract_words(scene: Scene, floor: int) -> str:
    r, say = scene.rng, scene.say
    return spoken.ask(
        r,
        say(
            "从备份里帮我筛一下六月的大单。",
            "数据库那边只给了份备份，我要 2026 年 6 月的大额订单名单。",
            "帮我把备份里 6 月份的大单拉出来。",
        ),
        f"条件：2026 年 6 月下的，最新状态是“已付款”，金额不低于 {floor} 元，"
        + say("测试单不要。", "标成测试的一律不要。")
        + "带上客户名和客户的负责人。"
        + say("备份里的单位自己看清楚。", "金额单位看一下备份开头的说明。"),
        spoken.wanted(r, EXTRACT),
    )


def _extract(scene: Scene) -> Draft:
    r = scene.rng
    owners = names.people(r, 4)
    people = [(name, r.choice(("华东", "华南")), r.choice(owners)) for name in names.companies(r, 7)]
    entries = _entries(scene, len(people))
    floor = r.randint(4, 9) * 1000
    files = {"业务库备份.sql": _dump(entries, people).encode()}
    gold, adversarial, baseline = views(scene, lambda flaws: _extract_view(entries, people, floor, flaws))
    own = [row["订单号"] for row in gold.tables["extract"]]
    if len(own) < 3:
        raise Dull("too few hits")
    rules = Rules()
    rules.deliver(EXTRACT)
    rule = rules.keys(EXTRACT, own, trap=scene.trap)
    rule = check_cells(scene, rules, EXTRACT, gold, adversarial, limit=8) or rule
    tests = [e.number for e in entries if e.test]
    if tests and scene.trap != "unapproved":
        rules.forbid(
            {"check": "set", "at": {"table": "extract", "column": "订单号"}, "excludes": tests}, "unapproved"
        )
    misses = [e for e in entries if e.number not in set(own) and not e.test][:5]
    baseline.tables["extract"] = [
        {
            "订单号": e.number,
            "客户": people[e.customer][0],
            "负责人": people[e.customer][2],
            "金额": str(e.cents),
        }
        for e in misses
    ]
    instruction = _extract_words(scene, floor)
    return Draft(
        ("备份库大额订单筛选", "Extracting large orders from a database dump"),
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
        "gen-contact-clean",
        "general",
        "data-processing",
        "operation",
        ("duplicate", "full_width", "unit", "missing_not_zero"),
        _clean,
        "数据专员",
        "系统切换",
        "low",
        xlsx_every=4,
    ),
    Family(
        "gen-dump-extract",
        "general",
        "data-processing",
        "query",
        ("void", "period", "unapproved", "unit"),
        _extract,
        "数据分析",
        "取数",
        "low",
    ),
)
