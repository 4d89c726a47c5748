"""Sentences in which people ask for a deliverable. Several wordings for the same wish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from benchmark.synthetic.rulebook import Table

_OPENINGS = ("帮个忙，", "麻烦你，", "", "", "急用，", "辛苦看下，", "今天下班前要，", "")
_ENDINGS = ("", "", "做完简单回我一句就行。", "别的不用管。", "弄好说一声。", "数字别抄错，后面要拿去对账。")


def ask(rng: Random, *parts: str) -> str:
    """One instruction: an opening, the parts as paragraphs, perhaps a closing sentence."""
    first, *rest = [p for p in parts if p]
    paragraphs = [rng.choice(_OPENINGS) + first, *rest]
    ending = rng.choice(_ENDINGS)
    if ending:
        paragraphs.append(ending)
    return "\n\n".join(paragraphs) + "\n"


def wanted(rng: Random, table: Table) -> str:
    """How the result table is asked for, with its file (or the reply), columns and units."""
    columns = "、".join(c + (f"（{table.units[c]}）" if c in table.units else "") for c in table.columns)
    if table.file:
        said = rng.choice(
            (
                f"结果存成 `{table.file}`，列名依次写：{columns}。",
                f"做成一张表放在 `{table.file}` 里，表头是：{columns}。",
                f"最后给我 `{table.file}`，里面要有这几列：{columns}。",
            )
        )
    else:
        said = rng.choice(
            (
                f"不用另存文件，直接在回复里给我一张表格，表头是：{columns}。",
                f"就在回复里用表格列出来，列名依次写：{columns}。",
            )
        )
    if table.units:
        said += "表头里不用带单位，数字列只填数字。"
    if table.sheet:
        said += f"工作表名叫“{table.sheet}”。"
    return said


def wanted_document(rng: Random, file: str, fields: Mapping[str, str]) -> str:
    """How a JSON document is asked for: field by field with its meaning."""
    listing = "\n".join(f"- `{name}`：{meaning}" for name, meaning in fields.items())
    return rng.choice(
        (
            f"结果写成 `{file}`，用下面这些字段：\n\n{listing}",
            f"请存一个 `{file}`，字段名照这个来：\n\n{listing}",
        )
    )


def choices(words: Sequence[str]) -> str:
    """A closed vocabulary in quotation marks."""
    return "、".join(f"“{w}”" for w in words)
