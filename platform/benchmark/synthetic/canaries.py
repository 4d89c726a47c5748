"""Traceable strings planted in a draft, for the test that nothing held out ever reaches a vendor."""

from __future__ import annotations

import csv
import io

from benchmark.synthetic.drafts import Draft


def plant(draft: Draft, pattern: str) -> None:
    """Put one string each into statement, data cell, file name, gold answer and rules.

    `pattern` has a `{kind}` place. The task stays what it was: extra files and the rules' free note change no
    score.
    """

    def mark(kind: str) -> str:
        return pattern.format(kind=kind)

    draft.instruction += f"\n（流水备查：{mark('statement')}）\n"
    draft.turns = tuple(f"{turn}\n（流水备查：{mark('turn')}）\n" for turn in draft.turns)
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([["联系人", "备注"], ["前台", mark("cell")]])
    draft.files["联系人.csv"] = stream.getvalue().encode()
    draft.files[f"备注_{mark('name')}.txt"] = "无\n".encode()
    draft.gold.reply = (draft.gold.reply or "已处理，结果见下。") + f"（{mark('gold')}）"
    draft.rules.note = mark("rules")
