"""General: posting scanned bills; a batch of notices from a template."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from benchmark.synthetic.raster import Canvas

BILLS = Table(
    "bills", ("票据号码",), {"票据号码": "text", "金额": "number"}, file="票据登记.csv", units={"金额": "元"}
)


_BILL_TRAPS = ("void", "rotated", "faint", "sign", "duplicate")


@dataclass(frozen=True)
class _Bill:
    number: str
    value: Decimal
    void: bool = False
    turned: bool = False
    faint: bool = False
    red: bool = False
    again: bool = False


def _scan(scene: Scene, bill: _Bill) -> bytes:
    r = scene.rng
    sheet = Canvas(224, 96)
    ink = r.randint(150, 170) if bill.faint else r.randint(0, 40)
    sheet.text(r.randint(6, 20), r.randint(8, 14), bill.number, 2, ink)
    sign = "-" if bill.red else ""
    sheet.text(r.randint(6, 30), r.randint(52, 60), f"{sign}{bill.value}", 2, ink)
    if bill.void:
        sheet.cross(184, 54, 32, r.randint(40, 90))
    sheet.speckle(r, 12)
    if bill.turned:
        sheet.turn()
    return sheet.png()


def _bill_view(bills: list[_Bill], flaws: Flaws) -> Answer:
    rows: list[Row] = []
    total = Decimal(0)
    for b in bills:
        if b.void and "void" not in flaws:
            continue
        value = Decimal(0) if b.faint and "faint" in flaws else b.value
        value = -value if b.red and "sign" not in flaws else value
        number = b.number[::-1] if b.turned and "rotated" in flaws else b.number
        rows.append({"票据号码": number, "金额": mess.money(value)})
        total += value * (2 if b.again and "duplicate" in flaws else 1)
    return Answer(tables={"bills": rows}, documents={"sum": {"合计金额": mess.money(total)}})


def _bill_truth(scene: Scene) -> list[_Bill]:
    r = scene.rng
    numbers = [str(n) for n in sorted(r.sample(range(10_000_000, 99_999_999), scene.some(4, 7)))]
    bills = [_Bill(n, mess.amount(r, 60, 9_000)) for n in numbers]
    order = r.sample(range(len(bills)), len(bills))
    spots = {trap: order[place % len(order)] for place, trap in enumerate(_BILL_TRAPS) if scene.has(trap)}
    return [
        replace(
            bill,
            void=spots.get("void") == place,
            turned=spots.get("rotated") == place,
            faint=spots.get("faint") == place,
            red=spots.get("sign") == place,
            again=spots.get("duplicate") == place,
        )
        for place, bill in enumerate(bills)
    ]


def _scans(scene: Scene) -> Draft:
    r = scene.rng
    bills = _bill_truth(scene)
    scans = [(b, _scan(scene, b)) for b in bills]
    scans += [(b, _scan(scene, b)) for b in bills if b.again]
    r.shuffle(scans)
    files = {f"扫描件/scan_{n:03d}.png": data for n, (_, data) in enumerate(scans, r.randint(1, 60))}
    gold, adversarial, baseline = views(scene, lambda flaws: _bill_view(bills, flaws))
    rules = Rules()
    rules.deliver(BILLS)
    rules.deliver_document("sum", "合计.json")
    own = [row["票据号码"] for row in gold.tables["bills"]]
    void = [b.number for b in bills if b.void]
    at = {"table": "bills", "column": "票据号码"}
    fatal = rules.forbid({"check": "set", "at": at, "excludes": void}, "void") if void else ""
    if scene.trap == "void":
        adversarial.documents = gold.documents
        rules.item({"check": "set", "at": at, "includes": own})
        rule = fatal
    else:
        rule = rules.keys(BILLS, own, trap=scene.trap)
    cells = check_cells(scene, rules, BILLS, gold, adversarial, limit=8)
    total = rules.field("sum", "合计金额", gold.documents["sum"]["合计金额"])
    rule = fatal if scene.trap == "void" else cells or (total if scene.trap == "duplicate" else rule)
    baseline.tables["bills"] = [{"票据号码": f"{n[:4]}-{n[4:]}", "金额": "100.00"} for n in own]
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            "扫描件文件夹里是这周收的票，帮我一张张登记上。",
            "票据都扫好了，认一下号码和金额，登个账。",
            "这几张票要入账，图在扫描件里，你读出来登记。",
        ),
        "每张票上面一行是号码，下面一行是金额（元），前面带横杠的是红字、记成负数。盖了叉框章的是作废票，不要登。"
        + say("同一张票扫了两遍的只登一次。", "有的票重复扫了，登一次就行。")
        + say("有的扫倒了，有的很淡，别漏。", "别因为淡或者倒着就漏掉。"),
        spoken.wanted(r, BILLS),
        "另外把合计写进 `合计.json`，字段名“合计金额”，值写成字符串。",
    )
    return Draft(
        ("票据扫描登记", "Posting scanned bills"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=40,
    )


@dataclass(frozen=True)
class _Notice:
    code: str
    name: str
    owed: Decimal
    due: str
    contact: str
    state: str
    wan: bool
    blank: bool
    stale: bool


_TEMPLATES = {
    "对账函": (
        "尊敬的{name}：",
        "截至{due}，贵司应付我司款项为人民币{owed}元。",
        "如有疑问请联系：{contact}。",
    ),
    "续约通知": ("{name}：", "贵司合同将于{due}到期，续约应缴{owed}元。", "办理请找{contact}。"),
}


def _notices(scene: Scene) -> list[_Notice]:
    r = scene.rng
    made = []
    for place, (code, name) in enumerate(
        zip(names.codes(r, "C", scene.some(5, 9), 4), names.companies(r, 9), strict=False)
    ):
        made.append(
            _Notice(
                code,
                name,
                mess.amount(r, 10_000, 2_000_000, "10"),
                f"2026年{r.randint(3, 9)}月{r.randint(1, 28)}日",
                names.person(r),
                "待审批" if scene.has("unapproved") and place % 3 == 1 else "已审批",
                scene.has("unit") and place % 3 == 0,
                scene.has("missing_not_zero") and place % 3 == 2,
                scene.has("duplicate") and place % 2 == 0,
            )
        )
    return made


def _letter(n: _Notice, template: tuple[str, ...], flaws: Flaws) -> tuple[str, ...]:
    owed = n.owed / 10_000 if n.wan and "unit" in flaws else n.owed
    owed = owed - 1_000 if n.stale and "duplicate" in flaws else owed
    contact = n.contact if not n.blank else "无" if "missing_not_zero" in flaws else "（待补充）"
    told = mess.thousands(owed) if owed >= 1_000 else mess.plain(owed)
    return tuple(line.format(name=n.name, due=n.due, owed=told, contact=contact) for line in template)


def _notice_view(notices: list[_Notice], kind: str, flaws: Flaws) -> Answer:
    template = _TEMPLATES[kind]
    files = {}
    for n in notices:
        if n.state == "已审批" or "unapproved" in flaws:
            files[f"输出/{kind}_{n.code}.md"] = (
                "\n\n".join((f"# {kind}", *_letter(n, template, flaws))) + "\n"
            )
    return Answer(files=files)


def _batch_files(scene: Scene, notices: list[_Notice], kind: str) -> dict[str, bytes]:
    r = scene.rng
    rows: list[Row] = []
    for n in notices:
        base = {
            "编号": n.code,
            "名称": n.name,
            "金额": mess.in_wan(n.owed) if n.wan else mess.plain(n.owed),
            "单位": "万元" if n.wan else "元",
            "日期": n.due,
            "联系人": "" if n.blank else n.contact,
            "状态": n.state,
            "修改时间": f"2026-03-{r.randint(10, 28)} 10:00",
        }
        rows.append(base)
        if n.stale:
            rows.append(
                {
                    **base,
                    "金额": mess.plain(n.owed - 1_000),
                    "单位": "元",
                    "修改时间": f"2026-02-{r.randint(10, 28)} 16:30",
                }
            )
    r.shuffle(rows)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "发送名单", rows, xlsx=scene.xlsx)
    shown = [
        line.format(name="{名称}", due="{日期}", owed="{金额}", contact="{联系人}")
        for line in _TEMPLATES[kind]
    ]
    files[f"模板_{kind}.md"] = ("\n\n".join((f"# {kind}", *shown)) + "\n").encode()
    return files


def _batch(scene: Scene) -> Draft:
    r = scene.rng
    kind = r.choice(sorted(_TEMPLATES))
    notices = _notices(scene)
    gold, adversarial, baseline = views(scene, lambda flaws: _notice_view(notices, kind, flaws))
    rules = Rules()
    pending = [f"输出/{kind}_{n.code}.md" for n in notices if n.state != "已审批"]
    fatal = rules.forbid({"check": "files", "absent": pending}, "unapproved") if pending else ""
    rule = fatal if scene.trap == "unapproved" else ""
    for n in notices:
        path = f"输出/{kind}_{n.code}.md"
        if n.state != "已审批":
            continue
        lines = _letter(n, _TEMPLATES[kind], frozenset())
        hit = gold.files[path] != adversarial.files.get(path)
        told = rules.item(
            {"check": "files", "present": [path], "contains": {path: list(lines)}}, scene.trap if hit else ""
        )
        rule = rule or (told if hit else "")
    baseline.files = {
        path: text.replace("（待补充）", "无").replace("元", "万元") for path, text in baseline.files.items()
    }
    if not rule:
        raise Dull("no letter shows the trap")
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            f"要给名单上的客户发{kind}，按模板一家出一份。",
            f"帮我批量做{kind}，名单和模板都有。",
            f"{kind}今天要寄，照模板给每家填一份。",
        ),
        f"每份存成 `输出/{kind}_编号.md`，模板里大括号的地方换成名单里的内容，其他字一个别动。"
        "金额一律按元、带千分位和两位小数。"
        + say("名单里有重复编号的，用修改时间最新的。", "同一编号有新旧两行的取新的。")
        + "哪项空着就填“（待补充）”。"
        + say("没审批的一家都不能出。", "待审批的先别做，做出来会误发。"),
    )
    return Draft(
        (f"批量生成{kind}", "A batch of notices from a template"),
        instruction,
        _batch_files(scene, notices, kind),
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=30,
    )


FAMILIES = (
    Family(
        "gen-bill-scans",
        "general",
        "image",
        "document",
        _BILL_TRAPS,
        _scans,
        "出纳",
        "票据登记",
        "high",
    ),
    Family(
        "gen-notice-batch",
        "general",
        "content-generation",
        "document",
        ("unapproved", "unit", "missing_not_zero", "duplicate"),
        _batch,
        "商务助理",
        "对外发函",
        "medium",
        xlsx_every=5,
    ),
)
