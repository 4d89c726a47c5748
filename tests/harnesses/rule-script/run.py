"""A scaffold without a model: recognise the kind of work by its files, compute it by fixed rules, write it down.

It knows only what a vendor can know: the contract's paths and what stands in the workspace. Work it does not
recognise is declined in the reply.
"""

import importlib
import os
import sys

sys.path.insert(0, os.environ.get("HARNESS_DIR", "/harness"))
from tables import Work

# Files that must be there (names without suffix) -> module and function that do the work.
SKILLS = (
    ({"发票台账", "入库明细"}, "finance", "three_way_match"),
    ({"凭证分录"}, "finance", "vouchers"),
    ({"应收单", "收款核销"}, "finance", "ageing"),
    ({"固定资产卡片"}, "finance", "depreciation"),
    ({"批次库存", "待发订单"}, "supply", "lots"),
    ({"日出库", "库存与参数"}, "supply", "reorder"),
    ({"采购订单行", "收退货记录"}, "supply", "receipts"),
    ({"承运商报价", "待发运单"}, "supply", "carriers"),
    ({"货位库存", "波次订单"}, "supply", "picking"),
    ({"物料清单", "计划单"}, "factory", "explosion"),
    ({"生产工单", "报工记录"}, "factory", "progress"),
    ({"不良处理单", "标准成本"}, "factory", "scrap"),
    ({"线边库存", "工单用料"}, "factory", "kits"),
    ({"部门预算", "费用明细"}, "office", "overrun"),
    ({"2025年销售流水", "2026年销售流水"}, "office", "trend"),
    ({"客户名单_汇总"}, "office", "contacts"),
    ({"业务库备份"}, "office", "dump"),
    ({"合同审查标准"}, "papers", "contracts"),
    ({"差旅报销"}, "papers", "travel"),
    ({"年度报告摘录"}, "papers", "report"),
    ({"发送名单"}, "papers", "letters"),
    ({"故障工单", "值班手册"}, "logs", "causes"),
    ({"合计", "scan"}, "scans", "register"),
)


def main() -> None:
    """Answer the user first, then work, then answer with what was done."""
    work = Work()
    work.answer("收到，这就处理。")
    for needed, module, name in SKILLS:
        if needed <= work.stems or (module == "scans" and work.folder("扫描件")):
            try:
                getattr(importlib.import_module(module), name)(work)
            except (KeyError, ValueError, IndexError, ArithmeticError, StopIteration, OSError) as problem:
                print(f"{module}.{name}: {problem!r}", file=sys.stderr)
                work.answer("处理时遇到格式问题，没有全部完成，请人工复核。")
            return
    work.answer("这类工作我暂时不会做，请安排人处理。")


if __name__ == "__main__":
    main()
