"""Texts as arbiters and governors write them: what passes, and what each rule of the linter has to find."""

from __future__ import annotations

from governance.records.linter.core import Rule

PASSES = (
    "Your appeal of 3 December 2026 was filed within 30 days of the release and is admissible.",
    "The hold ends on 2026-12-24 at 08:00 UTC. If nothing is decided before then, the result is released.",
    "You will have an answer within 15 working days; after that an arbiter from outside decides.",
    "40 runs were drawn by the joint seed and graded again by two people who saw no name.",
    "The agreement was 95 points with an interval of ±4, above the published threshold of 90.",
    "The value of the finance domain was corrected from 51 to 53 because a rule misread full-width digits.",
    "The use is returned; the cooldown of 7 days ends with it. You have 3 of 5 submissions left.",
    "Section 4.4 of the white paper and sections 7.1 to 7.3 say what a score means. See version 2026.9.",
    "One task of a domain moves the mean by less than half a point, so a single change seldom shows.".replace(
        "One task", "A single task"
    ),
    "Results are reported by domain only; we cannot say on which tasks the harness did worse than expected.",
    "The version has 1,335 held-out tasks, 286 in each enterprise domain and 477 in the general one.",
    "Please describe in your own words why the harness answers with an empty file.",
    "两名复核人均未看到供应商名称，也未看到首次判定。",
    "贵方于2026年12月3日提出的申诉在30日的期限内，予以受理。",
    "答复期限为15个工作日，逾期将交由外部仲裁人处理。",
    "依据白皮书第4.4节与7.1至7.3节，领域得分不提供逐题结果。",
    "财务领域得分由51更正为53，原因是规则未识别全角数字。",
    "抽取40次运行由两人复核，一致率为95分，区间为±4，高于公布的阈值90。",
    "本次提交次数已退还，冷却期随之结束；本版本剩余提交次数为3。",
    "该版本共1,335道保留题目，三个企业领域各286道。",
    "运行框架在预检中退出，请查看公开题目的日志并修改后重新提交。",
    "第一条规则适用于所有提交主体，贵方不受特别限制。",
)
"""Ordinary sentences of rulings, notices and public lines."""

LEAKS = (
    (Rule.TASK, "The dispute is about finance-three-way-match-0004 and nothing else."),
    (Rule.TASK, "争议涉及 three way match 0004 这一题。"),
    (Rule.TASK, "Look again at threewaymatch0004, please."),
    (Rule.FAMILY, "Your harness lost most in fin-three-way-match."),
    (Rule.FAMILY, "The weakness is in three-way match, not in arithmetic."),
    (Rule.FAMILY, "扣分集中在 three_way_match 一类。"),
    (Rule.TITLE, "扣分的是“采购三单核对”。"),
    (Rule.TITLE, "It is the task called three-way match of orders, receipts and invoices."),
    (Rule.IDENTIFIER, "The order PO-94417 was received twice."),
    (Rule.IDENTIFIER, "采购订单 PO-94417 的入库未审核。"),
    (Rule.IDENTIFIER, "The table 三单核对结果.csv lacks a column."),
    (Rule.QUOTE, "The statement says that receipts which nobody has approved must not be counted at all."),
    (Rule.QUOTE, "题面写明“没审核的入库不能算；应付按订单含税单价乘以有效入库数量”。"),
    (Rule.VALUE, "漏掉了恒远轴承制造的那一张发票。"),
    (Rule.FINE_NUMBER, "Your unrounded score in finance was 51.37."),
    (Rule.FINE_NUMBER, "保留两位后得分为0.5137。"),
    (Rule.FINE_NUMBER, "应付金额应为12845，而不是您填写的数字。"),
    (Rule.COUNT, "Your harness failed on 12 tasks of that domain."),
    (Rule.COUNT, "Seventeen hard tasks had no output."),
    (Rule.COUNT, "It was wrong in 3 of 40 cases."),
    (Rule.COUNT, "共有三道题目评分有误。"),
    (Rule.COUNT, "其中有3题没有产出。"),
    (Rule.VENDOR, "The same package was handed in by Aurora Robotics before."),
    (Rule.VENDOR, "星海智能也提交过同样的包。"),
    (Rule.VENDOR, "Compare with the harness Borealis."),
)
"""By rule: a text that has to be found by it."""

STATEMENT = (
    "没审核的入库不能算；应付按订单含税单价乘以有效入库数量，差异金额用发票金额减应付。采购订单 PO-94417。\n"
    "Receipts which nobody has approved must not be counted at all, and an invoice that came twice counts once.\n"
    "供应商,订单\n恒远轴承制造,PO-94417\n"
)
PUBLIC = "做成一张表，表头里不用带单位，数字列只填数字。Please describe in your own words why.\n"
SLUGS = ("finance-three-way-match-0004", "general-capacity-0001")
FAMILIES = ("fin-three-way-match", "gen-capacity")
TITLES = ("采购三单核对", "Three-way match of orders, receipts and invoices")
VENDORS = ("Aurora Robotics", "星海智能", "Borealis", "may")
