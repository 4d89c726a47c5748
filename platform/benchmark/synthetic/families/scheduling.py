"""General: meeting slots across time zones; root causes of incidents from service logs."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from benchmark.synthetic import mess, names, spoken
from benchmark.synthetic.drafts import (
    Answer, Draft, Dull, Family, Flaws, Row, Rules, Scene, Table, check_cells, views,
)

SLOTS = Table("slots", ("会议",), {"会议": "text", "开始时间": "text", "会议室": "text"}, file="会议安排.csv",
              words={"会议室": ("云杉厅", "银杏厅", "胡杨厅")})
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
            state = "已取消" if scene.has("void") and r.random() < 0.35 else "暂定" if scene.has("tentative") and r.random() < 0.35 else "已确认"
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
            suits = all(_free(known[n], slot, m.length, flaws) and all(slot >= b or slot + m.length <= a for a, b in taken[n]) for n in m.people)
            fit = [n for n, size in _ROOMS if size >= m.room_size and all(slot >= b or slot + m.length <= a for a, b in rooms[n])]
            if suits and fit:
                room = fit[0]
                rooms[room].append((slot, slot + m.length))
                for n in m.people:
                    taken[n].append((slot, slot + m.length))
                placed = f"{day.isoformat()} {slot // 2:02d}:{slot % 2 * 30:02d}"
                break
        rows.append({"会议": m.name, "开始时间": placed or "无可用时段", "会议室": room or "无"})
    return Answer(tables={"slots": rows})


def _slot_files(scene: Scene, people: list[_Person], meetings: list[_Meeting], day: dt.date) -> dict[str, bytes]:
    r = scene.rng
    busy: list[Row] = []
    for p in people:
        for start, span, state in p.busy:
            busy.append({"姓名": p.name, "日期": day.isoformat(), "开始（当地）": f"{start // 2:02d}:{start % 2 * 30:02d}",
                         "结束（当地）": f"{(start + span) // 2:02d}:{(start + span) % 2 * 30:02d}", "状态": state})
    r.shuffle(busy)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "日程导出", busy)
    mess.put_export(files, r, "人员", [{"姓名": p.name, "所在地": p.zone, "时区": f"UTC+{p.shift}"} for p in people])
    mess.put_export(files, r, "待排会议", [
        {"序号": str(n), "会议": m.name, "参会人": "、".join(m.people), "时长（分钟）": str(m.length * 30), "到场人数": str(m.room_size)}
        for n, m in enumerate(meetings, 1)])
    files["会议室.txt"] = ("\n".join(f"{n}：{s} 人" for n, s in _ROOMS) + "\n").encode()
    return files


def _scheduling(scene: Scene) -> Draft:
    r = scene.rng
    day = dt.date(2026, r.randint(3, 10), r.randint(2, 27))
    people = _people(scene)
    titles = r.sample(("预算评审", "新品试产会", "供应商沟通", "季度复盘", "招聘终面", "系统上线会", "客诉分析"), scene.some(4, 6))
    meetings = [_Meeting(t, sorted(r.sample([p.name for p in people], r.randint(2, 3))), r.randint(1, 3), r.choice((3, 5, 8))) for t in titles]
    gold, adversarial, baseline = views(scene, lambda flaws: _slot_view(meetings, people, day, flaws))
    if all(row["开始时间"] == "无可用时段" for row in gold.tables["slots"]):
        raise Dull("no meeting fits")
    rules = Rules()
    rules.deliver(SLOTS, titles)
    rule = check_cells(scene, rules, SLOTS, gold, adversarial, limit=12, columns=("开始时间",))
    say = scene.say
    instruction = spoken.ask(
        r,
        say(f"{day} 这天有几个会要排，人分散在几个地方，帮我找时间。", f"帮我把 {day} 的会排一下，大家的日程都导出来了。", f"{day} 的几场跨地区会议还没定时间，你来排。"),
        "按序号先后排，每个会都取最早能开的时间，整点或半点开始；每个参会人都要落在他当地 9:00 到 18:00 之内，并且避开当地 12:00 到 13:00。"
        + say("取消的日程不占时间，", "已取消的不用管，") + say("暂定的也算占着。", "暂定的照样不能冲。")
        + "会议室按“会议室”清单的顺序，挑第一个坐得下又空着的；排好的会同样占人占房间。开始时间写北京时间，格式像 2026-06-08 14:30；排不进的写“无可用时段”，会议室写“无”。",
        spoken.wanted(r, SLOTS),
    )
    return Draft(("跨时区会议排期", "Meeting slots across time zones"), instruction, _slot_files(scene, people, meetings, day), rules, gold,
                 adversarial, baseline, rule, seconds=30)


CAUSES = Table("causes", ("工单号",), {"工单号": "text", "根因服务": "text", "错误码": "text", "处理组": "text"}, file="故障定位.csv")
_CHAIN = ("gateway", "order", "payment", "inventory", "database")
_GROUPS = ("网络组", "交易组", "支付组", "库存组", "数据库组", "平台组")


@dataclass(frozen=True)
class _Incident:
    ticket: str
    trace: str
    minute: int
    root: int
    code: str
    noise: str
    noise_at: int
    retried: bool


def _incidents(scene: Scene, codes: list[str], benign: list[str]) -> list[_Incident]:
    r = scene.rng
    made = []
    for ticket in names.codes(r, "INC", scene.some(5, 9), 5):
        root = r.randint(1, 4)
        made.append(_Incident(ticket, f"{r.getrandbits(40):010x}", r.randint(0, 500), root, r.choice(codes), r.choice(benign),
                              r.randint(0, 4), scene.has("retry") and r.random() < 0.6))
    return made


def _log_files(scene: Scene, incidents: list[_Incident]) -> dict[str, bytes]:
    r = scene.rng
    lines: dict[str, list[tuple[dt.datetime, str]]] = {s: [] for s in _CHAIN}
    start = dt.datetime(2026, 5, 12, 9, 0)

    def log(service: str, moment: dt.datetime, text: str) -> None:
        shown = moment - dt.timedelta(hours=8) if service in ("payment", "database") and scene.has("timezone") else moment
        lines[service].append((shown, f"{shown:%Y-%m-%d %H:%M:%S}.{shown.microsecond // 1000:03d}" + text))

    for i in incidents:
        moment = start + dt.timedelta(minutes=i.minute)
        for attempt in range(2 if i.retried else 1):
            clock = moment + dt.timedelta(seconds=20 * attempt)
            for depth in range(i.root + 1):
                log(_CHAIN[depth], clock + dt.timedelta(milliseconds=40 * depth), f" INFO trace={i.trace} call received")
            if scene.has("benign"):
                log(_CHAIN[i.noise_at], clock + dt.timedelta(milliseconds=5), f" ERROR trace={i.trace} code={i.noise} cache miss, continue")
            code = i.code if attempt == 0 else "RETRY_LIMIT"
            for depth in range(i.root, -1, -1):
                text = f"code={code} operation failed" if depth == i.root else f"code=UPSTREAM_FAIL caused by {_CHAIN[depth + 1]}"
                log(_CHAIN[depth], clock + dt.timedelta(milliseconds=400 - 30 * depth), f" ERROR trace={i.trace} {text}")
    for _ in range(scene.some(20, 45)):
        service = r.choice(_CHAIN)
        log(service, start + dt.timedelta(seconds=r.randint(0, 30_000)), f" INFO trace={r.getrandbits(40):010x} ok {r.randint(3, 90)}ms")
    return {f"日志/{s}.log": ("\n".join(text for _, text in sorted(rows)) + "\n").encode() for s, rows in lines.items() if rows}


def _cause_view(incidents: list[_Incident], owners: dict[str, str], timezone: bool, flaws: Flaws) -> Answer:
    rows = []
    for i in incidents:
        service, code = _CHAIN[i.root], i.code
        if "benign" in flaws:
            service, code = _CHAIN[i.noise_at], i.noise
        if "retry" in flaws and i.retried:
            code = "RETRY_LIMIT"
        if "timezone" in flaws and timezone and i.root == 3:
            service, code = "payment", "UPSTREAM_FAIL"
        if "surface" in flaws:
            service, code = "gateway", "UPSTREAM_FAIL"
        rows.append({"工单号": i.ticket, "根因服务": service, "错误码": code, "处理组": owners.get(code, "平台组")})
    return Answer(tables={"causes": rows})


def _fault(scene: Scene) -> Draft:
    r = scene.rng
    words = ("CONN_POOL_FULL", "DEADLOCK", "CERT_EXPIRED", "DISK_QUOTA", "STOCK_LOCKED", "SIGN_MISMATCH", "DNS_TIMEOUT", "SCHEMA_DRIFT")
    codes = r.sample(words, 5)
    benign = ["CACHE_MISS", "SLOW_QUERY"]
    owners = {c: r.choice(_GROUPS) for c in codes}
    incidents = _incidents(scene, codes, benign)
    files = _log_files(scene, incidents)
    mess.put_export(files, r, "故障工单", [{"工单号": i.ticket, "报障人": names.person(r), "trace": i.trace, "现象": r.choice(("下单失败", "页面报错", "支付转圈"))}
                                     for i in incidents])
    table = mess.markdown_table([{"错误码": c, "处理组": g} for c, g in owners.items()], ("错误码", "处理组"))
    files["值班手册.md"] = (
        "# 值班手册\n\n" + table + "\n表里没有的错误码找平台组。\n\nUPSTREAM_FAIL 是下游失败往上传的，不是根因；"
        "CACHE_MISS、SLOW_QUERY 不影响业务，可以忽略；第一次失败后客户端会自动重试，重试报的 RETRY_LIMIT 也不是根因。\n"
        + ("\npayment 和 database 两个服务的日志是 UTC 时间，其余是北京时间。\n" if scene.has("timezone") else "")
    ).encode()
    gold, adversarial, baseline = views(scene, lambda flaws: _cause_view(incidents, owners, scene.has("timezone"), flaws))
    rules = Rules("all_or_nothing" if scene.index % 6 == 0 else "itemised")
    rules.deliver(CAUSES, [i.ticket for i in incidents])
    rule = check_cells(scene, rules, CAUSES, gold, adversarial, limit=12, columns=("错误码", "处理组"))
    say = scene.say
    instruction = spoken.ask(
        r,
        say("早上积了一批故障单，根据日志定位一下根因，该转给哪个组。", "这几张故障工单到底是哪儿坏的，翻日志查清楚。", "运维例会要过这些工单，先帮我把根因和处理组定了。"),
        say("根因是最里面那个真正出错的服务，不是往上层层报的。", "别只看网关报的错，要追到最早真正出问题的服务。") + "错误码照日志里的写，处理组看值班手册。每张工单一行。",
        spoken.wanted(r, CAUSES),
    )
    return Draft(("故障根因定位", "Root causes of incidents from service logs"), instruction, files, rules, gold, adversarial, baseline, rule, seconds=30)


FAMILIES = (
    Family("gen-meeting-slots", "general", "schedule", "operation",
           ("timezone", "void", "tentative", "lunch"), _scheduling, "行政助理", "会议安排", "low"),
    Family("gen-incident-cause", "general", "fault-diagnosis", "analysis",
           ("benign", "retry", "timezone", "surface"), _fault, "运维工程师", "故障处理", "medium"),
)
