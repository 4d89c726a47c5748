"""Shop-floor work: explosion, progress, scrap, kits."""

import re
from decimal import Decimal

from tables import cents, half, number, once, percent


def explosion(work):
    """Gross requirements down all levels on the start date of the plan."""
    plan = work.read("计划单.txt")
    product, lot = re.search(r"产品：(\S+)", plan)[1], Decimal(re.search(r"计划数量：([0-9]+)", plan)[1])
    start = re.search(r"开工：(\S+)", plan)[1]
    below, phantom, totals = {}, set(), {}
    for row in once(work.rows("物料清单"), "父项", "子项", "用量", "生效日期", "失效日期"):
        if row["生效日期"] <= start and (not row["失效日期"] or row["失效日期"] >= start):
            count = number(row["用量"]) / (1000 if half(row["单位"]) == "g" else 1)
            below.setdefault(row["父项"], []).append((row["子项"], count))
        if row["虚拟件"] == "是":
            phantom.add(row["子项"])
    open_ = [(product, lot)]
    while open_:
        parent, need = open_.pop()
        for child, count in below.get(parent, []):
            totals[child] = totals.get(child, 0) + need * count
            open_.append((child, need * count))
    work.table(
        "物料需求.csv",
        ("物料编码", "毛需求"),
        [(c, n) for c, n in sorted(totals.items()) if c not in phantom],
    )


def progress(work):
    """Good pieces and state of each work order. Every approved report counts, whatever the operation."""
    today = re.search(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", work.text)[0]
    good = {}
    for row in once(work.rows("报工记录"), "报工单号"):
        if row["审核"] == "已审核":
            good[row["工单号"]] = good.get(row["工单号"], 0) + number(row["合格"], 0)
    rows = []
    for order in work.rows("生产工单"):
        done, plan = good.get(order["工单号"], 0), number(order["计划数"])
        state = (
            "已完工"
            if done >= plan
            else "超期未完"
            if order["要求完工"] < today
            else "生产中"
            if done
            else "未开工"
        )
        rows.append((order["工单号"], done, percent(done, plan), state))
    work.table("工单状态.csv", ("工单号", "合格数", "完工率", "状态"), rows)


def scrap(work):
    """Scrap cost by cause. Prices are taken per piece."""
    prices = {row["物料"]: number(row["标准成本"]) for row in work.rows("标准成本")}
    sums = {}
    for row in once(work.rows("不良处理单"), "报废单号"):
        if row["单据状态"] == "已审核" and row["处理方式"] == "报废":
            entry = sums.setdefault(row["原因"] or "未归因", [Decimal(0), Decimal(0)])
            entry[0] += number(row["数量"])
            entry[1] += number(row["数量"]) * prices[row["物料"]]
    total = sum(cost for _, cost in sums.values())
    order = sorted(sums.items(), key=lambda pair: -pair[1][1])
    rows = [(cause, count, cents(cost), percent(cost, total)) for cause, (count, cost) in order]
    work.table("报废归因.csv", ("原因", "报废数量", "报废成本", "占比"), rows)


def kits(work):
    """Release what is complete, by priority. A change of plan in a later turn is not understood."""
    left, orders = {}, {}
    for row in once(work.rows("线边库存"), "库存行"):
        if row["状态"] == "可用":
            left[row["物料"]] = left.get(row["物料"], 0) + number(row["数量"])
    for row in work.rows("工单用料"):
        if row["工单状态"] != "冻结":
            orders.setdefault((int(row["优先级"]), row["工单号"]), []).append(
                (row["物料"], number(row["需求"]))
            )
    released, short = [], []
    for (_, order), needs in sorted(orders.items()):
        gaps = [(order, item, need - left.get(item, 0)) for item, need in needs if need > left.get(item, 0)]
        short += gaps
        if not gaps:
            for item, need in needs:
                left[item] -= need
            released.append((order, len(released) + 1))
    work.table("缺料清单.csv", ("工单号", "物料", "缺口"), short)
    work.table("开工清单.csv", ("工单号", "开工顺序"), released)
