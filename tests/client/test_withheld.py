"""Brute force: a withheld release has few possible contents, and still nothing of an export lets them be tried."""

from __future__ import annotations

import itertools
import json

import pytest

from audit.merkle.tiles import split_hashes
from audit.merkle.tree import leaf_hash
from client.audit.prove import Prover
from client.audit.source import Folder
from tests.client import synthetic

pytestmark = pytest.mark.acceptance("log:2")
GRID = range(101)


@pytest.fixture
def hidden(tmp_path, entries, log_signer):
    """An export without the first release, and where that stands."""
    position = next(at for at, entry in enumerate(entries) if b'"result.released"' in entry)
    synthetic.export(tmp_path / "e", entries, [log_signer], withheld={position})
    return tmp_path / "e", position


def public_hashes(folder, position):
    """Every hash that the export holds: leaves, tiles, and the path of the withheld entry."""
    found = set(Prover(Folder(folder)).prove(position).path)
    for path in (folder / "tile").rglob("*"):
        if path.is_file():
            found.update(split_hashes(path.read_bytes()))
    return found


def search(entry, hashes, nonces):
    """Every content of one domain's value and half width, all other facts known, with these nonces; those that fit."""
    body = json.loads(entry)
    true = {name: dict(shown) for name, shown in body["data"]["values"].items()}
    found = []
    for nonce, domain in itertools.product(nonces, true):
        body["nonce"] = nonce
        for value in GRID:
            body["data"]["values"] = {**true, domain: {**true[domain], "value": value}}
            data = synthetic._encode(body).encode()
            # As a leaf, as plain bytes, and as the content of an inner node.
            if leaf_hash(data) in hashes:
                found.append((domain, value))
    return found


def test_the_values_cannot_be_found_without_the_nonce(hidden, entries):
    """Whoever knows everything but the nonce and one value tries all 101, with nonces that are no secret."""
    folder, position = hidden
    hashes = public_hashes(folder, position)
    assert leaf_hash(entries[position]) in hashes
    nonces = [
        "",
        "0" * 32,
        "f" * 32,
        *(json.loads(entries[at])["nonce"] for at in (0, position - 1, position + 1)),
    ]
    assert search(entries[position], hashes, nonces) == []


def test_the_same_search_succeeds_once_the_nonce_is_known(hidden, entries):
    folder, position = hidden
    body = json.loads(entries[position])
    true = {(domain, shown["value"]) for domain, shown in body["data"]["values"].items()}
    found = search(entries[position], public_hashes(folder, position), [body["nonce"]])
    assert set(found) == true


def test_nothing_of_the_entry_stands_anywhere_in_the_export(hidden, entries):
    folder, position = hidden
    body = json.loads(entries[position])
    secret = [
        body["nonce"].encode(),
        json.dumps(body["data"]["values"])[1:40].encode(),
        body["time"].encode(),
    ]
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not any(word in data for word in secret), path
