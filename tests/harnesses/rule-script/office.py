"""Everyday data work: budgets, year on year, list cleaning, database dumps."""

import re
from decimal import Decimal

from tables import cents, half, number, once, percent

UNKNOWN = "无法计算"


def overrun(work):
    """Budget against spending of the quarter; the worst department by subject when asked."""
    budgets, quarter = {}, 0
    for row in work.rows("部门预算"):
        quarter = int(row["季度"][-1])
        value = number(row["预算（万元）"])
        budgets.setdefault(row["部门"], {})
        if value is not None:
            budgets[row["部门"]][row["科目"]] = value * 10000
    months = {f"2026-{m:02d}" for m in range(quarter * 3 - 2, quarter * 3 + 1)}
    spent = {}
    for row in once(work.rows("费用明细"), "凭证"):
        if row["期间"] in months:
            subjects = spent.setdefault(row["部门"], {})
            subjects[row["科目"]] = subjects.get(row["科目"], 0) + number(row["金额（元）"])
    rows, rates = [], {}
    for name, plan in budgets.items():
        actual, budget = sum(spent.get(name, {}).values()), sum(plan.values())
        if not plan:
            rows.append((name, UNKNOWN, actual, UNKNOWN))
            continue
        rates[name] = (actual - budget) / budget
        rows.append((name, budget, actual, percent(actual - budget, budget)))
    work.table("部门超支.csv", ("部门", "预算", "实际", "超支率"), rows)
    if work.turns:
        worst = max(rates, key=rates.get)
        gaps = {s: spent[worst].get(s, 0) - b for s, b in budgets[worst].items()}
        over = sorted((s for s in gaps if gaps[s] > 0), key=lambda s: -gaps[s])
        work.table("超支科目.csv", ("科目", "超支金额"), [(s, cents(gaps[s])) for s in over])


def trend(work):
    """This month against the same month of last year by region. Refunds are added like sales."""
    month = re.search(r"([0-9]+) ?月", work.text)[1]
    sums = {}
    for year in (2025, 2026):
        for row in once(work.rows(f"{year}年销售流水"), "单号"):
            if f"年{month}月" in row["日期"]:
                key = (row["大区"].removesuffix("区"), year)
                sums[key] = sums.get(key, 0) + number(row["金额"])
    rows = []
    for region in sorted({region for region, _ in sums}):
        now, before = sums.get((region, 2026), Decimal(0)), sums.get((region, 2025))
        if before is None:
            rows.append((region, now / 10000, UNKNOWN, UNKNOWN))
        else:
            rows.append((region, now / 10000, before / 10000, percent(now - before, before)))
    work.answer_table(("大区", "本期销售额", "去年同期", "同比"), rows)


def contacts(work):
    """One clean line for each customer. The first line met is kept; empty limits become 0."""
    rows = []
    for row in once(work.rows("客户名单_汇总"), "客户编号"):
        phone = re.sub(r"[^0-9]", "", half(row["手机"]))[-11:]
        limit = number(row["信用额度"], 0)
        rows.append(
            (half(row["客户编号"]), half(row["客户名称"]), phone, row["城市"].removesuffix("市"), limit)
        )
    work.table("清洗后客户.csv", ("客户编号", "客户名称", "手机", "城市", "信用额度"), rows)


def dump(work):
    """Paid large orders of June from an SQL dump."""
    import sqlite3

    floor = int(re.search(r"不低于 ([0-9]+) 元", work.text)[1])
    base = sqlite3.connect(":memory:")
    base.executescript(work.read("业务库备份.sql"))
    query = """
        SELECT o.no, c.name, s.name, o.amount FROM orders o
        JOIN customer c ON c.id = o.customer_id JOIN staff s ON s.id = c.owner_id
        WHERE o.is_test = 0 AND o.created LIKE '2026-06%' AND o.amount >= ? * 100 AND
        (SELECT status FROM order_status t WHERE t.no = o.no ORDER BY seq DESC LIMIT 1) = '已付款'"""
    rows = [
        (no, name, owner, cents(Decimal(amount) / 100))
        for no, name, owner, amount in base.execute(query, (floor,))
    ]
    work.table("筛选结果.csv", ("订单号", "客户", "负责人", "金额"), rows)
