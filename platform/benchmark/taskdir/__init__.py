"""Task directories: strict reader, digests, writing helpers. No Django; the layout is read from disk only."""

from benchmark.taskdir.digests import Digests, digest
from benchmark.taskdir.errors import TaskDirError
from benchmark.taskdir.reading import Task, read_rules_data, read_task, read_taskset, task_dir, verify_digests
from benchmark.taskdir.schema import TaskEntry, TaskFile, TaskSetManifest
from benchmark.taskdir.workspace import pack, unpack
from benchmark.taskdir.writing import rules_yaml, toml, write_files

__all__ = [
    "Digests",
    "Task",
    "TaskDirError",
    "TaskEntry",
    "TaskFile",
    "TaskSetManifest",
    "digest",
    "pack",
    "read_rules_data",
    "read_task",
    "read_taskset",
    "rules_yaml",
    "task_dir",
    "toml",
    "unpack",
    "verify_digests",
    "write_files",
]
