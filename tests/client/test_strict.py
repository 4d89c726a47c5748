"""Strict mode on exports: canonical form, fields, unknown kinds, times that stand out, parts of a log."""

from __future__ import annotations

import json

import pytest

from client.audit.events import Malformed, _read_quickly, _read_thoroughly, read_entry
from tests.client import synthetic
from tests.client.conftest import SIZES


def entry(**changes):
    write = synthetic.Scribe(1)
    body = json.loads(write.event("token.issued", "token", "t", name="a", number=5))
    body.update(changes)
    return synthetic._encode(body).encode()


def test_both_ways_of_reading_find_the_same(entries):
    quick = 0
    for data in entries:
        found = _read_quickly(data)
        assert read_entry(data) == _read_thoroughly(data)
        quick += found is not None
        assert found in (None, _read_thoroughly(data))
    assert quick > len(entries) * 0.9


TIME = "2026-11-30T08:00:00.000000Z"
BAD = {
    "no JSON": b"{",
    "no object": b"[]",
    "no UTF-8": entry().replace(b'"a"', b'"\xff"'),
    "a space": entry().replace(b":", b": ", 1),
    "keys out of order": entry().replace(b'"name":"a","number":5', b'"number":5,"name":"a"'),
    "a key twice": entry().replace(b'"name":"a"', b'"name":"a","name":"a"'),
    "an escape too many": entry().replace(b'"a"', b'"\\u0061"'),
    "a float": entry().replace(b":5", b":5.0"),
    "a float in full": entry().replace(b":5", b":5.5"),
    "a great number": entry().replace(b":5", b":1e5"),
    "not a number": entry().replace(b":5", b":NaN"),
    "minus nought": entry().replace(b":5", b":-0"),
    "true": entry().replace(b":5", b":true"),
    "null": entry().replace(b":5", b":null"),
    "true within a list": entry().replace(b":5", b":[true]"),
    "no normal form C": entry().replace(b'"a"', '"e\u0301"'.encode()),
    "half a surrogate": entry().replace(b'"a"', b'"\\ud800"'),
    "too long": entry(data={"x": "y" * 16_384}),
    "another schema": entry(schema="event/2"),
    "a field too many": entry(more="x"),
    "a kind that is no name": entry(kind="Token Issued"),
    "a short nonce": entry(nonce="00"),
    "a nonce in capitals": entry(nonce="A" * 32),
    "facts that are no object": entry(data=[]),
    "a subject without type": entry(subject={"id": "t"}),
    "an actor of no kind": entry(actor={"channel": "api", "id": "x", "kind": "ghost"}),
    "an actor without id": entry(actor={"channel": "api", "kind": "token"}),
    "an actor of an organisation that is no text": entry(
        actor={"channel": "api", "id": "x", "kind": "token", "organisation": {"a": "b"}}
    ),
    "an actor's kind that is no text": entry(actor={"channel": "api", "id": "x", "kind": ["token"]}),
    "an actor's channel that is no text": entry(actor={"channel": {}, "id": "x", "kind": "token"}),
    "a subject's type that is no text": entry(subject={"id": "t", "type": ["token"]}),
    "a subject's id that is no text": entry(subject={"id": {}, "type": "token"}),
    "a kind that is no text": entry(kind={"a": "b"}),
    "a time that does not exist": entry(time=TIME.replace("11-30", "02-30")),
    "a time without microseconds": entry(time="2026-11-30T08:00:00Z"),
    "a version in words": entry(version="1"),
    "nesting past the limit": entry().replace(b":5", b":" + b"[" * 31 + b"]" * 31),
    "nesting past the limit, of objects": entry().replace(b":5", b":" + b'{"a":' * 31 + b"1" + b"}" * 31),
    "nesting near Python's limit": entry().replace(b":5", b":" + b"[" * 950 + b"]" * 950),
    "deep nesting": entry().replace(b":5", b":" + b"[" * 5000 + b"]" * 5000),
    "a line feed at the end": entry() + b"\n",
    "a byte order mark": b"\xef\xbb\xbf" + entry(),
}


@pytest.mark.parametrize("what", BAD)
def test_entries_that_are_not_canonical(what):
    with pytest.raises(Malformed):
        read_entry(BAD[what])


GOOD = {
    "plain": entry(),
    "escapes": entry(data={"a": 'quote " backslash \\ line\n'}),
    "letters": entry(data={"name": "供应链"}),
    "words": entry(data={"a": "true", "b": "it is null, false"}),
    "nested": entry(data={"a": [{"b": "c"}], "d": {}}),
    "nested to the limit": entry(data={"a": json.loads("[" * 30 + "]" * 30)}),
    "many lists beside each other": entry(data={"a": [[]] * 99, "b": "[[[[{{{{"}),
    "nothing": entry(data={}),
    "a kind within the facts": entry(data={"a": '},"kind":"x'}),
}


@pytest.mark.parametrize("what", GOOD)
def test_entries_that_are_canonical(what):
    body = json.loads(GOOD[what])
    found = read_entry(GOOD[what])
    assert (found.kind, found.subject, found.data) == ("token.issued", "t", body["data"])
    assert found.at == 1_790_000_000_000_000 + int(body["time"][18:19] + body["time"][20:26])


def test_a_malformed_entry_is_named(audit, tmp_path, entries, log_signer):
    changed = [*entries[:333], entries[333].replace(b'{"actor"', b'{ "actor"'), *entries[334:]]
    synthetic.export(tmp_path / "e", changed, [log_signer])
    assert audit(tmp_path / "e")[0] == 0
    code, report = audit(tmp_path / "e", "--strict")
    assert (code, report["first_bad_index"]) == (1, 333)


def test_a_broken_rule_is_named(audit, tmp_path, entries, log_signer):
    place = next(at for at, data in enumerate(entries) if b"slot.consumed" in data)
    synthetic.export(tmp_path / "e", [*entries[:place], *entries[place + 1 :]], [log_signer])
    assert audit(tmp_path / "e")[0] == 0
    code, report = audit(tmp_path / "e", "--strict")
    assert code == 1
    assert report["first_bad_index"] >= place
    assert "no use of the quota" in report["broken_rules"][0]["what"]


def test_a_kind_of_a_later_version_is_told_and_no_fault(audit, tmp_path, entries, log_signer):
    later = entry(kind="appeal.lodged")
    synthetic.export(tmp_path / "e", [*entries, later, later], [log_signer])
    code, report = audit(tmp_path / "e", "--strict")
    assert code == 0
    told = [item for item in report["notices"] if "appeal.lodged" in item["what"]]
    assert [item["first"] for item in told] == [len(entries)]


@pytest.mark.parametrize(("shift", "way"), [(7200, "after the next"), (-7200, "before the one before")])
def test_an_entry_dated_apart_is_told(audit, tmp_path, log_signer, shift, way):
    write = synthetic.Scribe(4)
    rows = []
    for number in range(20):
        write.microseconds += shift * 1_000_000 if number == 7 else 0
        rows.append(write.event("account.created", "account", str(number)))
        write.microseconds -= shift * 1_000_000 if number == 7 else 0
    synthetic.export(tmp_path / "e", rows, [log_signer])
    code, report = audit(tmp_path / "e", "--strict")
    assert code == 0
    assert [(item["first"], way in item["what"]) for item in report["notices"]] == [(7, True)]


def test_a_quiet_night_is_no_notice(audit, tmp_path, log_signer):
    write = synthetic.Scribe(4)
    rows = []
    for number in range(10):
        write.microseconds += 9 * 3600 * 1_000_000 if number % 3 == 0 else -1_500_000
        rows.append(write.event("account.created", "account", str(number)))
    synthetic.export(tmp_path / "e", rows, [log_signer])
    code, report = audit(tmp_path / "e", "--strict")
    assert (code, report["notices"]) == (0, [])


@pytest.mark.parametrize(
    ("first", "last"), [(0, 656), (300, 400), (256, 512), (655, 656), (0, 1), (255, 257)]
)
def test_a_part_of_a_log_verifies_strictly(audit, tmp_path, entries, log_signer, first, last):
    hidden = [at for at in range(len(entries)) if not first <= at < last]
    synthetic.export(tmp_path / "e", entries, [log_signer], sizes=SIZES, withheld=hidden)
    code, report = audit(tmp_path / "e", "--strict")
    assert (code, report["notices"]) == (0, [])
    assert (report["disclosed"], report["withheld"]) == (min(last, len(entries)) - first, len(hidden))


def test_wholly_withheld_bundles_are_left_out(tmp_path, entries, log_signer):
    manifest = synthetic.export(tmp_path / "e", entries, [log_signer], withheld=range(512))
    assert [name for name in manifest.files if name.startswith("entries/")] == [
        f"entries/002.p/{len(entries) - 512}"
    ]
    assert (manifest.first, manifest.last, manifest.withheld) == (512, len(entries) - 1, 512)


def test_helpers_find_the_same(audit, exported):
    alone, helped = audit(exported, "--strict", "--jobs", "1"), audit(exported, "--strict", "--jobs", "3")
    assert alone == helped
    path = exported / "entries/001"
    path.write_bytes(path.read_bytes().replace(b'"ok"', b'"no"', 1))
    synthetic.rehash(exported)
    assert audit(exported, "--jobs", "1") == audit(exported, "--jobs", "3")
    assert audit(exported, "--jobs", "3")[0] == 1
