"""Accounting work: matching, vouchers, ageing, depreciation."""

import re
from datetime import date
from decimal import Decimal

from tables import cents, half, number, once


def day(text):
    """A date written with dashes, slashes or dots."""
    return date(*map(int, re.findall(r"[0-9]+", half(text))[:3]))


def three_way_match(work):
    """Orders against receipts and invoices. Receipts are summed as they stand."""
    got, billed = {}, {}
    for row in once(work.rows("入库明细"), "入库单号"):
        got[row["采购订单号"]] = got.get(row["采购订单号"], 0) + number(row["入库数量"], 0)
    for row in once(work.rows("发票台账"), "发票号码"):
        factor = 10000 if half(row["金额单位"]) == "万元" else 1
        billed[row["采购订单号"]] = billed.get(row["采购订单号"], 0) + number(row["价税合计"], 0) * factor
    rows = []
    for order in work.rows("采购订单导出"):
        key = order["采购订单号"]
        gap = cents(billed.get(key, Decimal(0)) - number(order["含税单价"]) * got.get(key, 0))
        rows.append(
            (
                key,
                got.get(key, 0),
                billed.get(key, 0),
                gap,
                "一致" if gap == 0 else "多开" if gap > 0 else "少开",
            )
        )
    work.table("三单核对结果.csv", ("采购订单号", "有效入库数量", "发票金额", "差异金额", "结论"), rows)


def vouchers(work):
    """Vouchers of the month that are uneven or not posted."""
    year, month = map(int, re.search(r"(20[0-9]{2})年([0-9]+)月", work.text).groups())
    sums = {}
    for row in once(work.rows("凭证分录"), "凭证号", "分录号"):
        when = day(row["凭证日期"])
        if (when.year, when.month) != (year, month) or row["状态"] == "已作废":
            continue
        entry = sums.setdefault(row["凭证号"], [Decimal(0), Decimal(0), row["状态"]])
        entry[0] += number(row["借方"], Decimal(0))
        entry[1] += number(row["贷方"], Decimal(0))
    rows = []
    for key, (debit, credit, state) in sums.items():
        words = ["借贷不平"] * (debit != credit) + ["未过账"] * (state == "未过账")
        if words:
            rows.append((key, debit, credit, debit - credit, "且".join(words)))
    work.table("异常凭证.csv", ("凭证号", "借方合计", "贷方合计", "差额", "问题"), rows)


BUCKETS = ("未到期", "1-30天", "31-60天", "61-90天", "90天以上")


def ageing(work):
    """Open receivables by customer and days overdue. A bill without a due date counts from its issue."""
    found = re.search(r"(20[0-9]{2})[-年]([0-9]+)[-月]([0-9]+)", work.text)
    cut = date(*map(int, found.groups()))
    paid = {}
    for row in work.rows("收款核销"):
        if day(row["收款日期"]) <= cut:
            paid[row["核销单据"]] = paid.get(row["核销单据"], 0) + number(row["核销金额"])
    sums = {row["客户"]: dict.fromkeys(BUCKETS, Decimal(0)) for row in work.rows("客户档案")}
    for row in once(work.rows("应收单"), "单据号"):
        late = (cut - day(row["到期日"] or row["开票日期"])).days
        place = 0 if late <= 0 else min(4, (late - 1) // 30 + 1)
        sums[row["客户"]][BUCKETS[place]] += number(row["金额"]) - paid.get(row["单据号"], 0)
    rows = [
        (customer, *(cents(v) for v in parts.values()), cents(sum(parts.values())))
        for customer, parts in sums.items()
    ]
    work.table("应收账龄.csv", ("客户", *BUCKETS, "应收余额"), rows)


def depreciation(work):
    """Straight-line depreciation of the month by the policy's lives; a missing residual rate counts as none."""
    year, month = re.search(r"(20[0-9]{2})年([0-9]+)月", work.text), re.search(r"([0-9]+)月", work.text)
    when = (
        (int(year[1]), int(year[2])) if year else (int(re.search(r"20[0-9]{2}", work.text)[0]), int(month[1]))
    )
    lives = {
        k: int(m) for k, m in re.findall(r"\| (\S+) \| ([0-9]+) \| [0-9]+% \|", work.read("折旧办法.md"))
    }
    rows = []
    for card in work.rows("固定资产卡片"):
        if card["卡片状态"] != "在用":
            continue
        value = number(card["原值"]) * (10000 if card["金额单位"] == "万元" else 1)
        rate, life, start = number(card["残值率"], Decimal(0)), lives[card["类别"]], day(card["入账日期"])
        monthly = cents(value * (100 - rate) / 100 / life)
        months = (when[0] - start.year) * 12 + when[1] - start.month
        now = monthly if 0 < months <= life else Decimal(0)
        total = cents(value * (100 - rate) / 100) if months >= life else monthly * max(0, months)
        rows.append((card["资产编号"], now, total))
    work.table("折旧计提.csv", ("资产编号", "本月折旧", "累计折旧"), rows)
