"""The same arrangements as for submissions."""

from tests.submissions.conftest import harness, other, task_set, vendor

__all__ = ["harness", "other", "task_set", "vendor"]
