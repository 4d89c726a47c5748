"""General: figures from a long annual report; tracing an answer through a knowledge base."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from benchmark.synthetic import mess, names, spoken
from benchmark.synthetic.drafts import CANNOT, Answer, Draft, Family, Flaws, Rules, Scene, check_fields, views

_FIELDS = {
    "营业收入": "合并口径全年营业收入，单位元",
    "收入增速": "相对上年的增速，百分数一位小数；上年数追溯调整过的用调整后的",
    "研发投入占比": "研发投入占营业收入，百分数一位小数",
    "境外收入占比": "境外收入占营业收入，百分数一位小数",
    "人均创收": "营业收入除以年末在职人数，单位万元，两位小数",
    "经营现金流净额": "合并口径全年经营活动现金流净额，单位元",
    "第三大业务毛利率": "收入排第三的业务板块的毛利率，百分数一位小数；没披露成本就写“无法计算”",
}
_SEGMENTS = ("智能装备", "零部件", "技术服务", "软件产品", "租赁业务")


@dataclass(frozen=True)
class _Report:
    name: str
    segments: dict[str, tuple[Decimal, Decimal | None]]
    prior: Decimal
    restated: Decimal
    abroad: Decimal
    research: Decimal
    staff: int
    retired: int
    cash: Decimal
    half: Decimal
    parent: Decimal

    @property
    def revenue(self) -> Decimal:
        return sum((v for v, _ in self.segments.values()), Decimal(0))


def _report(scene: Scene) -> _Report:
    r = scene.rng
    chosen = r.sample(_SEGMENTS, scene.some(3, 5))
    sizes = sorted((mess.amount(r, 30_000_000, 900_000_000, "100000") for _ in chosen), reverse=True)
    segments = {}
    for place, (name, size) in enumerate(zip(chosen, sizes, strict=True)):
        cost = mess.half_up(size * r.randint(52, 88) / 100 / 10_000, 0) * 10_000
        segments[name] = (size, None if scene.has("missing_not_zero") and place == 2 else cost)
    total = sum(sizes, Decimal(0))
    prior = mess.half_up(total * r.randint(80, 115) / 100 / 100_000, 0) * 100_000
    restated = prior + r.randint(5, 60) * 1_000_000 if scene.has("version") else prior
    return _Report(
        names.company(r),
        segments,
        prior,
        restated,
        mess.half_up(total * r.randint(5, 40) / 100 / 10_000, 0) * 10_000,
        mess.half_up(total * r.randint(3, 12) / 100 / 10_000, 0) * 10_000,
        r.randint(300, 4000),
        r.randint(40, 200),
        mess.amount(r, 20_000_000, 200_000_000, "10000"),
        mess.amount(r, 9_000_000, 90_000_000, "10000"),
        mess.half_up(total * r.randint(60, 85) / 100 / 10_000, 0) * 10_000,
    )


def _report_view(report: _Report, flaws: Flaws) -> Answer:
    revenue = report.parent if "scope" in flaws else report.revenue
    if "unit" in flaws:
        revenue = revenue / 10_000
    prior = report.prior if "version" in flaws else report.restated
    third, cost = list(report.segments.values())[2]
    margin = (
        mess.percent(third - cost, third)
        if cost is not None
        else "100.0%"
        if "missing_not_zero" in flaws
        else CANNOT
    )
    staff = report.staff + (report.retired if "headcount" in flaws else 0)
    cash = report.half if "period" in flaws else report.cash
    base = report.revenue
    document = {
        "营业收入": mess.plain(revenue),
        "收入增速": mess.percent(base - prior, prior),
        "研发投入占比": mess.percent(report.research, base),
        "境外收入占比": mess.percent(report.abroad, base),
        "人均创收": str(mess.half_up(base / staff / 10_000)),
        "经营现金流净额": mess.plain(cash),
        "第三大业务毛利率": margin,
    }
    return Answer(documents={"figures": document})


_TALK = (
    "报告期内，公司围绕年度经营目标，稳步推进产品升级与渠道下沉，组织效率有所提升。",
    "面对原材料价格波动，公司通过集中采购和工艺改进消化成本压力。",
    "公司持续完善内部控制，未发现重大缺陷。",
    "董事会认为，行业竞争格局正在重塑，公司具备较强的抗风险能力。",
    "公司未来将继续聚焦主业，加大人才引进力度。",
)


def _report_text(scene: Scene, report: _Report) -> str:
    r = scene.rng
    wan, yi = mess.in_wan, Decimal(100_000_000)
    shuffled = r.sample(list(report.segments.items()), len(report.segments))
    table = [
        {"板块": n, "营业收入": wan(v), "营业成本": "未单独披露" if c is None else wan(c)}
        for n, (v, c) in shuffled
    ]
    note = (
        f"因同一控制下企业合并，上年数已追溯调整，调整后上年营业收入为 {mess.thousands(report.restated)} 元。"
        if report.restated != report.prior
        else "本期未发生会计政策变更。"
    )
    parts = [
        f"# {report.name}2025 年年度报告（摘录）",
        "## 一、公司简介",
        r.choice(_TALK),
        "## 二、主要财务数据",
        "单位：万元",
        mess.markdown_table(
            [
                {"项目": "营业收入", "2025 年": wan(report.revenue), "2024 年（调整前）": wan(report.prior)},
                {
                    "项目": "经营活动现金流净额",
                    "2025 年": wan(report.cash),
                    "2024 年（调整前）": wan(report.cash - 1_230_000),
                },
            ],
            ("项目", "2025 年", "2024 年（调整前）"),
        ),
        note,
        "## 三、经营情况讨论",
        *r.sample(_TALK, 3),
        f"其中上半年经营活动现金流净额 {wan(report.half)} 万元，下半年回款加快。",
        "## 四、分板块情况",
        "单位：万元",
        mess.markdown_table(table, ("板块", "营业收入", "营业成本")),
        f"按地区分，境外收入 {mess.plain(report.abroad / yi)} 亿元。" + r.choice(_TALK),
        "## 五、研发与人员",
        f"全年研发投入 {mess.thousands(report.research)} 元，全部费用化。",
        f"年末在职员工 {report.staff} 人；另需承担费用的离退休人员 {report.retired} 人。",
        r.choice(_TALK),
        "## 六、母公司主要数据",
        f"母公司全年营业收入 {wan(report.parent)} 万元。",
        r.choice(_TALK),
    ]
    return "\n\n".join(parts) + "\n"


def _report_qa(scene: Scene) -> Draft:
    r = scene.rng
    report = _report(scene)
    files = {"年度报告摘录.md": _report_text(scene, report).encode()}
    gold, adversarial, baseline = views(scene, lambda flaws: _report_view(report, flaws))
    rules = Rules()
    rules.deliver_document("figures", "报告数据.json")
    rule = check_fields(scene, rules, "figures", gold, adversarial)
    instruction = spoken.ask(
        r,
        scene.say(
            "投委会要这家公司的几个数，帮我从年报里找出来，该算的算一下。",
            "读一下这份年报，把下面几个指标填了。",
            "行研底稿缺几个数，都在年报摘录里，你来补。",
        ),
        spoken.wanted_document(r, "报告数据.json", _FIELDS),
        scene.say("值都写成字符串，不带单位，百分数带百分号。", "每个值用字符串，百分数要带 %，别的只写数。"),
    )
    return Draft(
        ("年报指标摘取与计算", "Figures from an annual report"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=30,
    )


_KB_FIELDS = {
    "原因参数": "导致这个报错的参数名称",
    "应设值": "这个参数现在应该设成什么",
    "补丁号": "要装的补丁编号，已被取代的要给最新的",
    "发布日期": "该补丁的发布日期，YYYY-MM-DD",
    "最低版本": "装该补丁前至少要到的版本",
    "间隔天数": "旧补丁和该补丁发布日期相差几天，只写整数",
    "出处": "写明该参数设法的那篇文章的标题",
}
_MODULES = ("费用报销", "应付管理", "库存核算", "资金计划", "合同台账", "薪酬核算")
_PARAMETERS = (
    "允许跨期冲回",
    "启用分摊校验",
    "自动带出税额",
    "按组织隔离",
    "保留历史单价",
    "强制关联申请",
    "合并同类分录",
    "控制预算余额",
)


@dataclass(frozen=True)
class _Topic:
    module: str
    code: str
    parameter: str
    value: str
    former: str
    patch: str
    older: str
    issued: dt.date
    before: dt.date
    version: str
    revised: bool


def _topics(scene: Scene) -> list[_Topic]:
    r = scene.rng
    code = f"E{r.randint(1000, 9999)}"
    modules = r.sample(_MODULES, scene.some(3, 5))
    parameters = r.sample(_PARAMETERS, len(modules))
    numbers = names.codes(r, "PT", 2 * len(modules), 6)
    r.shuffle(numbers)
    made = []
    for place, module in enumerate(modules):
        before = mess.day(r, dt.date(2025, 2, 1), dt.date(2025, 8, 1))
        # The second module throws the same code: what differs is where the user stands.
        made.append(
            _Topic(
                module,
                code if place < 2 else f"E{r.randint(1000, 9999)}",
                parameters[place],
                r.choice(("否", "仅提示", "3")),
                r.choice(("是", "严格", "0")),
                numbers[2 * place],
                numbers[2 * place + 1],
                before + dt.timedelta(days=r.randint(30, 200)),
                before,
                f"V{r.randint(6, 9)}.{r.randint(0, 9)}",
                place == 0 and scene.has("version"),
            )
        )
    return made


def _kb_files(scene: Scene, topics: list[_Topic]) -> dict[str, bytes]:
    r = scene.rng
    articles: list[str] = []
    for t in topics:
        value = t.former if t.revised else t.value
        texts = {
            f"{t.module}报错 {t.code} 怎么处理": (
                f"在{t.module}保存或提交单据时提示 {t.code}，多半和参数【{t.parameter}】有关。",
                "参数含义和设法请搜参数名。",
                f"设完参数如果仍然报错，需要补丁，见“{t.module}补丁一览”。",
            ),
            f"参数【{t.parameter}】说明": (
                f"适用：{t.module}。",
                f"发布于 2025-01-{r.randint(10, 28)}。",
                f"出现 {t.code} 时，请把它设为“{value}”。",
            ),
            f"{t.module}补丁一览": (
                f"处理 {t.code} 的补丁是 {t.older}。",
                "下载前请确认该补丁没有被后续补丁取代。",
            ),
            f"补丁 {t.older} 发布说明": (
                f"发布日期：{t.before}。",
                f"修复 {t.code}。本补丁已被 {t.patch} 取代。",
                "要求版本：V5.0 及以上。",
            ),
            f"补丁 {t.patch} 发布说明": (
                f"发布日期：{t.issued}。",
                f"取代 {t.older}。",
                f"安装前系统版本不得低于 {t.version}。",
            ),
        }
        articles += ["\n\n".join((f"# {title}", *parts)) + "\n" for title, parts in texts.items()]
        if t.revised:
            articles.append(
                f"# 参数【{t.parameter}】说明（2026 年修订）\n\n发布于 2026-02-{r.randint(10, 28)}，原说明作废。\n\n"
                f"适用：{t.module}。出现 {t.code} 时，应设为“{t.value}”。\n"
            )
    articles += [f"# {m}常见问题\n\n{m}期初录入、权限、打印模板等问题见产品手册。\n" for m in _MODULES]
    r.shuffle(articles)
    return {
        f"知识库/{number}.md": text.encode()
        for number, text in zip(sorted(r.sample(range(10_000, 99_999), len(articles))), articles, strict=True)
    }


def _kb_view(topics: list[_Topic], flaws: Flaws) -> Answer:
    t = topics[1] if "similar" in flaws else topics[0]
    old = "superseded" in flaws
    revised = t.revised and "version" not in flaws
    return Answer(
        documents={
            "answer": {
                "原因参数": t.parameter,
                "应设值": t.former if t.revised and not revised else t.value,
                "补丁号": t.older if old else t.patch,
                "发布日期": str(t.before if old else t.issued),
                "最低版本": "V5.0" if old else t.version,
                "间隔天数": str((t.issued - t.before).days),
                "出处": f"参数【{t.parameter}】说明" + ("（2026 年修订）" if revised else ""),
            }
        }
    )


def _tracing(scene: Scene) -> Draft:
    r = scene.rng
    topics = _topics(scene)
    files = _kb_files(scene, topics)
    gold, adversarial, baseline = views(scene, lambda flaws: _kb_view(topics, flaws))
    if scene.trap == "similar":
        # Confusing the module spoils the whole chain; the sample keeps the date arithmetic it did on the right pair.
        adversarial.documents["answer"] |= {k: gold.documents["answer"][k] for k in ("间隔天数", "最低版本")}
    rules = Rules()
    rules.deliver_document("answer", "处理结论.json")
    rule = check_fields(scene, rules, "answer", gold, adversarial)
    first = topics[0]
    instruction = spoken.ask(
        r,
        scene.say(
            f"同事在{first.module}里提交单据报 {first.code}，查查知识库该怎么弄。",
            f"{first.module}报 {first.code}，客户催得急，从知识库里找一下完整的处理办法。",
            f"帮我查知识库：{first.module}的 {first.code} 到底怎么解决？",
        ),
        scene.say("文章多，有些是旧的，注意看有没有修订和取代。", "注意别用过期的说法。"),
        spoken.wanted_document(r, "处理结论.json", _KB_FIELDS),
    )
    return Draft(
        ("知识库多跳追溯", "Tracing an error through a knowledge base"),
        instruction,
        files,
        rules,
        gold,
        adversarial,
        baseline,
        rule,
        seconds=30,
    )


FAMILIES = (
    Family(
        "gen-report-reading",
        "general",
        "report-qa",
        "query",
        ("unit", "version", "missing_not_zero", "headcount", "scope", "period"),
        _report_qa,
        "投资经理",
        "尽调",
        "medium",
    ),
    Family(
        "gen-knowledge-tracing",
        "general",
        "knowledge-base",
        "query",
        ("superseded", "similar", "version"),
        _tracing,
        "技术支持",
        "问题处理",
        "low",
    ),
)
