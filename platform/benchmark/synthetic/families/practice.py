"""Families of the practice split only: milestones, VAT split, stocktake, equipment effectiveness."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from benchmark.synthetic import mess, names, spoken
from benchmark.synthetic.drafts import (
    Answer,
    Draft,
    Family,
    Flaws,
    Row,
    Rules,
    Scene,
    Table,
    check_cells,
    views,
)

MILESTONES = Table(
    "milestones",
    ("里程碑",),
    {"里程碑": "text", "延误天数": "number", "负责人": "text"},
    file="里程碑延误.csv",
)


def _milestones_words(scene: Scene) -> str:
    r = scene.rng
    return spoken.ask(
        r,
        scene.say(
            "从周会纪要里整理一下各里程碑晚了几天。",
            "项目复盘要用，哪些里程碑延误了多少天、谁负责，帮我列出来。",
        ),
        "批准过变更的按变更后的计划算。",
        spoken.wanted(r, MILESTONES),
    )


def _milestones(scene: Scene) -> Draft:
    r = scene.rng
    names_ = r.sample(
        ("需求冻结", "样机评审", "小批试产", "认证送检", "用户培训", "系统上线", "量产放行", "验收交付"),
        scene.some(4, 7),
    )
    owners = names.people(r, len(names_))
    plans = [dt.date(2026, r.randint(3, 8), r.randint(1, 28)) for _ in names_]
    delays = [r.randint(0, 20) for _ in names_]
    replans = [r.randint(3, 9) if scene.has("version") and n % 2 == 0 else 0 for n in range(len(names_))]
    handed = [names.person(r) if scene.has("unapproved") and n % 3 == 1 else "" for n in range(len(names_))]

    def view(flaws: Flaws) -> Answer:
        return Answer(
            tables={
                "milestones": [
                    {
                        "里程碑": m,
                        "延误天数": str(d + (p if "version" in flaws else 0)),
                        "负责人": h if h and "unapproved" in flaws else o,
                    }
                    for m, d, p, h, o in zip(names_, delays, replans, handed, owners, strict=True)
                ]
            }
        )

    lines = ["# 项目周会纪要汇编", ""]
    for m, plan, delay, moved, new, owner in zip(names_, plans, delays, replans, handed, owners, strict=True):
        lines.append(
            f"- {m}：原计划 {plan}，负责人{owner}。"
            + (f"变更单已批准，计划改为 {plan + dt.timedelta(days=moved)}。" if moved else "")
            + f"实际完成 {plan + dt.timedelta(days=moved + delay)}。"
            + (f"有人提议改由{new}负责，未通过。" if new else "")
        )
    gold, adversarial, baseline = views(scene, view)
    rules = Rules()
    rules.deliver(MILESTONES, names_)
    rule = check_cells(scene, rules, MILESTONES, gold, adversarial)
    instruction = _milestones_words(scene)
    return Draft(
        ("里程碑延误整理", "Milestone delays from minutes"),
        instruction,
        {"周会纪要.md": "\n".join(lines).encode()},
        rules,
        gold,
        adversarial,
        baseline,
        rule,
    )


VAT = Table(
    "vat",
    ("发票号",),
    {"发票号": "text", "不含税金额": "number", "税额": "number"},
    file="价税分离.csv",
    units={"不含税金额": "元", "税额": "元"},
)


def _vat_words(scene: Scene) -> str:
    r = scene.rng
    return spoken.ask(
        r,
        scene.say("把这批进项票价税分开。", "申报要用，进项发票都是含税价，帮我拆成不含税和税额。"),
        "不含税金额四舍五入到分，税额用合计减不含税。",
        spoken.wanted(r, VAT),
    )


def _vat(scene: Scene) -> Draft:
    r = scene.rng
    bills = [
        (
            f"{r.randint(10**7, 10**8 - 1)}",
            mess.amount(r, 500, 90_000),
            r.choice((13, 9, 6)),
            scene.has("unit") and n % 3 == 0,
            scene.has("full_width") and n % 3 == 1,
        )
        for n in range(scene.some(6, 12))
    ]

    def view(flaws: Flaws) -> Answer:
        rows = []
        for number, gross, rate, wan, wide in bills:
            value = gross / 10_000 if wan and "unit" in flaws else gross
            value = Decimal(0) if wide and "full_width" in flaws else value
            net = mess.half_up(value * 100 / (100 + (13 if "rate" in flaws else rate)))
            tax = mess.money(mess.half_up(value) - net)
            rows.append({"发票号": number, "不含税金额": mess.money(net), "税额": tax})
        return Answer(tables={"vat": rows})

    listed = []
    for number, gross, rate, wan, wide in bills:
        told = mess.wide(mess.money(gross)) if wide else mess.thousands(gross)
        told = f"{mess.in_wan(gross)}万元" if wan else told
        listed.append({"发票号": number, "价税合计": told, "税率": f"{rate}%"})
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "进项发票", listed, xlsx=scene.xlsx)
    gold, adversarial, baseline = views(scene, view)
    rules = Rules()
    rules.deliver(VAT, [b[0] for b in bills])
    rule = check_cells(scene, rules, VAT, gold, adversarial)
    instruction = _vat_words(scene)
    return Draft(
        ("进项发票价税分离", "Splitting VAT from gross amounts"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
    )


COUNT = Table(
    "count", ("物料编码",), {"物料编码": "text", "盘点数": "number", "差异数": "number"}, file="盘点差异.csv"
)


def _stocktake_words(scene: Scene) -> str:
    r = scene.rng
    return spoken.ask(
        r,
        scene.say("盘点完了，出一下差异。", "把盘点数和账面数对一对，差多少列出来。"),
        "有复盘的以复盘为准，重复的盘点行算一次，箱数折成件；差异是盘点减账面。",
        spoken.wanted(r, COUNT),
    )


def _stocktake(scene: Scene) -> Draft:
    r = scene.rng
    items = [
        (
            c,
            r.randint(40, 400),
            r.choice((0, 0, 3, -4, 12)),
            r.choice((10, 12)),
            scene.has("unit") and n % 3 == 0,
            scene.has("recount") and n % 3 == 1,
            scene.has("duplicate") and n % 3 == 2,
        )
        for n, c in enumerate(names.codes(r, "W", scene.some(6, 11), 4))
    ]

    def view(flaws: Flaws) -> Answer:
        rows = []
        for code, book, gap, box, boxed, recount, twice in items:
            found = book + gap - (5 if recount and "recount" in flaws else 0)
            found = found * (2 if twice and "duplicate" in flaws else 1)
            found = found // box if boxed and "unit" in flaws else found
            rows.append({"物料编码": code, "盘点数": str(found), "差异数": str(found - book)})
        return Answer(tables={"count": rows})

    sheet = []
    for code, book, gap, box, boxed, recount, twice in items:
        found = book + gap
        told = f"{found // box}箱{found % box}件" if boxed else str(found)
        row = {
            "盘点行": f"PD{code}",
            "物料编码": code,
            "轮次": "初盘",
            "数量": str(found - 5) if recount else told,
            "每箱件数": str(box),
        }
        sheet += [row, dict(row)] if twice else [row]
        sheet += [{**row, "盘点行": f"PF{code}", "轮次": "复盘", "数量": told}] if recount else []
    r.shuffle(sheet)
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "盘点记录", sheet, xlsx=scene.xlsx)
    mess.put_export(files, r, "账面库存", [{"物料编码": i[0], "账面数": str(i[1])} for i in items])
    gold, adversarial, baseline = views(scene, view)
    rules = Rules()
    rules.deliver(COUNT, [i[0] for i in items])
    rule = check_cells(scene, rules, COUNT, gold, adversarial)
    instruction = _stocktake_words(scene)
    return Draft(
        ("盘点差异", "Stocktake differences"), instruction, files, rules, gold, adversarial, baseline, rule
    )


OEE = Table(
    "oee", ("设备",), {"设备": "text", "时间开动率": "number", "合格率": "number"}, file="设备效率.csv"
)


def _day_report(name: str, numbers: tuple[int, ...], *, hours: bool) -> Row:
    planned, stop, rest, made, bad = numbers
    return {
        "设备": name,
        "计划时间（分钟）": str(planned),
        "故障停机": str(stop * 60) if hours else str(stop),
        "停机单位": "秒" if hours else "分钟",
        "计划停机（分钟）": str(rest),
        "产量": str(made),
        "其中返工与报废": str(bad),
    }


def _effectiveness_words(scene: Scene) -> str:
    r = scene.rng
    return spoken.ask(
        r,
        scene.say("算一下各台设备今天的开动率和合格率。", "设备日报出来了，帮我算开动率、合格率。"),
        "开动率的分母是计划时间减计划停机，分子再减故障停机；合格率里返工和报废都不算合格。都写百分数、一位小数。",
        spoken.wanted(r, OEE),
    )


def _effectiveness(scene: Scene) -> Draft:
    r = scene.rng
    rows_ = [
        (
            f"EQ-{c}",
            r.randint(400, 480),
            r.randint(10, 90),
            r.randint(0, 40),
            r.randint(200, 900),
            r.randint(0, 40),
            scene.has("unit") and n % 2 == 0,
        )
        for n, c in enumerate(r.sample(range(10, 99), scene.some(4, 8)))
    ]

    def view(flaws: Flaws) -> Answer:
        out = []
        for name, planned, stop, rest, made, bad, hours in rows_:
            base = planned if "planned_stop" in flaws else planned - rest
            lost = Decimal(stop) * 60 if hours and "unit" in flaws else Decimal(stop)
            good = made if "rework" in flaws else made - bad
            out.append(
                {
                    "设备": name,
                    "时间开动率": mess.percent(base - lost, Decimal(base)),
                    "合格率": mess.percent(Decimal(good), Decimal(made)),
                }
            )
        return Answer(tables={"oee": out})

    listed = [_day_report(name, tuple(numbers), hours=hours) for name, *numbers, hours in rows_]
    files: dict[str, bytes] = {}
    mess.put_export(files, r, "设备日报", listed, xlsx=scene.xlsx)
    gold, adversarial, baseline = views(scene, view)
    rules = Rules()
    rules.deliver(OEE, [row[0] for row in rows_])
    rule = check_cells(scene, rules, OEE, gold, adversarial)
    instruction = _effectiveness_words(scene)
    return Draft(
        ("设备开动率与合格率", "Equipment availability and quality rate"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
    )


FAMILIES = (
    Family(
        "gen-milestone-delay",
        "general",
        "data-analysis",
        "analysis",
        ("version", "unapproved"),
        _milestones,
        "项目助理",
        "复盘",
        "low",
        "dev",
    ),
    Family(
        "fin-vat-split",
        "finance",
        "tax",
        "operation",
        ("unit", "full_width", "rate"),
        _vat,
        "税务会计",
        "申报",
        "medium",
        "dev",
        4,
    ),
    Family(
        "sc-stocktake",
        "supply_chain",
        "inventory",
        "analysis",
        ("unit", "recount", "duplicate"),
        _stocktake,
        "仓储主管",
        "盘点",
        "medium",
        "dev",
        4,
    ),
    Family(
        "mf-equipment-effect",
        "manufacturing",
        "equipment",
        "analysis",
        ("unit", "planned_stop", "rework"),
        _effectiveness,
        "设备主管",
        "日报",
        "low",
        "dev",
        4,
    ),
)
