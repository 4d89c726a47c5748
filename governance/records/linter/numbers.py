"""Numbers that a text to vendors must not hold: finer than the grid of points, or exact counts of tasks and runs.

Pure. Dates, times, versions, sections, deadlines and whole points of a hundred are what such texts are made of; they
pass. A count of held-out things shows one task with certainty, so it never does, unless everybody knows the number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Found = tuple[str, int, int]

_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen|twenty|thirty|forty|fifty|hundred"
)
_NUMBER = rf"(?:\d[\d,]*|(?:{_WORDS})(?:[- ](?:{_WORDS}))?)"
_THINGS = (
    r"(?:tasks?|questions?|items?|cases?|episodes?|answers?|problems?|failures?|errors?|sub-?tasks?)"
    r"|(?:runs?)"
)
_EDGE = r"(?<![A-Za-z0-9_.,第])"
_HAN = r"(?P<n>\d[\d,]*|[一二两三四五六七八九十百千]+)"
_COUNTED = [
    re.compile(
        rf"{_EDGE}(?P<n>{_NUMBER})\s+(?:(?!of\b|per\b)[A-Za-z-]+\s+){{0,2}}(?:{_THINGS})\b(?!\s+(?:per|a|each)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_EDGE}(?P<n>{_NUMBER})\s*(?:out\s+of|of(?:\s+the)?|/)\s*\d[\d,]*\b(?!\s*(?:%|points?|submissions?|uses?|days?|domains?|people))",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_EDGE}{_HAN}\s*[道个条项次份]?\s*(?:保留|隐藏|不同)?的?\s*(?:题目|考题|试题|题|任务|用例|运行)(?![集库面名])"
    ),
    re.compile(rf"{_EDGE}{_HAN}\s*道"),
]
"""English: a number before tasks or runs, or a share of a number. Chinese: a number before such a word."""
_DECIMAL = re.compile(r"(?<![A-Za-z0-9_.\-])\d[\d,]*\.\d+(?![A-Za-z0-9_]|[.\-]\d)")
_LONG = re.compile(r"(?<![A-Za-z0-9_.\-/:,])\d[\d,]{3,}(?![A-Za-z0-9_]|[.\-/:]\d)")
_PART_BEFORE = re.compile(
    r"(?:section|sections|§|rule|rules|chapter|clause|version|paper|table|part|paragraph|appendix|v\.?|and|to|–|-|"
    r"第|版本|规则|白皮书|章|节|条|表|附录|和|与|至|、)\s*$",
    re.IGNORECASE,
)
_PART_AFTER = re.compile(r"^\s*(?:节|章|条|版|to\b|and\b)")
_PART = re.compile(r"\d{1,2}\.\d{1,2}")
_YEAR = range(2000, 2100)
RECHECK = 40
"""Runs that a blind re-check draws: a rule, the same for everybody."""


def found(text: str, public: frozenset[int]) -> Iterator[Found]:
    """(rule, start, end) of each."""
    for match in _DECIMAL.finditer(text):
        if not _is_part(text, match):
            yield "fine_number", match.start(), match.end()
    for match in _LONG.finditer(text):
        number = int(match.group().replace(",", "") or 0)
        if number not in public and not _is_year(text, match, number):
            yield "fine_number", match.start(), match.end()
    for pattern in _COUNTED:
        for match in pattern.finditer(text):
            if not _is_known(match, public):
                yield "count", match.start(), match.end()


def _is_part(text: str, match: re.Match[str]) -> bool:
    """A section of a document, or a version."""
    before, after = text[: match.start()][-24:], text[match.end() :][:8]
    is_numbered = bool(_PART.fullmatch(match.group()))
    is_dated = bool(re.fullmatch(r"20\d\d\.\d{1,2}", match.group()))
    return is_dated or (is_numbered and bool(_PART_BEFORE.search(before) or _PART_AFTER.search(after)))


def _is_year(text: str, match: re.Match[str], number: int) -> bool:
    return number in _YEAR and "," not in match.group() and len(match.group()) == 4


def _is_known(match: re.Match[str], public: frozenset[int]) -> bool:
    said = match.group("n")
    number = int(said.replace(",", "")) if said.replace(",", "").isdigit() else None
    is_recheck = number == RECHECK and re.search(r"runs?\b|运行", match.group(), re.IGNORECASE) is not None
    return is_recheck or (number is not None and number in public)
