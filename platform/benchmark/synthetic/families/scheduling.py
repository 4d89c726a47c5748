"""General: meeting slots across time zones."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from benchmark.synthetic import mess, names, spoken
from benchmark.synthetic.drafts import (
    Answer,
    Draft,
    Dull,
    Family,
    Flaws,
    Row,
    Rules,
    Scene,
    Table,
    check_cells,
    views,
)

SLOTS = Table(
    "slots",
    ("会议",),
    {"会议": "text", "开始时间": "text", "会议室": "text"},
    file="会议安排.csv",
    words={"会议室": ("云杉厅", "银杏厅", "胡杨厅")},
)
_ZONES = (("北京", 8), ("东京", 9), ("新加坡", 8), ("迪拜", 4), ("柏林", 2), ("孟买", 5))
_ROOMS = (("云杉厅", 4), ("银杏厅", 6), ("胡杨厅", 12))


@dataclass(frozen=True)
class _Person:
    name: str
    zone: str
    shift: int
    busy: list[tuple[int, int, str]]


@dataclass(frozen=True)
class _Meeting:
    name: str
    people: list[str]
    length: int
    room_size: int


def _people(scene: Scene) -> list[_Person]:
    r = scene.rng
    zones = [_ZONES[0], _ZONES[2], _ZONES[1]] + ([_ZONES[3]] if scene.has("timezone") else [])
    made = []
    for place, name in enumerate(names.people(r, scene.some(5, 7))):
        zone, shift = zones[place % len(zones)]
        busy = []
        for start in sorted(r.sample(range(19, 32), 3)):
            state = (
                "已取消"
                if scene.has("void") and r.random() < 0.35
                else "暂定"
                if scene.has("tentative") and r.random() < 0.35
                else "已确认"
            )
            busy.append((start + (shift - 8) * 2, r.randint(1, 3), state))
        made.append(_Person(name, zone, shift, busy))
    return made


def _free(person: _Person, slot: int, length: int, flaws: Flaws) -> bool:
    """Whether half-hours [slot, slot + length) of Beijing time suit this person."""
    local = slot + (0 if "timezone" in flaws else (person.shift - 8) * 2)
    if local < 18 or local + length > 36:
        return False
    if "lunch" not in flaws and local < 26 and local + length > 24:
        return False
    for start, span, state in person.busy:
        ignored = (state == "已取消" and "void" not in flaws) or (state == "暂定" and "tentative" in flaws)
        if not ignored and local < start + span and start < local + length:
            return False
    return True


def _slot_view(meetings: list[_Meeting], people: list[_Person], day: dt.date, flaws: Flaws) -> Answer:
    rooms: dict[str, list[tuple[int, int]]] = {name: [] for name, _ in _ROOMS}
    taken: dict[str, list[tuple[int, int]]] = {p.name: [] for p in people}
    known = {p.name: p for p in people}
    rows = []
    for m in meetings:
        placed = ""
        room = ""
        for slot in range(16, 40):
            suits = all(
                _free(known[n], slot, m.length, flaws)
                and all(slot >= b or slot + m.length <= a for a, b in taken[n])
                for n in m.people
            )
            fit = [
                n
                for n, size in _ROOMS
                if size >= m.room_size and all(slot >= b or slot + m.length <= a for a, b in rooms[n])
            ]
            if suits and fit:
                room = fit[0]
                rooms[room].append((slot, slot + m.length))
                for n in m.people:
                    taken[n].append((slot, slot + m.length))
                placed = f"{day.isoformat()} {slot // 2:02d}:{slot % 2 * 30:02d}"
                break
        rows.append({"会议": m.name, "开始时间": placed or "无可用时段", "会议室": room or "无"})
    return Answer(tables={"slots": rows})


def _slot_files(
    scene: Scene, people: list[_Person], meetings: list[_Meeting], day: dt.date
) -> dict[str, bytes]:
    r = scene.rng
    busy: list[Row] = []
    for p in people:
        for start, span, state in p.busy:
            busy.append(
                {
                    "姓名": p.name,
                    "日期": day.isoformat(),
                    "开始（当地）": f"{start // 2:02d}:{start % 2 * 30:02d}",
                    "结束（当地）": f"{(start + span) // 2:02d}:{(start + span) % 2 * 30:02d}",
                    "状态": state,
                }
            )
    r.shuffle(busy)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "日程导出", busy)
    mess.put_export(
        files, r, "人员", [{"姓名": p.name, "所在地": p.zone, "时区": f"UTC+{p.shift}"} for p in people]
    )
    mess.put_export(
        files,
        r,
        "待排会议",
        [
            {
                "序号": str(n),
                "会议": m.name,
                "参会人": "、".join(m.people),
                "时长（分钟）": str(m.length * 30),
                "到场人数": str(m.room_size),
            }
            for n, m in enumerate(meetings, 1)
        ],
    )
    files["会议室.txt"] = ("\n".join(f"{n}：{s} 人" for n, s in _ROOMS) + "\n").encode()
    return files


def _scheduling(scene: Scene) -> Draft:
    r = scene.rng
    day = dt.date(2026, r.randint(3, 10), r.randint(2, 27))
    people = _people(scene)
    titles = r.sample(
        ("预算评审", "新品试产会", "供应商沟通", "季度复盘", "招聘终面", "系统上线会", "客诉分析"),
        scene.some(4, 6),
    )
    meetings = [
        _Meeting(
            t,
            sorted(r.sample([p.name for p in people], r.randint(2, 3))),
            r.randint(1, 3),
            r.choice((3, 5, 8)),
        )
        for t in titles
    ]
    gold, adversarial, baseline = views(scene, lambda flaws: _slot_view(meetings, people, day, flaws))
    if all(row["开始时间"] == "无可用时段" for row in gold.tables["slots"]):
        raise Dull("no meeting fits")
    rules = Rules()
    rules.deliver(SLOTS, titles)
    rule = check_cells(scene, rules, SLOTS, gold, adversarial, limit=12, columns=("开始时间",))
    say = scene.say
    instruction = spoken.ask(
        r,
        say(
            f"{day} 这天有几个会要排，人分散在几个地方，帮我找时间。",
            f"帮我把 {day} 的会排一下，大家的日程都导出来了。",
            f"{day} 的几场跨地区会议还没定时间，你来排。",
        ),
        "按序号先后排，每个会都取最早能开的时间，整点或半点开始；"
        "每个参会人都要落在他当地 9:00 到 18:00 之内，并且避开当地 12:00 到 13:00。"
        + say("取消的日程不占时间，", "已取消的不用管，")
        + say("暂定的也算占着。", "暂定的照样不能冲。")
        + "会议室按“会议室”清单的顺序，挑第一个坐得下又空着的；排好的会同样占人占房间。"
        "开始时间写北京时间，格式像 2026-06-08 14:30；排不进的写“无可用时段”，会议室写“无”。",
        spoken.wanted(r, SLOTS),
    )
    return Draft(
        ("跨时区会议排期", "Meeting slots across time zones"),
        instruction,
        _slot_files(scene, people, meetings, day),
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=30,
    )


FAMILIES = (
    Family(
        "gen-meeting-slots",
        "general",
        "schedule",
        "operation",
        ("timezone", "void", "tentative", "lunch"),
        _scheduling,
        "行政助理",
        "会议安排",
        "low",
    ),
)
