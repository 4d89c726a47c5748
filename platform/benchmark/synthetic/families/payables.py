"""Finance: three-way match of order, receipt and invoice; unbalanced and unposted vouchers."""

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

MATCH = Table(
    "match",
    ("采购订单号",),
    {
        "采购订单号": "text",
        "有效入库数量": "number",
        "发票金额": "number",
        "差异金额": "number",
        "结论": "text",
    },
    file="三单核对结果.csv",
    units={"发票金额": "元", "差异金额": "元"},
    words={"结论": ("一致", "多开", "少开")},
)


@dataclass(frozen=True)
class _Order:
    number: str
    item: str
    price: Decimal
    ordered: int
    approved: int
    pending: int
    billed: Decimal
    twice: bool
    wan: bool
    wide: bool


def _orders(scene: Scene) -> list[_Order]:
    r = scene.rng
    numbers = names.codes(r, "PO-", scene.some(6, 11))
    orders = []
    for place, number in enumerate(numbers):
        price = mess.amount(r, 8, 900, "0.5")
        approved = r.randint(20, 200)
        pending = r.randint(5, 40) if scene.has("unapproved") and (place == 1 or r.random() < 0.25) else 0
        off = r.choice((0, 0, r.randint(1, 9), -r.randint(1, 9)))
        orders.append(
            _Order(
                number,
                names.material(r),
                price,
                approved + pending + r.choice((0, 0, 10)),
                approved,
                pending,
                mess.half_up(price * (approved + off)),
                scene.has("duplicate") and (place == 2 or r.random() < 0.15),
                scene.has("unit") and (place == 3 or r.random() < 0.2),
                scene.has("full_width") and (place == 0 or r.random() < 0.2),
            )
        )
    return orders


def _match_files(scene: Scene, orders: list[_Order]) -> dict[str, bytes]:
    r = scene.rng
    suppliers = names.companies(r, 3)
    lines = [
        {
            "采购订单号": o.number,
            "供应商": r.choice(suppliers),
            "物料": o.item,
            "订购数量": str(o.ordered),
            "含税单价": mess.plain(o.price),
            "状态": "已审核",
        }
        for o in orders
    ]
    receipts: list[Row] = []
    for o in orders:
        first = r.randint(1, o.approved - 1)
        parts = [(first, "已审核"), (o.approved - first, "已审核")] + [(o.pending, "待审核")] * bool(
            o.pending
        )
        for count, state in parts:
            told = mess.wide(str(count)) if o.wide else str(count)
            receipts.append({"入库单号": "", "采购订单号": o.number, "入库数量": told, "单据状态": state})
    r.shuffle(receipts)
    for place, row in enumerate(receipts):
        row["入库单号"] = f"RK{260300 + place}"
    bills: list[Row] = []
    for o in orders:
        told = mess.in_wan(o.billed) if o.wan else r.choice((mess.money, mess.thousands))(o.billed)
        row = {
            "发票号码": str(r.randint(10**7, 10**8 - 1)),
            "采购订单号": o.number,
            "价税合计": told,
            "金额单位": "万元" if o.wan else "元",
        }
        bills += [row, dict(row)] if o.twice else [row]
    r.shuffle(bills)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "采购订单导出", lines)
    mess.put_export(files, r, "入库明细", receipts, xlsx=scene.xlsx)
    mess.put_export(files, r, "发票台账", bills)
    return files


def _match_view(orders: list[_Order], flaws: Flaws) -> Answer:
    rows = []
    for o in orders:
        received = o.approved + (o.pending if "unapproved" in flaws else 0)
        if "full_width" in flaws and o.wide:
            received = 0
        billed = o.billed * (2 if o.twice and "duplicate" in flaws else 1)
        if "unit" in flaws and o.wan:
            billed = billed / 10_000
        gap = mess.half_up(billed - o.price * received)
        verdict = "一致" if gap == 0 else "多开" if gap > 0 else "少开"
        rows.append(
            {
                "采购订单号": o.number,
                "有效入库数量": str(received),
                "发票金额": mess.plain(billed),
                "差异金额": str(gap),
                "结论": verdict,
            }
        )
    return Answer(tables={"match": rows})


def _match(scene: Scene) -> Draft:
    orders = _orders(scene)
    files = _match_files(scene, orders)
    gold, adversarial, baseline = views(scene, lambda flaws: _match_view(orders, flaws))
    rules = Rules("all_or_nothing" if scene.level == 3 and scene.index % 2 else "itemised")
    rules.deliver(MATCH, [o.number for o in orders])
    rule = check_cells(scene, rules, MATCH, gold, adversarial, limit=14)
    say = scene.say
    instruction = spoken.ask(
        scene.rng,
        say(
            "供应商那边在催款，先把这批采购订单的订单、入库、发票三样对一遍，看看票开得对不对。",
            "这批采购发票付款前要核一下，订单、入库和发票都导出来放工作区了，帮我三单核对。",
            "付款申请卡在我这了，你把订单、入库、开票对一对，每张采购订单给我一个结论。",
        ),
        say("入库只认已经审核的单子；", "没审核的入库不能算；") + "应付按订单含税单价乘以有效入库数量，"
        "差异金额用发票金额减应付，结论写"
        + spoken.choices(MATCH.words["结论"])
        + "（差异为零是一致，票多了是多开，票少了是少开）。"
        + say("同一张发票要是导重了只算一次。", "台账里同一个发票号码只能算一回。")
        + "每张采购订单一行。",
        spoken.wanted(scene.rng, MATCH),
    )
    return Draft(
        ("采购三单核对", "Three-way match of orders, receipts and invoices"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=40,
    )


VOUCHERS = Table(
    "vouchers",
    ("凭证号",),
    {"凭证号": "text", "借方合计": "number", "贷方合计": "number", "差额": "number", "问题": "text"},
    file="异常凭证.csv",
    units={"借方合计": "元", "贷方合计": "元", "差额": "元"},
    words={"问题": ("借贷不平", "未过账", "借贷不平且未过账")},
)


@dataclass(frozen=True)
class _Voucher:
    number: str
    date: dt.date
    status: str
    debit: list[Decimal]
    credit: list[Decimal]
    wide: bool
    twice: bool

    def problem(self) -> str:
        uneven, open_ = sum(self.debit) != sum(self.credit), self.status == "未过账"
        if uneven and open_:
            return "借贷不平且未过账"
        return "借贷不平" if uneven else "未过账" if open_ else ""


def _vouchers(scene: Scene, month: dt.date) -> list[_Voucher]:
    r = scene.rng
    last = month.replace(day=28)
    earlier = month - dt.timedelta(days=28)
    made: list[_Voucher] = []
    count = scene.some(12, 22)
    for place in range(count):
        debit = [mess.amount(r, 200, 90_000) for _ in range(r.randint(1, 3))]
        whole = sum(debit, Decimal(0))
        credit = [whole] if r.random() < 0.5 else [mess.half_up(whole / 3), whole - mess.half_up(whole / 3)]
        bad = place % 3 == 0
        if bad and place % 2 == 0:
            credit[-1] -= r.choice((Decimal("0.09"), Decimal("9.00"), Decimal("270.00"), Decimal("63.00")))
        status = "未过账" if bad and place % 2 else "已过账"
        date = mess.day(r, month, last)
        if scene.has("period") and place % 5 == 4:
            date, status = mess.day(r, earlier, month - dt.timedelta(days=1)), "未过账"
        if scene.has("void") and place % 7 == 5:
            status, credit[-1] = "已作废", credit[-1] - 100
        if place == 6:
            status = "未过账"
        made.append(
            _Voucher(
                f"记-{place + 1:03d}",
                date,
                status,
                debit,
                credit,
                scene.has("full_width") and place % 6 == 1,
                scene.has("duplicate") and place % 6 == 2,
            )
        )
    return made


def _voucher_files(scene: Scene, vouchers: list[_Voucher]) -> dict[str, bytes]:
    r = scene.rng
    lines: list[Row] = []
    subjects = (
        "1002 银行存款",
        "1122 应收账款",
        "2202 应付账款",
        "6602 管理费用",
        "6001 主营业务收入",
        "1405 库存商品",
    )
    for v in vouchers:
        for place, (side, value) in enumerate(
            [("借", d) for d in v.debit] + [("贷", c) for c in v.credit], 1
        ):
            told = mess.wide(mess.money(value)) if v.wide else mess.thousands(value)
            row = {
                "凭证号": v.number,
                "分录号": str(place),
                "凭证日期": f"{v.date:%Y/%m/%d}",
                "科目": r.choice(subjects),
                "借方": told if side == "借" else "",
                "贷方": told if side == "贷" else "",
                "状态": v.status,
            }
            lines += [row, dict(row)] if v.twice and place == 1 else [row]
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "凭证分录", lines, xlsx=scene.xlsx)
    files["说明.txt"] = (
        "分录由系统分页导出，翻页处可能把同一条分录带出两次（凭证号和分录号都相同）。\n"
        "已作废的凭证保留号码，不参与检查。\n"
    ).encode()
    return files


def _voucher_view(vouchers: list[_Voucher], month: dt.date, flaws: Flaws) -> Answer:
    rows = []
    for v in vouchers:
        outside = (v.date.year, v.date.month) != (month.year, month.month)
        if (outside and "period" not in flaws) or (v.status == "已作废" and "void" not in flaws):
            continue
        debit = sum(v.debit, Decimal(0)) + (v.debit[0] if v.twice and "duplicate" in flaws else 0)
        if v.wide and "full_width" in flaws:
            debit = Decimal(0)
        credit = sum(v.credit, Decimal(0))
        gap = debit - credit
        problem = "借贷不平" if gap and v.status != "未过账" else "借贷不平且未过账" if gap else v.problem()
        if problem:
            rows.append(
                {
                    "凭证号": v.number,
                    "借方合计": str(debit),
                    "贷方合计": str(credit),
                    "差额": str(gap),
                    "问题": problem,
                }
            )
    return Answer(tables={"vouchers": rows})


def _balance_words(scene: Scene, month: dt.date) -> str:
    r, say = scene.rng, scene.say
    return spoken.ask(
        r,
        say(
            f"{month.month}月的账感觉不太对，结账前帮我查查{month:%Y年}{month.month}月有问题的凭证。",
            f"准备结{month:%Y年}{month.month}月的账了，先把这个月的凭证过一遍，挑出有问题的。",
            f"审计问{month:%Y年}{month.month}月的凭证有没有不平的、没过账的，你查一下列给我。",
        ),
        "有问题指两种：借贷不平、还没过账，两样都占就写全。问题一栏只写"
        + spoken.choices(VOUCHERS.words["问题"])
        + "，差额用借方减贷方（平的写 0）。"
        + say("只看这个月的，别的月份先不管。", "别的月份混进来的不要列。")
        + "没问题的不用列，只查不改。工作区里的说明也看一眼。",
        spoken.wanted(r, VOUCHERS),
    )


def _balance(scene: Scene) -> Draft:
    r = scene.rng
    month = dt.date(2026, r.randint(2, 9), 1)
    vouchers = _vouchers(scene, month)
    files = _voucher_files(scene, vouchers)
    gold, adversarial, baseline = views(scene, lambda flaws: _voucher_view(vouchers, month, flaws))
    rules = Rules()
    rules.deliver(VOUCHERS)
    rule = rules.keys(VOUCHERS, [row["凭证号"] for row in gold.tables["vouchers"]], trap=scene.trap)
    rule = (
        check_cells(scene, rules, VOUCHERS, gold, adversarial, limit=9, columns=("差额", "问题", "借方合计"))
        or rule
    )
    voided = [v.number for v in vouchers if v.status == "已作废"]
    if voided and scene.trap != "void":
        at = {"table": "vouchers", "column": "凭证号"}
        rules.forbid({"check": "set", "at": at, "excludes": voided}, "void")
    good = [v for v in vouchers if v.number not in {row["凭证号"] for row in gold.tables["vouchers"]}]
    baseline.tables["vouchers"] = [
        {
            "凭证号": v.number,
            "借方合计": str(sum(v.debit)),
            "贷方合计": str(sum(v.credit)),
            "差额": "0.00",
            "问题": "未过账",
        }
        for v in good[:5]
    ]
    instruction = _balance_words(scene, month)
    return Draft(
        ("月末异常凭证排查", "Unbalanced and unposted vouchers at month end"),
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
        "fin-three-way-match",
        "finance",
        "payable",
        "document",
        ("duplicate", "unit", "unapproved", "full_width"),
        _match,
        "应付会计",
        "付款审核",
        "high",
        xlsx_every=4,
    ),
    Family(
        "fin-voucher-balance",
        "finance",
        "voucher",
        "query",
        ("period", "void", "duplicate", "full_width"),
        _balance,
        "总账会计",
        "月末检查",
        "high",
        xlsx_every=4,
    ),
)
