"""What is handed out works in a place without Django, without network and without this checkout."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile

import pytest

from client.audit.prove import Prover
from client.audit.source import Folder
from deploy import client_wheel
from tests.client import synthetic
from tests.servers import ROOT

OFFLINE = ["unshare", "-n"] if subprocess.run(["unshare", "-n", "true"], check=False).returncode == 0 else []


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    assert client_wheel.main(["--to", str(folder), "--installed"]) == 0
    return folder


@pytest.fixture(scope="module")
def installed(dist, tmp_path_factory):
    """`lgbench` and `lgbench-audit` in a fresh environment, installed as the README says."""
    venv = tmp_path_factory.mktemp("auditor") / "v"
    run(sys.executable, "-m", "venv", str(venv), cwd=venv.parent)
    run(
        *(str(venv / "bin/pip"), "install", "-q", "--disable-pip-version-check"),
        *("--no-index", "--find-links", str(dist), "lgbench"),
        cwd=venv.parent,
    )
    return venv


def run(*command, cwd, code=0):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(cwd)}
    done = subprocess.run(
        [*OFFLINE, *command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def auditor(tmp_path_factory):
    """A folder as an auditor has it: an export, a receipt, the keys of log and witness, a checkpoint saved earlier."""
    folder = tmp_path_factory.mktemp("papers")
    signer, entries = synthetic.signer(), list(synthetic.history(8, submissions=6, episodes=20))
    hidden, witness = range(30), synthetic.witness()
    synthetic.export(folder / "export", entries, [signer], withheld=hidden, cosigned={100: [witness]})
    (folder / "key").write_text(signer.vkey + "\n")
    (folder / "witness.key").write_text(witness.vkey + "\n")
    (folder / "saved").write_text(synthetic.checkpoints(entries, {100}, [signer])[0])
    prover = Prover(Folder(folder / "export"))
    admitted = [at for at, entry in enumerate(entries) if b'"submission.admitted"' in entry and at >= 30]
    name = json.loads(entries[admitted[0]])["subject"]["id"]
    receipt = {
        "schema": "lingee-receipt/1",
        "submission": name,
        "log": signer.vkey,
        "admission": prover.prove(admitted[0]).format(),
    }
    (folder / "receipt.json").write_text(json.dumps(receipt))
    return folder


@pytest.mark.acceptance("log:6")
def test_an_auditor_and_a_vendor_verify(installed, auditor):
    audit = str(installed / "bin/lgbench-audit")
    for question in (
        ["verify", "export", "--key", "key"],
        ["verify", "export", "--key", "key", "--strict", "--since", "saved"],
        ["verify", "receipt.json", "--key", "key"],
    ):
        assert run(audit, *question, cwd=auditor).startswith("OK\n")
    path = auditor / "receipt.json"
    path.write_text(path.read_text().replace("index ", "index 1"))
    assert run(audit, "verify", "receipt.json", "--key", "key", cwd=auditor, code=1).startswith("BROKEN")


@pytest.mark.acceptance("log:6")
def test_there_is_no_django_and_nothing_else(installed, auditor):
    listed = json.loads(run(str(installed / "bin/pip"), "list", "--format", "json", cwd=auditor))
    names = {canonical(item["name"]) for item in listed} - {"pip", "setuptools"}
    assert names == {"lgbench", *client_wheel.settings()["bundled"]}
    assert not {name for name in names if "django" in name}
    code = "import client.audit.main, governance.release, scoring, sys; print(*sorted(sys.modules))"
    loaded = set(run(str(installed / "bin/python"), "-c", code, cwd=auditor).split())
    assert not loaded & {"django", "httpx", "typer", "pydantic", "jsonschema", "rich"}


def canonical(name):
    return name.lower().replace("_", "-")


def test_a_vendor_has_the_command(installed, tmp_path):
    lgbench = str(installed / "bin/lgbench")
    run(lgbench, "init", "my-harness", cwd=tmp_path)
    assert run(lgbench, "check", cwd=tmp_path / "my-harness").startswith("OK: 2 entries")
    run(lgbench, "submit", cwd=tmp_path / "my-harness", code=3)
    code = "import client.cli.main, sys; print('django' in sys.modules)"
    assert run(str(installed / "bin/python"), "-c", code, cwd=tmp_path) == "False\n"


def test_pip_installs_from_the_checkout(dist, tmp_path):
    run(sys.executable, "-m", "venv", "v", cwd=tmp_path)
    project = str(client_wheel.PROJECT.parent)
    options = ("-q", "--disable-pip-version-check", "--no-index", "--find-links", str(dist))
    run("v/bin/pip", "install", *options, project, cwd=tmp_path)
    assert "lgbench-audit" in run("v/bin/lgbench-audit", "--help", cwd=tmp_path)
    assert run("v/bin/lgbench", "exit-codes", cwd=tmp_path).startswith("0  done")


def test_every_module_of_the_wheel_can_be_imported(installed, auditor, dist):
    (path,) = dist.glob("lgbench-*.whl")
    with zipfile.ZipFile(path) as archive:
        places = [name.removesuffix(".py") for name in archive.namelist() if name.endswith(".py")]
    modules = sorted(place.removesuffix("/__init__").replace("/", ".") for place in places)
    assert "client.audit.rules.submissions" in modules
    chosen = [name for name in modules if not name.endswith("__main__")]
    assert "client.backend" not in modules
    code = f"import importlib; [importlib.import_module(name) for name in {chosen!r}]"
    run(str(installed / "bin/python"), "-c", code, cwd=auditor)


def test_the_wheel_holds_what_is_pure_and_nothing_else(dist):
    (path,) = dist.glob("lgbench-*.whl")
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        places = set(archive.namelist())
    modules = {place for place in places if place.endswith(".py")}
    assert {place for place in modules if place.startswith("audit/") and place.count("/") == 1} == {
        *("audit/__init__.py", "audit/canonical.py")
    }
    assert {place for place in modules if place.startswith("governance/")} == {
        *("governance/__init__.py", "governance/release.py"),
        *(
            f"governance/disclosure/{name}.py"
            for name in ("__init__", "bits", "changes", "gate", "ladder", "sides")
        ),
    }
    assert {place for place in modules if place.startswith("submissions/") and "/intake/" not in place} == {
        *("submissions/__init__.py", "submissions/cards.py")
    }
    tops = {place.partition("/")[0] for place in modules}
    assert tops == {"audit", "benchmark", "client", "evaluation", "governance", "scoring", "submissions"}
    assert {place for place in modules if place.startswith("evaluation/")} == {
        *("evaluation/__init__.py", "evaluation/grader/__init__.py"),
        *("evaluation/grader/faults.py", "evaluation/grader/scripts.py"),
        *("evaluation/sandbox/__init__.py", "evaluation/sandbox/kernel.py"),
        *(
            f"evaluation/{part}/{path.name}"
            for part in ("gateway", "images")
            for path in (ROOT / "platform/evaluation" / part).glob("*.py")
        ),
    }
    assert not [place for place in modules if place.startswith("benchmark/") and place.count("/") == 1][1:]
    assert not [place for place in places if "__pycache__" in place]


def test_the_wheel_is_the_same_bytes_each_time(dist, tmp_path):
    (path,) = dist.glob("lgbench-*.whl")
    assert client_wheel.build(tmp_path).read_bytes() == path.read_bytes()


def test_other_projects_come_by_the_locks_hashes():
    for name in client_wheel.settings()["bundled"]:
        lines = client_wheel.pinned(name)
        assert lines.startswith(f"{name}==")
        assert "--hash=sha256:" in lines
        assert lines.count("==") <= 3
    with pytest.raises(LookupError):
        client_wheel.pinned("crypto")
