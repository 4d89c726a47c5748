"""Manufacturing: load against capacity per work centre."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from benchmark.synthetic import mess, names, spoken
from benchmark.synthetic.drafts import (
    Answer,
    Draft,
    Family,
    Flaws,
    Rules,
    Scene,
    Table,
    check_cells,
    views,
)

LOAD = Table(
    "load",
    ("工作中心",),
    {"工作中心": "text", "可用工时": "number", "负荷工时": "number", "负荷率": "number", "结论": "text"},
    file="产能负荷.csv",
    words={"结论": ("超负荷", "正常", "富余")},
)
_CENTRES = ("数控车", "加工中心", "折弯线", "焊接线", "喷涂线", "总装线", "线切割", "热处理")
_DEFAULT = 85


@dataclass(frozen=True)
class _Centre:
    name: str
    shifts: int
    days: int
    repair: int
    efficiency: int | None


@dataclass(frozen=True)
class _Job:
    number: str
    centre: str
    pieces: int
    setup: int
    minutes: Decimal
    seconds: bool
    state: str


def _centres(scene: Scene) -> list[_Centre]:
    r = scene.rng
    return [
        _Centre(
            name,
            r.randint(1, 2),
            r.randint(5, 6),
            r.choice((4, 8, 12)) if scene.has("maintenance") and n % 2 == 0 else 0,
            None if scene.has("missing_not_zero") and n % 3 == 1 else r.choice((75, 80, 90, 95)),
        )
        for n, name in enumerate(r.sample(_CENTRES, scene.some(3, 5)))
    ]


def _jobs(scene: Scene, centres: list[_Centre]) -> list[_Job]:
    r = scene.rng
    made = []
    numbers = names.codes(r, "GD", scene.some(8, 16), 5)
    for place, number in enumerate(numbers):
        centre = centres[place % len(centres)]
        made.append(
            _Job(
                number,
                centre.name,
                r.randint(4, 40) * 10,
                r.randint(2, 12) * 15,
                Decimal(r.randint(2, 30)) / 5,
                scene.has("unit") and place % 4 == 1,
                "计划" if scene.has("unapproved") and place % 4 == 2 else "已下达",
            )
        )
    return made


def _load_view(centres: list[_Centre], jobs: list[_Job], flaws: Flaws) -> Answer:
    rows = []
    for c in centres:
        hours = c.shifts * c.days * 8 - (0 if "maintenance" in flaws else c.repair)
        rate = c.efficiency if c.efficiency is not None else 100 if "missing_not_zero" in flaws else _DEFAULT
        able = Decimal(hours) * rate / 100
        need = Decimal(0)
        for j in jobs:
            if j.centre != c.name or (j.state != "已下达" and "unapproved" not in flaws):
                continue
            minutes = j.minutes * 60 if j.seconds and "unit" in flaws else j.minutes
            need += j.pieces * minutes + (0 if "setup" in flaws else j.setup)
        need = mess.half_up(need / 60)
        ratio = need * 100 / able
        verdict = "超负荷" if ratio > 100 else "富余" if ratio < 60 else "正常"
        rows.append(
            {
                "工作中心": c.name,
                "可用工时": mess.plain(able),
                "负荷工时": mess.plain(need),
                "负荷率": mess.percent(need, able),
                "结论": verdict,
            }
        )
    return Answer(tables={"load": rows})


def _capacity_files(scene: Scene, centres: list[_Centre], jobs: list[_Job]) -> dict[str, bytes]:
    r = scene.rng
    files: dict[str, bytes] = {}
    mess.put_export(
        files,
        r,
        "工作中心",
        [
            {
                "工作中心": c.name,
                "班次": str(c.shifts),
                "每班小时": "8",
                "本周天数": str(c.days),
                "效率": "" if c.efficiency is None else f"{c.efficiency}%",
            }
            for c in centres
        ],
    )
    mess.put_export(
        files,
        r,
        "本周工序任务",
        [
            {
                "任务号": j.number,
                "工作中心": j.centre,
                "数量": str(j.pieces),
                "准备时间（分钟）": str(j.setup),
                "单件工时": mess.plain(j.minutes * 60 if j.seconds else j.minutes),
                "工时单位": "秒" if j.seconds else "分钟",
                "状态": j.state,
            }
            for j in r.sample(jobs, len(jobs))
        ],
        xlsx=scene.xlsx,
    )
    repairs = "".join(f"- {c.name}：停机 {c.repair} 小时\n" for c in centres if c.repair) or "- 无\n"
    files["设备科通知.md"] = f"# 本周检修安排\n\n{repairs}".encode()
    return files


def _capacity_words(scene: Scene) -> str:
    r, say = scene.rng, scene.say
    return spoken.ask(
        r,
        say(
            "排产会要用，算一下这周各工作中心吃不吃得消。",
            "这周活多，帮我看哪个工作中心要爆。",
            "按本周的任务把产能负荷算一版。",
        ),
        "可用工时等于班次乘每班小时乘天数，减掉检修停机，再乘效率"
        f"（没填效率的按 {_DEFAULT}%）。负荷含准备时间，每个任务准备一次，折成小时留两位。"
        + say("还在“计划”状态、没下达的任务不算。", "只算已下达的任务。")
        + "负荷率超过 100% 是“超负荷”，不到 60% 是“富余”，其余“正常”；负荷率写百分数、一位小数。",
        spoken.wanted(r, LOAD),
    )


def _capacity(scene: Scene) -> Draft:
    centres = _centres(scene)
    jobs = _jobs(scene, centres)
    gold, adversarial, baseline = views(scene, lambda flaws: _load_view(centres, jobs, flaws))
    files = _capacity_files(scene, centres, jobs)
    rules = Rules("all_or_nothing" if scene.index % 6 == 0 else "itemised")
    rules.deliver(LOAD, [c.name for c in centres])
    rule = check_cells(scene, rules, LOAD, gold, adversarial, limit=14)
    instruction = _capacity_words(scene)
    return Draft(
        ("周产能负荷", "Weekly load against capacity"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=35,
    )


FAMILIES = (
    Family(
        "mf-capacity",
        "manufacturing",
        "planning",
        "analysis",
        ("unit", "maintenance", "missing_not_zero", "unapproved", "setup"),
        _capacity,
        "计划员",
        "周排产",
        "medium",
        xlsx_every=5,
    ),
)
