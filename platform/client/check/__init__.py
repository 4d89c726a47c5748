"""`lgbench check`: what intake would say, offline, by the code that intake uses."""

from client.check.findings import Found
from client.check.package import check_package, check_project

__all__ = ["Found", "check_package", "check_project"]
