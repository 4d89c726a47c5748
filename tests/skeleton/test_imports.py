"""What import-linter does not see: foreign keys by name, per-task types by attribute, imports at run time."""

import ast
import json
import os
import subprocess
import sys

import pytest
from django.apps import apps
from django.conf import settings

from tests.servers import ROOT

#: From the top layer to the bottom.
LAYERS = [
    "leaderboard",
    *("appeals", "desk", "rotation", "records", "watch"),
    *("governance", "submissions", "evaluation", "benchmark", "accounts", "audit"),
]
PURE = [
    *(
        "scoring",
        "benchmark.taskdir",
        "benchmark.synthetic",
        "evaluation.sandbox",
        "evaluation.gateway",
        "evaluation.grader",
        "embedded",
    ),
]
#: The only modules above `evaluation` that may touch held-out per-task rows: sealed work; vendors read aggregates.
MAY_READ_TASK_RESULTS = {
    "governance/aggregates.py",
    "governance/appeals/services/rechecking.py",  # draws runs that two people judge again
    "governance/rotation/intake.py",  # pass rates of a task over all vendors
}


def test_foreign_keys_point_only_downwards():
    upward = []
    for model in apps.get_models(include_auto_created=True):
        source = model._meta.app_label
        for field in model._meta.get_fields():
            target = getattr(field, "related_model", None)
            if target is None or (field.auto_created and not field.concrete) or target == "self":
                continue
            label = target._meta.app_label
            if source in LAYERS and label in LAYERS and LAYERS.index(label) < LAYERS.index(source):
                upward.append(f"{model._meta.label}.{field.name} -> {target._meta.label}")
    assert upward == []


def test_every_app_of_ours_has_its_place_in_the_layers():
    assert {name.rpartition(".")[2] for name in settings.LOCAL_APPS} == set(LAYERS)
    assert all(apps.is_installed(app) for app in settings.LOCAL_APPS)


@pytest.mark.parametrize("package", PURE)
def test_pure_packages_load_no_django(package):
    """Imports every module of the package in a fresh interpreter."""
    code = """
import importlib, json, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}"}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, "-c", code, package], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"django", "rest_framework", "celery", "config", "accounts", "audit", "submissions"}


@pytest.mark.acceptance("main-job:6")
def test_code_above_evaluation_names_no_per_task_type():
    guilty = []
    for folder in ("submissions", "governance", "leaderboard"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if name not in MAY_READ_TASK_RESULTS and "TaskResult" in _names(path.read_text(encoding="utf-8")):
                guilty.append(name)
    assert guilty == []


def _names(text: str) -> set[str]:
    """Every identifier, attribute, imported name and word of a string in a module."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found.add(node.name.rpartition(".")[2])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 60:
            found.update(node.value.replace(".", " ").split())
    return found
