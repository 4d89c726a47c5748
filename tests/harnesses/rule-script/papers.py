"""Reading documents: contracts, travel policy, annual report, letters."""

import json
import re
from decimal import Decimal

from tables import cents, half, number, percent

CLAUSES = (
    ("预付款比例", r"预付合同总价的([0-9]+)%"),
    ("质保期", r"质保期为验收合格后([0-9]+)(个月|年)"),
    ("违约金上限", r"违约金累计不超过合同总价的([0-9]+)%"),
    ("付款期限", r"收到发票后([0-9]+)天内"),
)


def _clauses(text):
    found = {}
    for name, pattern in CLAUSES:
        hit = re.search(pattern, text)
        if hit:
            found[name] = int(hit[1]) * (12 if hit.lastindex == 2 and hit[2] == "年" else 1)
    return found


def contracts(work):
    """Clauses outside the standard, signed supplements applied. Numerals in characters are not read."""
    standard = {
        n: int(v) for n, v in re.findall(r"\| (\S+) \| 不[少超][于过]([0-9]+)", work.read("合同审查标准.md"))
    }
    values = {}
    for path in work.folder("合同"):
        text = path.read_text(encoding="utf-8")
        key = path.stem.split("_")[0]
        if "草稿" not in path.stem:
            values.setdefault(key, {}).update(_clauses(text))
    rows = []
    for key, found in values.items():
        for name, value in found.items():
            if value < standard[name] if name == "质保期" else value > standard[name]:
                rows.append((f"{key}/{name}", value, standard[name]))
    work.table("条款审查.csv", ("审查项", "合同值", "标准值"), rows)


def travel(work):
    """Lodging over the limit. Only the policy in force now is applied."""
    policy = (work.root / "制度" / "差旅住宿标准_2026版.md").read_text(encoding="utf-8")
    limits = {}
    for cities, staff, senior in re.findall(r"\| \S+（(\S+)） \| ([0-9]+) \| ([0-9]+) \|", policy):
        for city in cities.split("、"):
            limits[city] = {"员工": int(staff), "经理": int(senior)}
    rows = []
    for claim in work.rows("差旅报销"):
        if claim["单据状态"] != "已撤回":
            limit = limits[claim["目的地"].removesuffix("市")][claim["职级"]] * number(claim["住宿晚数"])
            over = number(claim["住宿金额"]) - limit
            if over > 0:
                rows.append((claim["报销单号"], cents(over), "2026版"))
    work.table("超标明细.csv", ("报销单号", "超标金额", "适用版本"), rows)


def report(work):
    """The figures that stand in fixed sentences; last year's figure is taken from the main table."""
    text = half(work.read("年度报告摘录.md"))
    revenue, before = (
        number(v) * 10000 for v in re.search(r"\| 营业收入 \| (\S+) \| (\S+) \|", text).groups()
    )
    cash = number(re.search(r"\| 经营活动现金流净额 \| (\S+) \|", text)[1]) * 10000
    abroad = number(re.search(r"境外收入 (\S+) 亿元", text)[1]) * 10**8
    research = number(re.search(r"全年研发投入 (\S+) 元", text)[1])
    staff = number(re.search(r"在职员工 ([0-9]+) 人", text)[1])
    found = {
        "营业收入": str(revenue),
        "收入增速": percent(revenue - before, before),
        "研发投入占比": percent(research, revenue),
        "境外收入占比": percent(abroad, revenue),
        "人均创收": str(cents(Decimal(revenue) / staff / 10000)),
        "经营现金流净额": str(cash),
    }
    (work.root / "报告数据.json").write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    work.answer("指标已填好，毛利率没有把握，空着。")


def letters(work):
    """One letter for each approved line, the latest line of a code first."""
    kind = next(stem for stem in work.stems if stem.startswith("模板_")).removeprefix("模板_")
    template = work.read(f"模板_{kind}.md")
    latest = {}
    for row in sorted(work.rows("发送名单"), key=lambda r: r["修改时间"]):
        latest[row["编号"]] = row
    folder = work.root / "输出"
    folder.mkdir(exist_ok=True)
    for code, row in latest.items():
        if row["状态"] != "已审批":
            continue
        value = number(row["金额"]) * (10000 if row["单位"] == "万元" else 1)
        text = template.replace("{金额}", f"{value:,.2f}")
        for name in ("名称", "日期", "联系人"):
            text = text.replace("{" + name + "}", row[name] or "无")
        (folder / f"{kind}_{code}.md").write_text(text, encoding="utf-8")
    work.answer(f"{kind}已按名单生成。")
