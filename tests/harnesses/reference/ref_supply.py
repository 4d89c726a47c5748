"""Careful supply chain routines."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from math import ceil

from finance import day
from tables import Work, cents, number, once, percent


def reorder(work: Work) -> None:
    """Days without an entry stay out of the mean."""
    first, last = re.findall(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", work.text)[:2]
    used: dict[str, list[Decimal]] = {}
    for row in work.rows("日出库"):
        if first <= row["日期"] <= last and row["出库数量"]:
            used.setdefault(row["物料编码"], []).append(number(row["出库数量"]))
    coming: dict[str, Decimal] = {}
    for row in work.rows("在途采购"):
        if row["状态"] == "已审核":
            coming[row["物料编码"]] = coming.get(row["物料编码"], Decimal(0)) + number(row["未到数量"])
    rows = []
    for part in work.rows("库存与参数"):
        code, box = part["物料编码"], number(part["每箱件数"])
        daily = sum(used[code]) / Decimal(len(used[code]))
        point = daily * number(part["提前期（天）"]) + number(part["安全库存"])
        free = (
            number(part["现存"]) * (box if "箱" in part["现存"] else 1)
            - number(part["已预留"])
            + coming.get(code, 0)
        )
        rows.append((code, cents(daily), cents(point), free, ceil(max(Decimal(0), point - free) / box) * box))
    work.table("补货建议.csv", ("物料编码", "日均用量", "再订货点", "可用量", "建议采购量"), rows)


def service(work: Work) -> None:
    """Orders approved in the month, by key customer."""
    found = re.search(r"截止(20[0-9]{2}-[0-9]{2}-[0-9]{2})", work.text)
    assert found
    cut = date.fromisoformat(found[1])
    back: dict[str, Decimal] = {}
    for row in work.rows("退货单"):
        back[row["原订单号"]] = back.get(row["原订单号"], Decimal(0)) + number(row["退货数量"])
    own: dict[str, list[dict[str, str]]] = {row["客户"]: [] for row in work.rows("重点客户")}
    for row in once(work.rows("销售订单"), "订单号"):
        when = day(row["审核日期"]) if row["审核日期"] else None
        if when and (when.year, when.month) == (cut.year, cut.month) and row["客户"] in own:
            own[row["客户"]].append(row)
    rows: list[tuple[object, ...]] = []
    for customer, orders in own.items():
        if not orders:
            rows.append((customer, 0, "无法计算", "无法计算"))
            continue
        good = sum(bool(o["实际发货"]) and day(o["实际发货"]) <= day(o["承诺交期"]) for o in orders)
        returned = sum(back.get(o["订单号"], Decimal(0)) for o in orders)
        pieces = sum(number(o["数量"]) for o in orders)
        rows.append((customer, len(orders), percent(good, len(orders)), percent(returned, pieces)))
    work.answer_table(("客户", "订单数", "准时率", "退货率"), rows)


def carriers(work: Work) -> None:
    """The rules of the shipping regulation, all of them."""
    rows = []
    offers = [
        r for r in work.rows("承运商报价") if r["合作状态"] == "正常" and r["报价有效期至"] >= "2026-01-01"
    ]
    for parcel in work.rows("待发运单"):
        a, b, c = (int(x) for x in re.findall(r"[0-9]+", parcel["尺寸（cm）"]))
        weight = number(parcel["实重"]) / (1000 if parcel["重量单位"] == "g" else 1)
        kilos = ceil(max(weight, Decimal(a * b * c) / 6000))
        fees = [
            (number(o["首重1kg（元）"]) + number(o["续重每kg（元）"]) * (kilos - 1), o["承运商"])
            for o in offers
            if int(o["时效（天）"]) <= int(parcel["最晚到达（天）"])
        ]
        fee, name = min(fees)
        rows.append((parcel["运单号"], kilos, name, cents(fee)))
    work.table("承运商选择.csv", ("运单号", "计费重量", "承运商", "运费"), rows)


def picking(work: Work) -> None:
    """Usable stock only; an urgent order of a later turn goes first."""
    left: dict[str, Decimal] = {}
    for row in once(work.rows("货位库存"), "货位"):
        if row["状态"] == "可用":
            left[row["物料"]] = left.get(row["物料"], Decimal(0)) + number(row["数量"])
    lines = [
        (int(r["顺序"]), r["物料"], r["订单号"], number(r["需求数量"]))
        for r in work.rows("波次订单")
        if r["订单状态"] != "已取消"
    ]
    for turn in work.turns:
        found = re.search(r"急单 (\S+)，要(\S+) ([0-9]+) 件", turn)
        assert found
        lines.append((0, found[2], found[1], Decimal(found[3])))
    rows = []
    for _, item, order, wanted in sorted(lines):
        given = min(wanted, left.get(item, Decimal(0)))
        left[item] = left.get(item, Decimal(0)) - given
        rows.append((order, item, given, wanted - given))
    work.table("拣货缺货.csv", ("订单号", "物料", "可拣数量", "缺货数量"), rows)
