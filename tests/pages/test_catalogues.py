"""Both catalogues are complete, and the fixed words of the pages are the agreed ones."""

from __future__ import annotations

import polib
import pytest

from config import catalogues

WORDS = {
    "%(left)s of %(limit)s submissions left for %(version)s": "%(version)s 剩余提交次数：%(left)s/%(limit)s",
    "Not accepted: cooldown until %(time)s. Nothing was charged.": "未受理：冷却期至 %(time)s，未占用次数。",
    "Our infrastructure failed. The run continues; you lose nothing.": "平台故障，运行将继续，您没有任何损失。",
    "Held-out tasks have started. Cancelling keeps this submission counted.": (
        "保留组题目已开始运行，取消后仍计入次数。"
    ),
    "Domains are scored differently; no overall total is reported": "各领域评分方式不同，不提供总分",
    "Behaves like an earlier version on all but a few tasks; its own value is not reported": (
        "与早先版本仅在少数题目上行为不同，不单独报告其得分"
    ),
}


def test_nothing_is_missing_fuzzy_or_unsaid() -> None:
    assert catalogues.problems() == []


@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_every_message_has_a_text(language: str) -> None:
    entries = polib.pofile(str(catalogues.catalogue(language)))
    assert [entry.msgid for entry in entries if not entry.translated()] == []


@pytest.mark.parametrize("message", WORDS)
def test_fixed_words_are_the_agreed_ones(message: str) -> None:
    entries = {entry.msgid: entry.msgstr for entry in polib.pofile(str(catalogues.catalogue("zh_Hans")))}
    assert entries[message] == WORDS[message]
