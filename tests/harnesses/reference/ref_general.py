"""Careful office routines: trends, lists, incidents, meetings, scans."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import scans as reader
from tables import Work, half, number, once, percent


def trend(work: Work) -> None:
    """Refunds are taken off."""
    month = re.search(r"只看 ([0-9]+) 月", work.text)
    assert month
    sums: dict[tuple[str, int], Decimal] = {}
    regions = set()
    for year in (2025, 2026):
        for row in once(work.rows(f"{year}年销售流水"), "单号"):
            region = row["大区"].removesuffix("区")
            if f"年{month[1]}月" in row["日期"]:
                regions.add(region)
                value = number(row["金额"]) * (-1 if row["类型"] == "退货" else 1)
                sums[region, year] = sums.get((region, year), Decimal(0)) + value
    rows: list[tuple[object, ...]] = []
    for region in sorted(regions):
        now, before = sums.get((region, 2026), Decimal(0)), sums.get((region, 2025))
        if before is None:
            rows.append((region, now / 10000, "无法计算", "无法计算"))
        else:
            rows.append((region, now / 10000, before / 10000, percent(now - before, before)))
    work.answer_table(("大区", "本期销售额", "去年同期", "同比"), rows)


def contacts(work: Work) -> None:
    """The latest line of each customer."""
    latest = {half(r["客户编号"]): r for r in sorted(work.rows("客户名单_汇总"), key=lambda r: r["更新日期"])}
    rows = []
    for code, row in latest.items():
        phone = re.sub(r"[^0-9]", "", half(row["手机"]))[-11:]
        limit = number(row["信用额度"])
        city = row["城市"].removesuffix("市")
        rows.append((code, half(row["客户名称"]), phone, city, "无法计算" if limit is None else limit))
    work.table("清洗后客户.csv", ("客户编号", "客户名称", "手机", "城市", "信用额度"), rows)


def causes(work: Work) -> None:
    """The only error of a trace that the manual does not wave aside."""
    manual = work.read("值班手册.md")
    owners = dict(re.findall(r"\| ([A-Z_]+) \| (\S+) \|", manual))
    ignored = set(re.findall(r"\b(UPSTREAM_FAIL|CACHE_MISS|SLOW_QUERY|RETRY_LIMIT)\b", manual))
    found: dict[str, set[tuple[str, str]]] = {}
    for path in work.folder("日志"):
        for trace, code in re.findall(r"ERROR trace=(\w+) code=(\w+)", path.read_text(encoding="utf-8")):
            if code not in ignored:
                found.setdefault(trace, set()).add((path.stem, code))
    rows = []
    for ticket in work.rows("故障工单"):
        ((service, code),) = found[ticket["trace"]]
        rows.append((ticket["工单号"], service, code, owners.get(code, "平台组")))
    work.table("故障定位.csv", ("工单号", "根因服务", "错误码", "处理组"), rows)


def _minutes(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


def meetings(work: Work) -> None:
    """Earliest slot for each meeting, minute arithmetic in Beijing time."""
    zone = {r["姓名"]: (int(r["时区"].removeprefix("UTC+")) - 8) * 60 for r in work.rows("人员")}
    taken: dict[str, list[tuple[int, int]]] = {name: [] for name in zone}
    for name, shift in zone.items():
        for a, b in ((-999, 9 * 60), (12 * 60, 13 * 60), (18 * 60, 9999)):
            taken[name].append((a - shift, b - shift))
    for row in work.rows("日程导出"):
        if row["状态"] != "已取消":
            shift = zone[row["姓名"]]
            taken[row["姓名"]].append(
                (_minutes(row["开始（当地）"]) - shift, _minutes(row["结束（当地）"]) - shift)
            )
    rooms = [(n, int(size)) for n, size in re.findall(r"(\S+)：([0-9]+) 人", work.read("会议室.txt"))]
    for name, _ in rooms:
        taken[name] = []
    found = re.search(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", work.text)
    assert found
    rows = []
    for meeting in sorted(work.rows("待排会议"), key=lambda m: int(m["序号"])):
        length, people = int(meeting["时长（分钟）"]), meeting["参会人"].split("、")
        fitting = [name for name, size in rooms if size >= int(meeting["到场人数"])]
        options = (
            (start, room)
            for start in range(0, 24 * 60, 30)
            for room in fitting
            if all(start + length <= a or start >= b for who in [*people, room] for a, b in taken[who])
        )
        start, room = next(options, (-1, "无"))
        for who in [*people, room] if start >= 0 else []:
            taken[who].append((start, start + length))
        when = f"{found[0]} {start // 60:02d}:{start % 60:02d}" if start >= 0 else "无可用时段"
        rows.append((meeting["会议"], when, room))
    work.table("会议安排.csv", ("会议", "开始时间", "会议室"), rows)


def scans(work: Work) -> None:
    """Faint sheets are darkened, turned sheets turned back."""
    found: dict[str, Decimal] = {}
    for path in work.folder("扫描件"):
        rows = [bytearray(row) for row in reader.pixels(path.read_bytes())]
        rows = _clean(rows)
        for sheet in (rows, [row[::-1] for row in reversed(rows)]):
            stamped = sum(grey < 100 for row in sheet[54:88] for grey in row[184:218]) > 60
            bill = _read(sheet, 0, 40, r"[0-9]{8}")
            value = _read([row[:184] + b"\xff" * 40 for row in sheet], 48, 90, r"-?[0-9]+\.[0-9]+")
            if bill and value:
                if not stamped:
                    found[bill] = Decimal(value)
                break
        else:
            raise ValueError(f"{path.name} cannot be read")
    work.table("票据登记.csv", ("票据号码", "金额"), list(found.items()))
    text = json.dumps({"合计金额": str(sum(found.values()))}, ensure_ascii=False)
    (work.root / "合计.json").write_text(text, encoding="utf-8")


def _read(sheet: list[bytearray], top: int, bottom: int, pattern: str) -> str:
    """What stands between two rows, where it reads as it must; a speck that touches print is cut away from the left."""
    inked = [x for row in sheet[top:bottom] for x, grey in enumerate(row) if grey < 180]
    for cut in range(4) if inked else ():
        left = min(inked) + cut
        text: str = reader.line([b"\xff" * left + row[left:] for row in sheet], top, bottom)
        if re.fullmatch(pattern, text):
            return text
    return ""


def _clean(rows: list[bytearray]) -> list[bytearray]:
    """Black where ink hangs together, white elsewhere: dust goes, faint print and the points of numbers stay."""
    height, width = len(rows), len(rows[0])
    left = {(x, y) for y, row in enumerate(rows) for x, grey in enumerate(row) if grey < 180}
    sheet = [bytearray(b"\xff" * width) for _ in range(height)]
    while left:
        blot, waiting = [], [left.pop()]
        while waiting:
            x, y = waiting.pop()
            blot.append((x, y))
            near = {(x + a, y + b) for a, b in _AROUND} & left
            left -= near
            waiting += near
        if len(blot) >= SMALLEST:
            for x, y in blot:
                sheet[y][x] = 0
    return sheet


SMALLEST = 4
"""Pixels of the smallest mark that means something: a decimal point."""
_AROUND = tuple((a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0))
