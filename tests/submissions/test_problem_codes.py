"""The one catalogue: whatever refuses has a code in it, and each code in it is said somewhere."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import translation

from accounts.publishing.refusals import IdentityRefused
from accounts.refusals import AccountsRefused
from submissions.problems import Code, Refused, catalogue

ROOT = Path(__file__).parents[2]
PARTS = {ROOT / "platform": ("accounts", "evaluation"), ROOT: ("submissions", "governance", "leaderboard")}
CODES = {code.value for code in Code}
TEXTS = re.compile(r"submissions/problems/(?!handler)|refusals\.py$|/management/|/probes/|/grader/")
"""Where codes are listed or worded, which says nothing of their being used; and programs of the sandbox."""
CODED = re.compile(r"""translate "Code" %}\s*(?:<a [^>]*>)?<code>([a-z_]+)</code>""")
"""A code as templates write it, after the word that says so."""
HOST_ONLY = {"ExportRefused", "RegradingRefused"}
"""Of two commands on the host, answered in English to whoever types them."""


def _sources() -> Iterator[tuple[Path, str, ast.Module]]:
    """Path, module name and tree of whatever serves people."""
    for base, names in PARTS.items():
        for name in names:
            for path in sorted((base / name).rglob("*.py")):
                module = ".".join(path.relative_to(base).with_suffix("").parts)
                yield path, module.removesuffix(".__init__"), ast.parse(path.read_text())


def _enumerated(module: ModuleType, tree: ast.Module) -> Iterator[StrEnum]:
    """Members of enumerations that are named as `Word.MEMBER`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = getattr(module, node.value.id, None)
            if isinstance(owner, type) and issubclass(owner, StrEnum):
                found = getattr(owner, node.attr, None)
                if isinstance(found, StrEnum):
                    yield found


def _passed(tree: ast.Module) -> Iterator[str]:
    """Texts that are passed as `code=`, as the library of the API takes them, or that stand in tables of states."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "code":
            yield from (str(part.value) for part in ast.walk(node.value) if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Tuple):
            yield from (str(part.value) for part in node.elts if isinstance(part, ast.Constant))


def _raised_by_the_database() -> set[str]:
    """Names of rules in migrations, which `refusing` gives on as codes."""
    found: set[str] = set()
    for base, names in PARTS.items():
        for name in names:
            for path in (base / name / "migrations").glob("*.py"):
                found |= set(re.findall(r"[a-z]+(?:_[a-z]+)+", path.read_text()))
    return found


def _written() -> set[str]:
    """Codes that stand in templates."""
    texts = [path.read_text() for path in (ROOT / "templates").rglob("*.html")]
    return {code for text in texts for code in re.findall(CODED, text)}


def _said() -> set[str]:
    said = {code for code in _raised_by_the_database() & CODES if code.startswith(("duty_", "duties_"))}
    said |= _written()
    for path, name, tree in _sources():
        if TEXTS.search(str(path)) or "/migrations/" in str(path):
            continue
        said |= {member.value for member in _enumerated(importlib.import_module(name), tree)}
        said |= set(_passed(tree))
    return said


def test_every_code_of_the_catalogue_is_said_somewhere() -> None:
    said = _said()
    assert {"cooldown", "token_invalid", "duty_conflict", "issuer_keys", "bad_request"} <= said, (
        "the walk sees too little"
    )
    assert sorted(CODES - said) == []


def test_whatever_refuses_has_codes_of_the_catalogue() -> None:
    refusals: list[type[Any]] = []
    for path, name, tree in _sources():
        for node in tree.body:
            if (
                isinstance(node, ast.ClassDef)
                and node.name.endswith("Refused")
                and "/tests/" not in str(path)
            ):
                refusals.append(getattr(importlib.import_module(name), node.name))
    worded = [one for one in refusals if issubclass(one, AccountsRefused) and one is not AccountsRefused]
    assert len(worded) >= 7
    plain = {one.__name__ for one in refusals} - {one.__name__ for one in worded}
    assert plain == HOST_ONLY | {AccountsRefused.__name__, IdentityRefused.__name__, Refused.__name__}
    for one in worded:
        every: list[StrEnum] = [*type(next(iter(one.words))).__members__.values()]
        assert list(one.words) == every, one
        assert {reason.value for reason in every} <= CODES, one
        for reason, words in one.words.items():
            found = catalogue()[Code(reason.value)]
            assert (found.title, found.sentence, found.remedy) == (words.title, words.sentence, words.remedy)
            assert str(one(reason)) == f"{words.sentence} {words.remedy} [{reason.value}]"


def test_templates_write_no_code_of_their_own() -> None:
    assert {"csrf_failed", "bad_request", "account_suspended"} <= _written() <= CODES


@pytest.mark.django_db
def test_each_code_has_its_page_in_both_languages() -> None:
    client = Client()
    for code, found in catalogue().items():
        titles = []
        for language, _name in settings.LANGUAGES:
            with translation.override(language):
                answer = client.get(reverse("leaderboard:problem", args=[code.value]))
                titles.append(str(found.title))
                page = answer.content.decode()
                assert (answer.status_code, code.value in page) == (200, True), (code, language)
        assert len(set(titles)) == len(settings.LANGUAGES), f"{code} has one title for both languages"
