"""Warehouse, purchase and freight work."""

import re
from datetime import date
from decimal import Decimal
from math import ceil

from tables import cents, half, number, once


def lots(work):
    """First expired, first out, under the shipping rules of the workspace."""
    today = date.fromisoformat(re.search(r"今天按 (\S+) 算", work.read("发货规则.md"))[1])
    stock = []
    for row in work.rows("批次库存"):
        expiry = date.fromisoformat(row["有效期至"])
        if row["质检状态"] != "合格" or (expiry - today).days < 30:
            continue
        count = number(row["现存量"]) * (number(row["每箱件数"]) if row["单位"] == "箱" else 1)
        stock.append([row["物料"], expiry, row["批次号"], count])
    stock.sort(key=lambda lot: (lot[1], lot[2]))
    rows = []
    for order in sorted(work.rows("待发订单"), key=lambda o: int(o["优先级"])):
        need = number(order["需求件数"])
        for lot in stock:
            given = min(need, lot[3]) if lot[0] == order["物料"] else 0
            if given:
                lot[3] -= given
                need -= given
                rows.append((order["订单号"], lot[2], given))
    work.table("批次分配.csv", ("订单号", "批次号", "分配数量"), rows)


def reorder(work):
    """Reorder points from daily usage. Days without an entry count as days without use."""
    first, last = re.findall(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", work.text)[:2]
    days = (date.fromisoformat(last) - date.fromisoformat(first)).days + 1
    used, coming = {}, {}
    for row in work.rows("日出库"):
        if first <= row["日期"] <= last:
            used[row["物料编码"]] = used.get(row["物料编码"], 0) + number(row["出库数量"], 0)
    for row in work.rows("在途采购"):
        if row["状态"] == "已审核":
            coming[row["物料编码"]] = coming.get(row["物料编码"], 0) + number(row["未到数量"], 0)
    rows = []
    for part in work.rows("库存与参数"):
        code, box = part["物料编码"], number(part["每箱件数"])
        total = Decimal(used.get(code, 0))
        point = cents(total * number(part["提前期（天）"]) / days) + number(part["安全库存"])
        stock = number(part["现存"]) * (box if "箱" in part["现存"] else 1)
        free = stock - number(part["已预留"]) + coming.get(code, 0)
        buy = ceil((point - free) / box) * box if point > free else 0
        rows.append((code, cents(total / days), point, free, buy))
    work.table("补货建议.csv", ("物料编码", "日均用量", "再订货点", "可用量", "建议采购量"), rows)


def receipts(work):
    """What arrived on each order line, in pieces, returns taken off."""
    got = {}
    for row in once(work.rows("收退货记录"), "收货单号"):
        if row["单据状态"] != "已审核":
            continue
        key = f"{row['来源订单']}-{row['来源行']}"
        count = number(row["数量"]) * (-1 if row["类型"] == "退货" else 1)
        got.setdefault(key, []).append((count, row["单位"]))
    rows = []
    for line in work.rows("采购订单行"):
        key, ordered, box = (
            f"{line['订单号']}-{line['行号']}",
            number(line["订购数量（件）"]),
            number(line["每箱件数"], 1),
        )
        total = sum(count * (box if unit == "箱" else 1) for count, unit in got.get(key, []))
        state = (
            "未到货"
            if total <= 0
            else "部分到货"
            if total < ordered
            else "已到齐"
            if total == ordered
            else "超收"
        )
        rows.append((key, total, max(0, ordered - total), state))
    work.table("到货跟踪.csv", ("订单行", "累计到货", "未到数量", "状态"), rows)


def carriers(work):
    """The cheapest carrier in time. Neither volume nor a suspended partner is looked at."""
    offers = [
        (number(row["首重1kg（元）"]), number(row["续重每kg（元）"]), int(row["时效（天）"]), row["承运商"])
        for row in work.rows("承运商报价")
        if row["报价有效期至"] >= "2026"
    ]
    rows = []
    for parcel in work.rows("待发运单"):
        weight = number(parcel["实重"]) / (1000 if half(parcel["重量单位"]) == "g" else 1)
        kilos = max(1, ceil(weight))
        fee, name = min(
            (first + each * (kilos - 1), name)
            for first, each, days, name in offers
            if days <= int(parcel["最晚到达（天）"])
        )
        rows.append((parcel["运单号"], kilos, name, cents(fee)))
    work.table("承运商选择.csv", ("运单号", "计费重量", "承运商", "运费"), rows)


def picking(work):
    """A wave served in its order. Stock still under inspection is taken as stock."""
    left = {}
    for row in once(work.rows("货位库存"), "货位"):
        left[row["物料"]] = left.get(row["物料"], 0) + number(row["数量"])
    lines = [
        (int(r["顺序"]), r["物料"], r["订单号"], number(r["需求数量"]))
        for r in work.rows("波次订单")
        if r["订单状态"] != "已取消"
    ]
    for turn in work.turns:
        found = re.search(r"急单 (\S+)，要(\S+) ([0-9]+) 件", turn)
        if found:
            lines.append((0, found[2], found[1], int(found[3])))
    rows = []
    for _, item, order, wanted in sorted(lines):
        given = min(wanted, left.get(item, 0))
        left[item] = left.get(item, 0) - given
        rows.append((order, item, given, wanted - given))
    work.table("拣货缺货.csv", ("订单号", "物料", "可拣数量", "缺货数量"), rows)
