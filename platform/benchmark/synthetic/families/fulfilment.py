"""Supply chain: order-to-receipt linkage; returns and on-time rate by customer."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
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

OPEN = Table(
    "open",
    ("订单行",),
    {"订单行": "text", "累计到货": "number", "未到数量": "number", "状态": "text"},
    file="到货跟踪.csv",
    words={"状态": ("未到货", "部分到货", "已到齐", "超收")},
)


@dataclass(frozen=True)
class _Line:
    key: str
    item: str
    ordered: int
    receipts: list[tuple[int, str]]
    returned: int
    twice: bool
    boxed: int


def _lines(scene: Scene) -> list[_Line]:
    r = scene.rng
    lines = []
    numbers = names.codes(r, "CG", scene.some(4, 7), 5)
    for place in range(scene.some(8, 14)):
        box = r.choice((10, 12, 20)) if scene.has("unit") and place % 4 == 1 else 0
        step = box or 1
        ordered = r.randint(10, 40) * (box or 5)
        kind = r.choice(("none", "part", "full", "full", "over"))
        if place < 3:
            kind = ("part", "full", "full")[place]
        total = {"none": 0, "part": ordered // 2 // step * step, "full": ordered, "over": ordered + step * 2}[
            kind
        ]
        first = total // 2 // step * step
        receipts = [(first, "已审核"), (total - first, "已审核")] if total else []
        if scene.has("unapproved") and place % 4 == 0:
            receipts.append((r.randint(1, 9) * step, "草稿"))
        returned = r.randint(1, 3) * step if scene.has("returned") and total and place % 3 == 2 else 0
        lines.append(
            _Line(
                f"{numbers[place % len(numbers)]}-{place // len(numbers) + 1}",
                names.material(r),
                ordered,
                receipts,
                returned,
                scene.has("duplicate") and total > 0 and place % 4 != 3,
                box,
            )
        )
    return lines


def _line_files(scene: Scene, lines: list[_Line]) -> dict[str, bytes]:
    r = scene.rng
    orders = [
        {
            "订单号": x.key.split("-")[0],
            "行号": x.key.split("-")[1],
            "物料": x.item,
            "订购数量（件）": str(x.ordered),
            "每箱件数": str(x.boxed or ""),
        }
        for x in sorted(lines, key=lambda x: x.key)
    ]
    arrivals: list[Row] = []
    number = 40_000 + r.randint(0, 999)
    for x in lines:
        moves = [(c, s, "收货") for c, s in x.receipts] + [(x.returned, "已审核", "退货")] * bool(x.returned)
        for place, (count, state, kind) in enumerate(moves):
            number += r.randint(1, 4)
            row = {
                "收货单号": f"SH{number}",
                "类型": kind,
                "来源订单": x.key.split("-")[0],
                "来源行": x.key.split("-")[1],
                "数量": str(count // x.boxed if x.boxed else count),
                "单位": "箱" if x.boxed else "件",
                "单据状态": state,
            }
            arrivals += [row, dict(row)] if x.twice and place == 0 else [row]
    r.shuffle(arrivals)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "采购订单行", orders)
    mess.put_export(files, r, "收退货记录", arrivals, xlsx=scene.xlsx)
    return files


def _line_view(lines: list[_Line], flaws: Flaws) -> Answer:
    rows = []
    for x in lines:
        scale = Decimal(1) / x.boxed if x.boxed and "unit" in flaws else Decimal(1)
        total = sum(c for c, s in x.receipts if s == "已审核" or "unapproved" in flaws)
        if x.twice and "duplicate" in flaws:
            total += x.receipts[0][0]
        if "returned" not in flaws:
            total -= x.returned
        got = total * scale
        state = (
            "未到货"
            if got <= 0
            else "部分到货"
            if got < x.ordered
            else "已到齐"
            if got == x.ordered
            else "超收"
        )
        rows.append(
            {
                "订单行": x.key,
                "累计到货": mess.plain(got),
                "未到数量": mess.plain(max(Decimal(0), x.ordered - got)),
                "状态": state,
            }
        )
    return Answer(tables={"open": rows})


def _linkage(scene: Scene) -> Draft:
    r = scene.rng
    lines = _lines(scene)
    files = _line_files(scene, lines)
    gold, adversarial, baseline = views(scene, lambda flaws: _line_view(lines, flaws))
    rules = Rules("all_or_nothing" if scene.index % 7 == 0 else "itemised")
    rules.deliver(OPEN, [x.key for x in lines])
    rule = check_cells(scene, rules, OPEN, gold, adversarial, limit=15)
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            "供应商说货都送齐了，我这边总觉得还差，帮我查查每条订单行到了多少。",
            "跟单要用：每张采购订单的每一行到底收了多少、还差多少，理一下。",
            "生产在催料，你把采购订单和收货对上，看哪些还没到齐。",
        ),
        say("收货单没审核的不作数，", "草稿状态的收货不算，")
        + "退货要扣掉，"
        + say("同一个收货单号导出来两遍的只算一次，", "收货单号重复的是导重了，")
        + "数量一律折成件。订单行写成“订单号-行号”，状态写"
        + spoken.choices(OPEN.words["状态"])
        + "，超收的未到数量写 0。",
        spoken.wanted(r, OPEN),
    )
    return Draft(
        ("采购到货跟踪", "Order-to-receipt linkage"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=35,
    )


SERVICE = Table(
    "service",
    ("客户",),
    {"客户": "text", "订单数": "number", "准时率": "number", "退货率": "number"},
)


@dataclass(frozen=True)
class _Sale:
    number: str
    customer: str
    approved: dt.date | None
    created: dt.date
    promised: dt.date
    shipped: dt.date | None
    pieces: int
    back: list[tuple[dt.date, int]] = field(default_factory=list)
    twice: bool = False


def _sales(scene: Scene, customers: list[str], month: dt.date) -> list[_Sale]:
    r = scene.rng
    last = month.replace(day=28)
    sales = []
    for place, number in enumerate(names.codes(r, "XD", scene.some(22, 40), 6)):
        customer = customers[place % (len(customers) - 1)]
        approved: dt.date | None = mess.day(r, month, month.replace(day=21))
        created = mess.day(r, month, month.replace(day=21))
        if scene.has("period") and place % 5 == 0:
            approved = month - dt.timedelta(days=r.randint(1, 9))
            created = approved - dt.timedelta(days=1)
        elif scene.has("unapproved") and place % 5 == 1:
            approved = None
        base = approved or created
        # Promised inside the month, so that the cut-off day and the promise never contradict each other.
        promised = base + dt.timedelta(days=r.randint(2, 6))
        shipped: dt.date | None = promised + dt.timedelta(days=r.choice((-1, 0, 0, 0, 1, 3)))
        if scene.has("missing_not_zero") and place % 4 == 2:
            shipped = None
        pieces = r.randint(10, 300)
        back = (
            [(mess.day(r, base, last + dt.timedelta(days=2)), r.randint(1, pieces // 3))]
            if r.random() < 0.3
            else []
        )
        sales.append(
            _Sale(
                number,
                customer,
                approved,
                created,
                promised,
                shipped,
                pieces,
                back,
                scene.has("duplicate") and place % 6 == 3,
            )
        )
    return sales


def _sale_files(scene: Scene, sales: list[_Sale], customers: list[str]) -> dict[str, bytes]:
    r = scene.rng
    orders: list[Row] = []
    for s in sales:
        row = {
            "订单号": s.number,
            "客户": s.customer,
            "制单日期": f"{s.created:%Y-%m-%d}",
            "审核日期": f"{s.approved:%Y-%m-%d}" if s.approved else "",
            "状态": "已审核" if s.approved else "未审核",
            "承诺交期": f"{s.promised:%Y/%m/%d}",
            "实际发货": f"{s.shipped:%Y/%m/%d}" if s.shipped else "",
            "数量": str(s.pieces),
        }
        orders += [row, dict(row)] if s.twice else [row]
    r.shuffle(orders)
    returns = [
        {"退货日期": f"{d:%Y-%m-%d}", "原订单号": s.number, "退货数量": str(c)}
        for s in sales
        for d, c in s.back
    ]
    r.shuffle(returns)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "销售订单", orders, xlsx=scene.xlsx)
    mess.put_export(
        files, r, "退货单", returns or [{"退货日期": "2026-01-01", "原订单号": "无", "退货数量": "0"}]
    )
    mess.put_export(files, r, "重点客户", [{"序号": str(n), "客户": c} for n, c in enumerate(customers, 1)])
    return files


def _service_view(sales: list[_Sale], customers: list[str], month: dt.date, flaws: Flaws) -> Answer:
    rows = []
    for customer in customers:
        own: list[_Sale] = []
        for s in sales:
            inside = s.approved is not None and s.approved.month == month.month
            wanted = (
                inside
                or (s.approved is None and "unapproved" in flaws)
                or (s.approved is not None and "period" in flaws)
            )
            if s.customer == customer and wanted:
                own += [s, s] if s.twice and "duplicate" in flaws else [s]
        if not own:
            rows.append({"客户": customer, "订单数": "0", "准时率": CANNOT, "退货率": CANNOT})
            continue
        judged = [s for s in own if s.shipped is not None] if "missing_not_zero" in flaws else own
        good = sum(1 for s in judged if s.shipped is not None and s.shipped <= s.promised)
        back = sum(c for s in own for _, c in s.back)
        rows.append(
            {
                "客户": customer,
                "订单数": str(len(own)),
                "准时率": mess.percent(Decimal(good), Decimal(len(judged) or 1)),
                "退货率": mess.percent(Decimal(back), Decimal(sum(s.pieces for s in own))),
            }
        )
    return Answer(tables={"service": rows})


def _service(scene: Scene) -> Draft:
    r = scene.rng
    month = dt.date(2026, r.randint(2, 10), 1)
    customers = names.companies(r, scene.some(5, 7))
    sales = _sales(scene, customers, month)
    files = _sale_files(scene, sales, customers)
    gold, adversarial, baseline = views(scene, lambda flaws: _service_view(sales, customers, month, flaws))
    rules = Rules()
    rules.deliver(SERVICE, customers)
    rule = check_cells(scene, rules, SERVICE, gold, adversarial, limit=14)
    cut = month.replace(day=28) + dt.timedelta(days=4)
    cut = cut.replace(day=1) - dt.timedelta(days=1)
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            f"销售月会要讲{month:%Y年}{month.month}月的交付，按重点客户把准时率和退货率算给我。",
            f"帮我看看{month:%Y年}{month.month}月各重点客户交货准不准、退了多少。",
            f"{month.month}月（{month.year}年）的客户服务指标该报了，重点客户一家一行。",
        ),
        f"订单按审核日期归月，没审核的不算。截止{cut:%Y-%m-%d}还没发的按没准时算，"
        + say("订单号一样的是重复行。", "重复导出的订单只算一张。")
        + "退货率用这些订单的退货件数除以订购件数。比率写成百分数、留一位小数；"
        f"没有订单的客户订单数写 0，两个比率写“{CANNOT}”。",
        spoken.wanted(r, SERVICE),
    )
    return Draft(
        (f"{month.month}月客户准时率与退货率", f"On-time and return rate of month {month.month}"),
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
        "sc-order-receipt",
        "supply_chain",
        "purchase",
        "query",
        ("duplicate", "unapproved", "returned", "unit"),
        _linkage,
        "采购员",
        "到货跟踪",
        "medium",
        xlsx_every=4,
    ),
    Family(
        "sc-service-rates",
        "supply_chain",
        "sales",
        "analysis",
        ("period", "unapproved", "missing_not_zero", "duplicate"),
        _service,
        "销售运营",
        "月度复盘",
        "medium",
        xlsx_every=5,
    ),
)
