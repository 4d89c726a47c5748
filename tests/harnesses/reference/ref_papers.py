"""Careful reading of documents."""

from __future__ import annotations

import json
import re
from datetime import date
from decimal import Decimal

from tables import Work, cents, half, number, percent

DIGITS = "零一二三四五六七八九"
CLAUSES = (
    ("预付款比例", r"预付合同总价的(.+?)。"),
    ("质保期", r"质保期为验收合格后(.+?)。"),
    ("违约金上限", r"违约金累计不超过合同总价的(.+?)。"),
    ("付款期限", r"收到发票后(.+?)天内"),
)


def _spelled(text: str) -> int:
    """Digits, or Chinese numerals below a hundred."""
    digits = re.search(r"[0-9]+", text)
    if digits:
        return int(digits[0])
    body = "".join(c for c in text if c in DIGITS + "十")
    if "十" not in body:
        return DIGITS.index(body)
    head, _, tail = body.partition("十")
    return (DIGITS.index(head) if head else 1) * 10 + (DIGITS.index(tail) if tail else 0)


def contracts(work: Work) -> None:
    """Every clause, supplements after contracts, drafts left out."""
    standard = {
        n: int(v) for n, v in re.findall(r"\| (\S+) \| 不[少超][于过]([0-9]+)", work.read("合同审查标准.md"))
    }
    values: dict[str, dict[str, int]] = {}
    for path in sorted(work.folder("合同"), key=lambda p: (len(p.stem), p.stem)):
        text = path.read_text(encoding="utf-8")
        if "未签署" in text:
            continue
        for name, pattern in CLAUSES:
            hit = re.search(pattern, text)
            if hit:
                value = _spelled(hit[1]) * (12 if name == "质保期" and "年" in hit[1] else 1)
                values.setdefault(path.stem.split("_")[0], {})[name] = value
    rows = []
    for key, found in values.items():
        assert len(found) == 4
        for name, value in found.items():
            if value < standard[name] if name == "质保期" else value > standard[name]:
                rows.append((f"{key}/{name}", value, standard[name]))
    work.table("条款审查.csv", ("审查项", "合同值", "标准值"), rows)


def travel(work: Work) -> None:
    """The version in force on the day of departure."""
    limits: dict[tuple[str, str, str], int] = {}
    switch = date.min
    for path in work.folder("制度"):
        text = path.read_text(encoding="utf-8")
        version = path.stem.split("_")[1]
        since = re.search(r"自 (\S+) 起施行，出发日期", text)
        switch = date.fromisoformat(since[1]) if since else switch
        for cities, staff, senior in re.findall(r"\| \S+（(\S+)） \| ([0-9]+) \| ([0-9]+) \|", text):
            for city in cities.split("、"):
                limits[version, city, "员工"], limits[version, city, "经理"] = int(staff), int(senior)
    rows = []
    for claim in work.rows("差旅报销"):
        if claim["单据状态"] == "已撤回":
            continue
        version = "2026版" if date.fromisoformat(claim["出发日期"]) >= switch else "2025版"
        limit = limits[version, claim["目的地"].removesuffix("市"), claim["职级"]] * number(claim["住宿晚数"])
        over = number(claim["住宿金额"]) - limit
        if over > 0:
            rows.append((claim["报销单号"], cents(over), version))
    work.table("超标明细.csv", ("报销单号", "超标金额", "适用版本"), rows)


def report(work: Work) -> None:
    """All figures, last year as restated."""
    text = half(work.read("年度报告摘录.md"))

    def read(pattern: str) -> Decimal:
        found = re.search(pattern, text)
        assert found, pattern
        return Decimal(number(found[1]))

    revenue = read(r"\| 营业收入 \| (\S+) \|") * 10000
    restated = re.search(r"调整后上年营业收入为 (\S+) 元", text)
    before = number(restated[1]) if restated else read(r"\| 营业收入 \| \S+ \| (\S+) \|") * 10000
    segments = sorted(
        (
            (number(v), c)
            for v, c in re.findall(r"\| \S+ \| ([0-9.]+) \| ([0-9.]+|未单独披露) \|", text.split("四、")[1])
        ),
        key=lambda pair: -pair[0],
    )
    third, cost = segments[2]
    margin = percent(third - number(cost), third) if number(cost) is not None else "无法计算"
    found = {
        "营业收入": revenue,
        "收入增速": percent(revenue - before, before),
        "研发投入占比": percent(read(r"研发投入 (\S+) 元"), revenue),
        "境外收入占比": percent(read(r"境外收入 (\S+) 亿元") * 10**8, revenue),
        "人均创收": cents(revenue / read(r"在职员工 ([0-9]+) 人") / 10000),
        "经营现金流净额": read(r"\| 经营活动现金流净额 \| (\S+) \|") * 10000,
        "第三大业务毛利率": margin,
    }
    told = json.dumps({k: str(v) for k, v in found.items()}, ensure_ascii=False)
    (work.root / "报告数据.json").write_text(told, encoding="utf-8")


def letters(work: Work) -> None:
    """One letter for each approved customer, blanks marked."""
    kind = next(s for s in work.stems if s.startswith("模板_")).removeprefix("模板_")
    template = work.read(f"模板_{kind}.md")
    latest = {r["编号"]: r for r in sorted(work.rows("发送名单"), key=lambda r: r["修改时间"])}
    (work.root / "输出").mkdir()
    for code, row in latest.items():
        if row["状态"] == "已审批":
            value = number(row["金额"]) * (10000 if row["单位"] == "万元" else 1)
            text = template.replace("{金额}", f"{value:,.2f}")
            for name in ("名称", "日期", "联系人"):
                text = text.replace("{" + name + "}", row[name] or "（待补充）")
            (work.root / "输出" / f"{kind}_{code}.md").write_text(text, encoding="utf-8")


def knowledge(work: Work) -> None:
    """From the error to the parameter, its latest description, the patch and what replaced it."""
    articles = {}
    for path in work.folder("知识库"):
        text = path.read_text(encoding="utf-8")
        articles[text.split("\n", 1)[0].removeprefix("# ")] = text
    asked = re.search(r"(E[0-9]{4})", work.text)
    assert asked
    code = asked[1]
    module = next(m for m in (t.split("报错")[0] for t in articles if f"报错 {code}" in t) if m in work.text)
    parameter = re.search(r"参数【(.+?)】", articles[f"{module}报错 {code} 怎么处理"])
    assert parameter
    title = f"参数【{parameter[1]}】说明"
    title = next((t for t in articles if t.startswith(title + "（")), title)
    value = re.search(r"设为“(.+?)”", articles[title])
    older = re.search(r"补丁是 (\S+?)。", articles[f"{module}补丁一览"])
    assert value
    assert older
    before = articles[f"补丁 {older[1]} 发布说明"]
    patch = re.search(r"已被 (\S+) 取代", before)
    assert patch
    after = articles[f"补丁 {patch[1]} 发布说明"]
    days = [date.fromisoformat(re.findall(r"发布日期：(\S+?)。", text)[0]) for text in (before, after)]
    found = {
        "原因参数": parameter[1],
        "应设值": value[1],
        "补丁号": patch[1],
        "发布日期": str(days[1]),
        "最低版本": re.findall(r"不得低于 (\S+?)。", after)[0],
        "间隔天数": str((days[1] - days[0]).days),
        "出处": title,
    }
    (work.root / "处理结论.json").write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
