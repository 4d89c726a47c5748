"""The digest of an answer: what the run changed and said, whatever the task brought along."""

from __future__ import annotations

import io
import tarfile

import pytest

from benchmark.taskdir.workspace import pack
from evaluation.artefacts import answer_digest

ONE, OTHER = {"in/a.csv": b"1"}, {"in/b.csv": b"2", "c.txt": b"3"}


def left(files: dict[str, bytes]) -> bytes:
    """A snapshot: a plain tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(data), 1
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def digest(task: dict[str, bytes], files: dict[str, bytes], reply: bytes | None = None) -> str:
    return answer_digest(left(files), reply, pack(task))


def test_a_template_answers_different_tasks_alike() -> None:
    assert digest(ONE, ONE, b"no") == digest(OTHER, OTHER, b"no")
    assert digest(ONE, {**ONE, "out": b"x"}) == digest(OTHER, {**OTHER, "out": b"x"})


@pytest.mark.parametrize(
    "files", [{}, {**ONE, "out": b"x"}, {**ONE, "out": b"y"}, {"in/a.csv": b"9"}, {"in/b.csv": b"1"}]
)
def test_what_is_added_changed_or_removed_counts(files: dict[str, bytes]) -> None:
    others = [ONE, {**ONE, "out": b"z"}]
    assert digest(ONE, files) not in {digest(ONE, other) for other in others}


def test_replies_count_and_none_is_no_empty_one() -> None:
    assert len({digest(ONE, ONE, reply) for reply in (None, b"", b"no", b"yes")}) == 4


def test_order_and_times_do_not_count() -> None:
    files = {**OTHER, "out": b"x"}
    assert digest(OTHER, files) == digest(OTHER, dict(reversed(files.items())))


def test_nothing_left_and_what_cannot_be_read_have_digests_of_their_own() -> None:
    nothing = answer_digest(b"", None, pack(ONE))
    assert nothing == digest(ONE, {})
    assert answer_digest(b"no archive", None, pack(ONE)) == answer_digest(b"no archive", None, pack(OTHER))
    assert answer_digest(b"no archive", None, pack(ONE)) != answer_digest(b"another", None, pack(ONE))
