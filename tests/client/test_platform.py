"""The rules against what the platform's services really write, in a random history on the database."""

from __future__ import annotations

import json

import pytest

from client.audit.rules import Rule, Seen
from client.audit.rules.submissions import Consumption, Moves, Slots
from client.audit.rules.uploads import Uploads
from tests.client.test_rules import judged
from tests.submissions.test_histories import History

SEED, STEPS = 1, 40


def complaints(rule: Rule, entries: list[bytes]) -> list[str | None]:
    """What one rule says of each event that it reads, nothing withheld."""
    bodies = [(position, json.loads(entry)) for position, entry in enumerate(entries)]
    return [
        rule.see(Seen(position, body["kind"], body["subject"]["id"], body["outcome"], body["data"], -1))
        for position, body in bodies
        if body["kind"] in rule.kinds
    ]


@pytest.mark.django_db(transaction=True)
def test_no_rule_complains_of_a_real_history(connect_as):
    history = History(SEED)
    for _ in range(STEPS):
        history.step()
    rows = connect_as("auditor").execute("SELECT body FROM audit_event ORDER BY id").fetchall()
    entries = [bytes(body) for (body,) in rows]
    assert sum(b'"submission.moved"' in entry for entry in entries) >= 10
    # Where the test itself put rows in place, what a rule looks for is not there: for it, something is withheld.
    arranged = {at for at, entry in enumerate(entries) if b'"kind":"test.' in entry}
    assert judged(entries, arranged) == []
    # Nothing of submissions, slots and uploads was arranged: there a rule has no excuse to be silent.
    for rule in (Moves(), Slots(), Consumption(), Uploads()):
        found = complaints(rule, entries)
        assert len(found) >= 5
        assert [wrong for wrong in found if wrong] == []
