"""Root causes from service logs."""

import re

HARMLESS = ("UPSTREAM_FAIL", "CACHE_MISS", "SLOW_QUERY")


def causes(work):
    """The last error of a trace that no other service passed on. Retries are not told apart."""
    owners = dict(re.findall(r"\| ([A-Z_]+) \| (\S+) \|", work.read("值班手册.md")))
    found = {}
    for path in work.folder("日志"):
        for trace, code in re.findall(r"ERROR trace=(\w+) code=(\w+)", path.read_text(encoding="utf-8")):
            if code not in HARMLESS:
                found[trace] = (path.stem, code)
    rows = []
    for ticket in work.rows("故障工单"):
        service, code = found.get(ticket["trace"], ("", ""))
        rows.append((ticket["工单号"], service, code, owners.get(code, "平台组")))
    work.table("故障定位.csv", ("工单号", "根因服务", "错误码", "处理组"), rows)
