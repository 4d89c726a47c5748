"""The root that a run stood on is said in both languages, whatever the backend."""

from __future__ import annotations

import pytest
from django.utils import translation

from leaderboard.templatetags.parts import isolation_grade


@pytest.mark.parametrize("backend", ["", "gVisor, "])
@pytest.mark.parametrize("root", ["official root", "image root"])
def test_a_root_is_named_with_its_digest(backend: str, root: str) -> None:
    value = f"{backend}{root} 0123456789ab"
    with translation.override("en"):
        english = isolation_grade(value)
    with translation.override("zh-hans"):
        chinese = isolation_grade(value)
    assert english.startswith(backend)
    assert english.endswith("0123456789ab")
    assert chinese.endswith("0123456789ab")
    assert chinese != english


def test_other_grades_are_as_before() -> None:
    with translation.override("en"):
        assert isolation_grade("embedded, not the official root") == "embedded, not the official root"
        assert isolation_grade("something else") == "something else"
