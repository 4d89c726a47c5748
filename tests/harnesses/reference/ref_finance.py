"""Careful accounting routines."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from decimal import Decimal

from finance import BUCKETS, day
from tables import Work, cents, half, number, once


def three_way_match(work: Work) -> None:
    """Only approved receipts count."""
    got: dict[str, Decimal] = {}
    billed: dict[str, Decimal] = {}
    for row in once(work.rows("入库明细"), "入库单号"):
        if row["单据状态"] == "已审核":
            got[row["采购订单号"]] = got.get(row["采购订单号"], Decimal(0)) + number(row["入库数量"])
    for row in once(work.rows("发票台账"), "发票号码"):
        factor = 10000 if row["金额单位"] == "万元" else 1
        billed[row["采购订单号"]] = (
            billed.get(row["采购订单号"], Decimal(0)) + number(row["价税合计"]) * factor
        )
    rows = []
    for order in work.rows("采购订单导出"):
        key = order["采购订单号"]
        gap = cents(billed[key] - number(order["含税单价"]) * got[key])
        rows.append((key, got[key], billed[key], gap, "一致" if gap == 0 else "多开" if gap > 0 else "少开"))
    work.table("三单核对结果.csv", ("采购订单号", "有效入库数量", "发票金额", "差异金额", "结论"), rows)


def ageing(work: Work) -> None:
    """A missing due date is the issue date plus the customer's terms."""
    found = re.search(r"(20[0-9]{2})[-年]([0-9]+)[-月]([0-9]+)", work.text)
    assert found
    cut = date(int(found[1]), int(found[2]), int(found[3]))
    terms = {row["客户"]: int(row["信用天数"]) for row in work.rows("客户档案")}
    sums = {customer: dict.fromkeys(BUCKETS, Decimal(0)) for customer in terms}
    paid: dict[str, Decimal] = {}
    for row in work.rows("收款核销"):
        if day(row["收款日期"]) <= cut:
            paid[row["核销单据"]] = paid.get(row["核销单据"], Decimal(0)) + number(row["核销金额"])
    for row in once(work.rows("应收单"), "单据号"):
        due = (
            day(row["到期日"]) if row["到期日"] else day(row["开票日期"]) + timedelta(days=terms[row["客户"]])
        )
        late = (cut - due).days
        place = 0 if late <= 0 else 1 if late <= 30 else 2 if late <= 60 else 3 if late <= 90 else 4
        sums[row["客户"]][BUCKETS[place]] += number(row["金额"]) - paid.get(row["单据号"], 0)
    rows = [(c, *(cents(v) for v in parts.values()), cents(sum(parts.values()))) for c, parts in sums.items()]
    work.table("应收账龄.csv", ("客户", *BUCKETS, "应收余额"), rows)


def bank(work: Work) -> None:
    """Open items of the month and the adjusted balance, from both sides."""
    found = re.search(r"只做(20[0-9]{2})年([0-9]+)月", work.text)
    assert found
    month = (int(found[1]), int(found[2]))
    statement: dict[str, Decimal] = {}
    ledger: dict[str, Decimal] = {}
    for row in once(work.rows("银行对账单"), "流水号"):
        if (int(row["交易日期"][:4]), int(row["交易日期"][4:6])) == month:
            statement[row["流水号"]] = number(row["收入"], Decimal(0)) - number(row["支出"], Decimal(0))
    for row in work.rows("银行存款日记账"):
        when = day(row["记账日期"])
        assert (when.year, when.month) == month
        ledger[row["银行流水号"]] = number(row["借方（收）"], Decimal(0)) - number(
            row["贷方（付）"], Decimal(0)
        )
    rows = []
    for key in sorted(set(statement) ^ set(ledger)):
        value = statement.get(key, ledger.get(key, Decimal(0)))
        side = ("银", "企") if key in statement else ("企", "银")
        rows.append(
            (
                key,
                f"{side[0]}{'收' if value > 0 else '付'}{side[1]}未{'收' if value > 0 else '付'}",
                abs(value),
            )
        )
    told = dict(re.findall(r"(\S+)期末余额：(.+)", work.read("余额.txt")))
    ends = number(told["对账单"]), number(told["日记账"])
    adjusted = ends[1] + sum(v for k, v in statement.items() if k not in ledger)
    assert adjusted == ends[0] + sum(v for k, v in ledger.items() if k not in statement)
    sheet = {"银行余额": ends[0], "企业余额": ends[1], "调节后余额": adjusted, "未达笔数": len(rows)}
    text = json.dumps({k: str(v) for k, v in sheet.items()}, ensure_ascii=False)
    (work.root / "余额调节表.json").write_text(text, encoding="utf-8")
    work.table("未达账项.csv", ("流水号", "类型", "金额"), rows)


def depreciation(work: Work) -> None:
    """A card without a residual rate takes that of its class."""
    months = re.search(r"([0-9]+)月", work.text), re.search(r"20[0-9]{2}", work.text)
    assert months[0]
    assert months[1]
    when = int(months[1][0]) * 12 + int(months[0][1])
    policy = {
        kind: (int(life), Decimal(rate))
        for kind, life, rate in re.findall(r"\| (\S+) \| ([0-9]+) \| ([0-9]+)% \|", work.read("折旧办法.md"))
    }
    rows = []
    for card in work.rows("固定资产卡片"):
        if card["卡片状态"] != "在用":
            continue
        life, usual = policy[card["类别"]]
        base = number(card["原值"]) * (10000 if card["金额单位"] == "万元" else 1)
        base = base * (100 - number(card["残值率"], usual)) / 100
        start = day(card["入账日期"])
        passed = when - start.year * 12 - start.month
        now = cents(base / life) if 0 < passed <= life else Decimal(0)
        total = cents(base) if passed >= life else cents(base / life) * max(passed, 0)
        rows.append((card["资产编号"], now, total))
    work.table("折旧计提.csv", ("资产编号", "本月折旧", "累计折旧"), rows)


def close(work: Work) -> None:
    """Last state of each step; income and cost of the month."""
    found = re.search(r"只要当月的|别的期间", work.text)
    assert found
    steps = re.search(r"结账前要完成：(.+?)。", work.read("结账须知.md"))
    month = re.search(r"损益净额是([0-9]+)月", work.text)
    year = re.search(r"20[0-9]{2}", work.text)
    assert steps
    assert month
    assert year
    last: dict[tuple[str, str], tuple[str, str]] = {}
    for row in work.rows("结账事项流水"):
        key = (row["组织"], row["事项"])
        last[key] = max(last.get(key, ("", "")), (row["时间"], row["状态"]))
    net: dict[str, Decimal] = {}
    for row in work.rows("损益发生额"):
        if half(row["期间"]) == f"{year[0]}-{int(month[1]):02d}":
            sign = 1 if row["类别"] == "收入" else -1
            net[row["组织"]] = net.get(row["组织"], Decimal(0)) + number(row["金额"]) * sign
    rows = []
    for unit, value in net.items():
        missing = [s for s in steps[1].split("、") if last.get((unit, s), ("", ""))[1] != "完成"]
        rows.append((unit, "暂不结账" if missing else "可以结账", "、".join(missing) or "无", cents(value)))
    work.table("结账检查.csv", ("组织", "结论", "未完成项", "损益净额"), rows)
