"""Finance: receivables ageing at a cut-off date; bank reconciliation of one account and month."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
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

BUCKETS = ("未到期", "1-30天", "31-60天", "61-90天", "90天以上")
AGEING = Table(
    "ageing",
    ("客户",),
    {"客户": "text", **dict.fromkeys(BUCKETS, "number"), "应收余额": "number"},
    file="应收账龄.csv",
    units={**dict.fromkeys(BUCKETS, "元"), "应收余额": "元"},
)


@dataclass(frozen=True)
class _Bill:
    number: str
    customer: str
    issued: dt.date
    due: dt.date
    told_due: bool
    total: Decimal
    paid: list[tuple[dt.date, Decimal]] = field(default_factory=list)
    wan: bool = False
    twice: bool = False


def _bills(scene: Scene, customers: list[str], terms: dict[str, int], cut: dt.date) -> list[_Bill]:
    r = scene.rng
    bills = []
    for place, number in enumerate(names.codes(r, "XS", scene.some(14, 26), 6)):
        customer = customers[place % len(customers)]
        issued = mess.day(r, cut - dt.timedelta(days=190), cut - dt.timedelta(days=3))
        total = mess.amount(r, 2_000, 180_000, "0.1")
        paid = []
        if r.random() < 0.45:
            paid.append((mess.day(r, issued, cut), mess.half_up(total * r.randint(2, 7) / 10)))
        if scene.has("period") and (place == 1 or r.random() < 0.2):
            paid.append(
                (
                    mess.day(r, cut + dt.timedelta(days=1), cut + dt.timedelta(days=12)),
                    mess.half_up(total / 10),
                )
            )
        bills.append(
            _Bill(
                number,
                customer,
                issued,
                issued + dt.timedelta(days=terms[customer]),
                not (scene.has("missing_not_zero") and (place == 2 or r.random() < 0.2)),
                total,
                paid,
                scene.has("unit") and (place == 3 or r.random() < 0.15),
                scene.has("duplicate") and (place == 4 or r.random() < 0.15),
            )
        )
    return bills


def _ageing_files(scene: Scene, bills: list[_Bill], terms: dict[str, int]) -> dict[str, bytes]:
    r = scene.rng
    invoices: list[Row] = []
    receipts: list[Row] = []
    for b in bills:
        told = f"{mess.in_wan(b.total)}万元" if b.wan else r.choice((mess.money, mess.thousands))(b.total)
        row = {
            "单据号": b.number,
            "客户": b.customer,
            "开票日期": b.issued.isoformat(),
            "到期日": b.due.isoformat() if b.told_due else "",
            "金额": told,
        }
        invoices += [row, dict(row)] if b.twice else [row]
        receipts += [
            {"收款日期": f"{d:%Y/%m/%d}", "核销单据": b.number, "核销金额": mess.money(p)} for d, p in b.paid
        ]
    receipts.sort(key=lambda row: (row["收款日期"], row["核销单据"]))
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "应收单", invoices, xlsx=scene.xlsx)
    mess.put_export(files, r, "收款核销", receipts)
    mess.put_export(files, r, "客户档案", [{"客户": c, "信用天数": str(t)} for c, t in terms.items()])
    return files


def _bucket(late: int) -> str:
    for limit, name in ((0, BUCKETS[0]), (30, BUCKETS[1]), (60, BUCKETS[2]), (90, BUCKETS[3])):
        if late <= limit:
            return name
    return BUCKETS[4]


def _ageing_view(bills: list[_Bill], customers: list[str], cut: dt.date, flaws: Flaws) -> Answer:
    sums = {c: {b: Decimal(0) for b in BUCKETS} for c in customers}
    for b in bills:
        due = b.due if b.told_due else b.issued if "missing_not_zero" in flaws else b.due
        total = b.total * (2 if b.twice and "duplicate" in flaws else 1)
        if b.wan and "unit" in flaws:
            total = b.total / 10_000
        total -= sum((p for d, p in b.paid if d <= cut or "period" in flaws), Decimal(0))
        sums[b.customer][_bucket((cut - due).days)] += total
    rows = [
        {
            "客户": c,
            **{b: mess.money(v) for b, v in s.items()},
            "应收余额": mess.money(sum(s.values(), Decimal(0))),
        }
        for c, s in sums.items()
    ]
    return Answer(tables={"ageing": rows})


def _ageing(scene: Scene) -> Draft:
    r = scene.rng
    cut = dt.date(2026, r.randint(3, 10), 1) - dt.timedelta(days=1)
    customers = names.companies(r, scene.some(4, 6))
    terms = {c: r.choice((15, 30, 45, 60)) for c in customers}
    bills = _bills(scene, customers, terms, cut)
    files = _ageing_files(scene, bills, terms)
    gold, adversarial, baseline = views(scene, lambda flaws: _ageing_view(bills, customers, cut, flaws))
    rules = Rules("all_or_nothing" if scene.index % 5 == 0 else "itemised")
    rules.deliver(AGEING, customers)
    rule = check_cells(scene, rules, AGEING, gold, adversarial, limit=16)
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            f"月底要报账龄，按{cut:%Y年%m月%d日}这个时点给每个客户排一下应收。",
            f"老板要看截至{cut:%Y-%m-%d}各家客户还欠多少、拖了多久，帮我排个账龄。",
            f"{cut.month}月底的应收账龄还没做，你用工作区的导出排一版，截止日就是{cut:%Y-%m-%d}。",
        ),
        f"逾期天数从到期日算到截止日，没超过到期日的归到“未到期”，其余按{'、'.join(BUCKETS[1:])}分。"
        + say(
            "到期日空着的，用开票日加客户的信用天数推。", "有的单子没填到期日，那就按开票日期往后加信用天数。"
        )
        + say("截止日之后才收到的钱不能算进来。", "之后收的款是下个月的事，别扣。")
        + say("单据号相同的是导重了。", "重复导出的单子记一次就好。"),
        spoken.wanted(r, AGEING),
    )
    return Draft(
        (f"{cut.month}月末应收账龄", f"Receivables ageing at the end of month {cut.month}"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=45,
    )


RECON = Table(
    "open",
    ("流水号",),
    {"流水号": "text", "类型": "text", "金额": "number"},
    file="未达账项.csv",
    units={"金额": "元"},
    words={"类型": ("银收企未收", "银付企未付", "企收银未收", "企付银未付")},
)
_FIELDS = {
    "银行余额": "对账单上的期末余额（元）",
    "企业余额": "日记账上的期末余额（元）",
    "调节后余额": "两边调平之后的余额（元）",
    "未达笔数": "未达账项一共几笔",
}


@dataclass(frozen=True)
class _Move:
    number: str
    date: dt.date
    value: Decimal
    side: str
    party: str
    twice: bool = False


def _moves(scene: Scene, month: dt.date) -> list[_Move]:
    r = scene.rng
    kinds = ["both"] * scene.some(9, 16) + ["bank"] * scene.some(2, 4) + ["book"] * scene.some(2, 4)
    r.shuffle(kinds)
    moves = []
    for place, kind in enumerate(kinds):
        value = mess.amount(r, 300, 60_000, "0.01") * r.choice((1, -1))
        moves.append(
            _Move(
                f"{month:%y%m}{place + 101}",
                mess.day(r, month, month.replace(day=27)),
                value,
                kind,
                names.company(r),
                scene.has("duplicate") and kind == "bank",
            )
        )
    if scene.has("period"):
        late = month.replace(day=28) + dt.timedelta(days=r.randint(5, 7))
        moves.append(_Move(f"{late:%y%m}001", late, mess.amount(r, 300, 60_000), "bank", names.company(r)))
    return moves


def _recon_files(
    scene: Scene, moves: list[_Move], opening: Decimal, ends: tuple[Decimal, Decimal]
) -> dict[str, bytes]:
    r = scene.rng
    bank: list[Row] = []
    book: list[Row] = []
    balance = opening
    for m in sorted(moves, key=lambda m: (m.date, m.number)):
        told = mess.thousands(abs(m.value))
        if m.side in ("both", "bank"):
            balance += m.value
            row = {
                "交易日期": f"{m.date:%Y%m%d}",
                "流水号": m.number,
                "对方户名": m.party,
                "收入": told if m.value > 0 else "",
                "支出": told if m.value < 0 else "",
                "余额": mess.money(balance),
            }
            bank += [row, dict(row)] if m.twice else [row]
        if m.side in ("both", "book"):
            told = mess.wide(told) if scene.has("full_width") and r.random() < 0.4 else told
            shown = m.date + dt.timedelta(days=r.choice((0, 0, 1))) if m.date.day < 27 else m.date
            book.append(
                {
                    "记账日期": f"{shown:%Y-%m-%d}",
                    "银行流水号": m.number,
                    "摘要": f"{m.party}往来",
                    "借方（收）": told if m.value > 0 else "",
                    "贷方（付）": told if m.value < 0 else "",
                }
            )
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "银行对账单", bank)
    mess.put_export(files, r, "银行存款日记账", book, xlsx=scene.xlsx)
    files["余额.txt"] = (
        f"对账单期末余额：{mess.thousands(ends[0])} 元\n日记账期末余额：{mess.in_wan(ends[1])} 万元\n"
    ).encode()
    return files


def _kind(move: _Move) -> str:
    if move.side == "bank":
        return "银收企未收" if move.value > 0 else "银付企未付"
    return "企收银未收" if move.value > 0 else "企付银未付"


def _recon_view(
    scene: Scene, moves: list[_Move], month: dt.date, ends: tuple[Decimal, Decimal], flaws: Flaws
) -> Answer:
    rows, adjusted = [], ends[1]
    for m in moves:
        if m.side == "both" or (m.date.month != month.month and "period" not in flaws):
            continue
        times = 2 if m.twice and "duplicate" in flaws else 1
        value = (
            Decimal(0) if m.side == "book" and "full_width" in flaws and scene.has("full_width") else m.value
        )
        rows.append({"流水号": m.number, "类型": _kind(m), "金额": mess.money(abs(value) * times)})
        adjusted += m.value * times if m.side == "bank" else 0
    book = ends[1] / 10_000 if "unit" in flaws else ends[1]
    document = {
        "银行余额": mess.money(ends[0]),
        "企业余额": mess.plain(book),
        "调节后余额": mess.money(adjusted),
        "未达笔数": str(len(rows)),
    }
    return Answer(tables={"open": rows}, documents={"sheet": document})


def _recon_words(scene: Scene, month: dt.date) -> str:
    r, say = scene.rng, scene.say
    return spoken.ask(
        r,
        say(
            f"{month.month}月的银行账对不上，帮我把余额调节表做了。",
            f"出纳休假，{month:%Y年}{month.month}月的银行对账你来一下，找出未达账项再调平。",
            f"基本户{month.month}月的对账单和日记账都导好了，请做银行对账。",
        ),
        f"只做{month:%Y年}{month.month}月的，按流水号勾对，两边只有一边有的就是未达账项，类型写"
        + spoken.choices(RECON.words["类型"])
        + "，金额都写正数。"
        + say(
            "对账单翻页会带出重复的流水，流水号一样的只认一笔。",
            "流水号重复的那几行是下载时带出来的，只认一笔。",
        ),
        spoken.wanted(r, RECON),
        spoken.wanted_document(r, "余额调节表.json", _FIELDS),
    )


def _recon(scene: Scene) -> Draft:
    r = scene.rng
    month = dt.date(2026, r.randint(2, 9), 1)
    moves = _moves(scene, month)
    own = [m for m in moves if m.date.month == month.month]
    opening = mess.amount(r, 90_000, 400_000)
    ends = (
        opening + sum((m.value for m in own if m.side != "book"), Decimal(0)),
        opening + sum((m.value for m in own if m.side != "bank"), Decimal(0)),
    )
    files = _recon_files(scene, moves, opening, ends)
    gold, adversarial, baseline = views(scene, lambda flaws: _recon_view(scene, moves, month, ends, flaws))
    rules = Rules()
    rules.deliver(RECON)
    rules.deliver_document("sheet", "余额调节表.json")
    rule = rules.keys(RECON, [row["流水号"] for row in gold.tables["open"]], trap=scene.trap)
    rule = check_cells(scene, rules, RECON, gold, adversarial, limit=6, columns=("金额",)) or rule
    for name, value in gold.documents["sheet"].items():
        told = rules.item({"check": "document", "at": {"document": "sheet"}, "expected": {name: value}})
        rule = told if scene.trap == "unit" and name == "企业余额" else rule
    matched = [m for m in own if m.side == "both"][:4]
    baseline.tables["open"] = [
        {"流水号": m.number, "类型": "银收企未收", "金额": mess.money(abs(m.value))} for m in matched
    ]
    instruction = _recon_words(scene, month)
    return Draft(
        (f"{month.month}月银行存款余额调节", f"Bank reconciliation of month {month.month}"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=45,
    )


FAMILIES = (
    Family(
        "fin-ageing",
        "finance",
        "receivable",
        "analysis",
        ("unit", "period", "duplicate", "missing_not_zero"),
        _ageing,
        "应收会计",
        "月末分析",
        "medium",
        xlsx_every=4,
    ),
    Family(
        "fin-bank-reconciliation",
        "finance",
        "cash",
        "operation",
        ("duplicate", "period", "full_width", "unit"),
        _recon,
        "出纳",
        "月末对账",
        "high",
        xlsx_every=5,
    ),
)
