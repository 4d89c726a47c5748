"""A careful solver of every family, to prove that each task can be solved from what stands in its workspace.

It shares file reading and the sound routines with the rule-script harness and nothing with the generator. A
bundle of it holds the files of `rule-script` with these laid over them.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "rule-script")]

from tables import Work  # noqa: E402

SKILLS = (
    ({"发票台账", "入库明细"}, "ref_finance", "three_way_match"),
    ({"凭证分录"}, "finance", "vouchers"),
    ({"应收单", "收款核销"}, "ref_finance", "ageing"),
    ({"银行对账单", "银行存款日记账"}, "ref_finance", "bank"),
    ({"固定资产卡片"}, "ref_finance", "depreciation"),
    ({"结账事项流水"}, "ref_finance", "close"),
    ({"批次库存", "待发订单"}, "supply", "lots"),
    ({"日出库", "库存与参数"}, "ref_supply", "reorder"),
    ({"采购订单行", "收退货记录"}, "supply", "receipts"),
    ({"销售订单", "退货单"}, "ref_supply", "service"),
    ({"承运商报价", "待发运单"}, "ref_supply", "carriers"),
    ({"货位库存", "波次订单"}, "ref_supply", "picking"),
    ({"物料清单", "计划单"}, "factory", "explosion"),
    ({"生产工单", "报工记录"}, "ref_factory", "progress"),
    ({"首检记录", "巡检记录"}, "ref_factory", "two_days"),
    ({"不良处理单", "标准成本"}, "ref_factory", "scrap"),
    ({"工作中心", "本周工序任务"}, "ref_factory", "capacity"),
    ({"线边库存", "工单用料"}, "ref_factory", "kits"),
    ({"部门预算", "费用明细"}, "office", "overrun"),
    ({"2025年销售流水", "2026年销售流水"}, "ref_general", "trend"),
    ({"客户名单_汇总"}, "ref_general", "contacts"),
    ({"业务库备份"}, "office", "dump"),
    ({"合同审查标准"}, "ref_papers", "contracts"),
    ({"差旅报销"}, "ref_papers", "travel"),
    ({"年度报告摘录"}, "ref_papers", "report"),
    ({"发送名单"}, "ref_papers", "letters"),
    ({"故障工单", "值班手册"}, "ref_general", "causes"),
    ({"日程导出", "待排会议"}, "ref_general", "meetings"),
)


def main() -> None:
    """Solve or raise: a failure here is a defect of the task or of this solver."""
    work = Work()
    work.answer("收到。")
    for needed, module, name in SKILLS:
        if needed <= work.stems:
            getattr(importlib.import_module(module), name)(work)
            return
    for folder, module, name in (("知识库", "ref_papers", "knowledge"), ("扫描件", "ref_general", "scans")):
        if work.folder(folder):
            getattr(importlib.import_module(module), name)(work)
            return
    raise SystemExit("no routine for this task")


if __name__ == "__main__":
    main()
