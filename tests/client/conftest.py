"""One log of the synthetic history, and its export, for every test of the verifier."""

from __future__ import annotations

import json

import pytest

from client.audit.main import main
from tests.client import synthetic

SIZES = {100, 256, 300, 512, 600}


@pytest.fixture(scope="session")
def log_signer():
    return synthetic.signer()


@pytest.fixture(scope="session")
def entries():
    """About 700 entries: two full tiles and a right edge."""
    found = list(synthetic.history(1, submissions=12, episodes=60))
    assert 600 < len(found) < 1000
    return found


@pytest.fixture
def exported(tmp_path, entries, log_signer):
    """A directory with the whole log, checkpoints within tiles and at their ends."""
    synthetic.export(tmp_path / "export", entries, [log_signer], sizes=SIZES)
    return tmp_path / "export"


@pytest.fixture
def audit(capsys, log_signer):
    """Run `lgbench-audit verify … --json`: its exit code and its report."""

    def run(path, *more, key=None, command="verify"):
        capsys.readouterr()
        code = main([command, str(path), "--key", str(key or log_signer.vkey), "--json", *map(str, more)])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else {"error": err}

    return run
