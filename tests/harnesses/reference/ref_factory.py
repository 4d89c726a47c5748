"""Careful shop-floor routines."""

from __future__ import annotations

import re
from decimal import Decimal

from tables import Work, cents, number, once, percent


def progress(work: Work) -> None:
    """Approved reports of the last operation."""
    good: dict[str, Decimal] = {}
    for row in once(work.rows("报工记录"), "报工单号"):
        if row["审核"] == "已审核" and row["工序"] == "末道":
            good[row["工单号"]] = good.get(row["工单号"], Decimal(0)) + number(row["合格"])
    rows = []
    for order in work.rows("生产工单"):
        done, plan = good.get(order["工单号"], Decimal(0)), number(order["计划数"])
        late = order["要求完工"] < "2026-06-10"
        state = "已完工" if done >= plan else "超期未完" if late else "生产中" if done else "未开工"
        rows.append((order["工单号"], done, percent(done, plan), state))
    work.table("工单状态.csv", ("工单号", "合格数", "完工率", "状态"), rows)


def two_days(work: Work) -> None:
    """First inspections by batch, patrols by row."""
    days = sorted(re.findall(r"2026-[0-9]{2}-[0-9]{2}", work.text))[:2]
    batches: dict[tuple[str, str, str], set[str]] = {}
    for row in work.rows("首检记录"):
        if row["单据状态"] == "已审核":
            batches.setdefault((row["日期"], row["检验单号"], row["计划行"]), set()).add(row["结果"])
    patrols = [r for r in once(work.rows("巡检记录"), "巡检单号") if r["单据状态"] == "已审核"]
    columns, steps = [], sorted({r["工序"] for r in once(work.rows("巡检记录"), "巡检单号")})
    rates: dict[str, list[str]] = {s: [] for s in steps}
    for day in days:
        own = [r for r in patrols if r["日期"].replace("/", "-") == day]
        bad = [r for r in own if number(r["拒收数"], 0) > 0]
        first = [results for key, results in batches.items() if key[0] == day]
        good = sum(results == {"B"} for results in first)
        columns.append((percent(good, len(first)), len(own), len(bad), percent(len(bad), len(own))))
        for step in steps:
            total = sum(r["工序"] == step for r in own)
            hit = sum(r["工序"] == step for r in bad)
            rates[step].append(percent(hit, total) if total else "无法计算")
    names = ("首检合格率", "巡检记录数", "巡检异常数", "巡检异常率")
    work.answer_table(
        ("指标", "前一天", "后一天"), [(n, a, b) for n, a, b in zip(names, *columns, strict=True)]
    )
    first_table = work.reply_file.read_text(encoding="utf-8")
    work.answer_table(("工序", "前一天异常率", "后一天异常率"), [(s, *r) for s, r in rates.items()])
    work.answer(first_table + "\n" + work.reply_file.read_text(encoding="utf-8"))


def scrap(work: Work) -> None:
    """Scrap cost by cause, prices by their unit."""
    prices: dict[str, Decimal] = {}
    for row in work.rows("标准成本"):
        per = re.search(r"/([0-9]+)件", row["计价单位"])
        prices[row["物料"]] = number(row["标准成本"]) / (int(per[1]) if per else 1)
    sums: dict[str, list[Decimal]] = {}
    for row in once(work.rows("不良处理单"), "报废单号"):
        if row["单据状态"] == "已审核" and row["处理方式"] == "报废":
            entry = sums.setdefault(row["原因"] or "未归因", [Decimal(0), Decimal(0)])
            entry[0] += number(row["数量"])
            entry[1] += number(row["数量"]) * prices[row["物料"]]
    total = sum(cost for _, cost in sums.values())
    order = sorted(sums.items(), key=lambda pair: -pair[1][1])
    rows = [(cause, count, cents(cost), percent(cost, total)) for cause, (count, cost) in order]
    work.table("报废归因.csv", ("原因", "报废数量", "报废成本", "占比"), rows)


def capacity(work: Work) -> None:
    """Hours needed against hours there."""
    stops = dict(re.findall(r"- (\S+)：停机 ([0-9]+) 小时", work.read("设备科通知.md")))
    usual = re.search(r"没填效率的按 ([0-9]+)%", work.text)
    assert usual
    need: dict[str, Decimal] = {}
    for job in work.rows("本周工序任务"):
        if job["状态"] == "已下达":
            each = number(job["单件工时"]) / (60 if job["工时单位"] == "秒" else 1)
            minutes = number(job["数量"]) * each + number(job["准备时间（分钟）"])
            need[job["工作中心"]] = need.get(job["工作中心"], Decimal(0)) + minutes
    rows = []
    for centre in work.rows("工作中心"):
        name = centre["工作中心"]
        hours = number(centre["班次"]) * number(centre["每班小时"]) * number(centre["本周天数"]) - int(
            stops.get(name, 0)
        )
        able = hours * number(centre["效率"], Decimal(usual[1])) / 100
        load = cents(need.get(name, Decimal(0)) / 60)
        ratio = load * 100 / able
        rows.append(
            (
                name,
                able,
                load,
                percent(load, able),
                "超负荷" if ratio > 100 else "富余" if ratio < 60 else "正常",
            )
        )
    work.table("产能负荷.csv", ("工作中心", "可用工时", "负荷工时", "负荷率", "结论"), rows)


def kits(work: Work) -> None:
    """Release in order of priority, as changed by a later turn."""
    left: dict[str, Decimal] = {}
    for row in once(work.rows("线边库存"), "库存行"):
        if row["状态"] == "可用":
            left[row["物料"]] = left.get(row["物料"], Decimal(0)) + number(row["数量"])
    first = re.search(r"(MO[0-9]+) 提到最前面", "\n".join(work.turns))
    orders: dict[tuple[int, str], list[tuple[str, Decimal]]] = {}
    for row in work.rows("工单用料"):
        if row["工单状态"] != "冻结":
            rank = 0 if first and row["工单号"] == first[1] else int(row["优先级"])
            orders.setdefault((rank, row["工单号"]), []).append((row["物料"], number(row["需求"])))
    released: list[tuple[str, int]] = []
    short = []
    for (_, order), needs in sorted(orders.items()):
        gaps = [(order, i, n - left.get(i, Decimal(0))) for i, n in needs if n > left.get(i, Decimal(0))]
        short += gaps
        if not gaps:
            released.append((order, len(released) + 1))
            for item, count in needs:
                left[item] -= count
    work.table("缺料清单.csv", ("工单号", "物料", "缺口"), short)
    work.table("开工清单.csv", ("工单号", "开工顺序"), released)
