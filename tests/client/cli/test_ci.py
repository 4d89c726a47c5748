"""The two workflows of the starter kit, their steps run by a shell that has what a runner gives, and no secret.

The identity comes from a real issuer over HTTP; the site exchanges it; the client is the wheel, installed by the step.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from deploy import client_wheel
from submissions.models import Harness, Submission
from tests.access.oidc.arranged import registered
from tests.issuer import GITHUB, Issuer, running
from tests.pages import site
from tests.submissions import world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]
RUNNER_SECRET = "what the runner knows of itself"
SUBMIT, COLLECT = ".github/workflows/lgbench-submit.yml", ".github/workflows/lgbench-collect.yml"
GH = """#!/bin/sh
case "$1 $2" in
  "run list") echo 4711 ;;
  "run download") cp "$ARTIFACTS"/* "$(mkdir -p "$7" && echo "$7")" ;;
  *) exit 9 ;;
esac
"""
CURL = """#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = --output ] && out=$2; shift; done
cp "$ARTIFACTS/artifacts.zip" "$out"
"""


@dataclass
class Runner:
    """A checkout and the environment of a job in it; `artifacts` outlives the job."""

    root: Path
    environment: dict[str, str]
    artifacts: Path
    said: list[str] = field(default_factory=list)

    def run(self, checkout: Path, script: str, **more: str) -> int:
        """One step, as runners start them; its exit code."""
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=checkout,
            env={**self.environment, **more},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        self.said.append(done.stdout + done.stderr)
        return done.returncode


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with running() as found:
        yield found


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    assert client_wheel.main(["--to", str(folder), "--installed"]) == 0
    return Path(folder)


@pytest.fixture
def runner(wheels: Path, tmp_path: Path) -> Runner:
    """A Python of its own, stand-ins for `gh` and `curl` that hand out artifacts, and nothing of this environment."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "v")], check=True)
    artifacts = tmp_path / "artifacts"
    artifacts.mkdir()
    for name, text in (("gh", GH), ("curl", CURL)):
        (tmp_path / "v/bin" / name).write_text(text)
        (tmp_path / "v/bin" / name).chmod(0o755)
    (wheel,) = wheels.glob("lgbench-*.whl")
    environment = {
        "PATH": f"{tmp_path / 'v/bin'}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "CI": "true",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "LGBENCH_WHEEL": str(wheel),
        "ARTIFACTS": str(artifacts),
    }
    return Runner(tmp_path, environment, artifacts)


@pytest.fixture
def identities(issuer: Issuer) -> Iterator[tuple[str, list[str]]]:
    """What the runner of GitHub answers at ACTIONS_ID_TOKEN_REQUEST_URL: the address, and the identities given out."""
    given: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = parse_qs(urlsplit(self.path).query)
            allowed = self.headers["authorization"] == f"Bearer {RUNNER_SECRET}" and asked["api-version"] == [
                "2.0"
            ]
            reference = f"{GITHUB['repository']}/{SUBMIT}@refs/heads/main"
            claims: dict[str, Any] = {
                "workflow_ref": reference,
                "job_workflow_ref": reference,
                "aud": asked["audience"][0],
            }
            if allowed:
                given.append(issuer.mint("github", **claims))
            body = json.dumps({"value": given[-1]} if allowed else {}).encode()
            self.send_response(200 if allowed else 401)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/token?api-version=2.0", given
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def checkout(lg, folder, live_server, task_set, settings, issuer) -> Path:
    """The kit for a site that believes the issuer and expects its own address as audience."""
    settings.OIDC_AUDIENCE = live_server.url
    assert lg("init", ".", "--site", live_server.url).code == 0
    return Path(folder)


def names_by_id(checkout: Path, harness: Harness) -> None:
    """What the vendor does as the kit says: the placeholder becomes the id."""
    settings = checkout / "lgbench.toml"
    text = settings.read_text()
    filled = text.replace('# harness_id = ""', f'harness_id = "{harness.id}"')
    assert filled != text
    settings.write_text(filled)


def fresh(checkout: Path, to: Path) -> Path:
    """The same repository, checked out for another job: nothing that an earlier one left."""
    shutil.copytree(checkout, to, ignore=shutil.ignore_patterns(".lgbench"))
    return to


def steps(checkout: Path, file: str, runner: Runner) -> int:
    """Run every `run:` step of a workflow, with its `env`; the first exit code that is not 0."""
    workflow = yaml.safe_load((checkout / file).read_text())
    (job,) = workflow["jobs"].values()
    variables = {**workflow.get("env", {}), **job.get("env", {})}
    plain = {name: value for name, value in variables.items() if "${{" not in value}
    assert set(variables) - set(plain) <= {"LGBENCH_WHEEL"}
    for step in job["steps"]:
        if "run" in step:
            code = runner.run(checkout, step["run"], **plain)
            if code:
                return code
        elif step["uses"].startswith("actions/upload-artifact@"):
            assert step["with"]["include-hidden-files"] is True
            for path in checkout.glob(step["with"]["path"]):
                shutil.copy(path, runner.artifacts)
    return 0


def everything_left(runner: Runner, *places: Path) -> str:
    """All that jobs said, and all text that lies in their folders."""
    files = [path for place in places for path in place.rglob("*") if path.is_file()]
    return "\n".join([*runner.said, *(path.read_text("latin-1") for path in files)])


@pytest.mark.acceptance("access:3")
def test_github(runner, checkout, vendor, issuer, identities, settings, tmp_path):
    """Submit without a secret, collect while it runs, collect when it is released."""
    settings.OIDC_ISSUERS = {issuer.address: "github"}
    harness = vendor.harness("my-harness")
    registered(vendor, harness, issuer.address, workflow=SUBMIT)
    names_by_id(checkout, harness)
    url, given = identities
    permissions = yaml.safe_load((checkout / SUBMIT).read_text())["permissions"]
    assert permissions["id-token"] == "write"
    assert "id-token" not in yaml.safe_load((checkout / COLLECT).read_text())["permissions"]
    summary = tmp_path / "summary.md"
    runner.environment |= {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    given_to_submit = {"ACTIONS_ID_TOKEN_REQUEST_URL": url, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": RUNNER_SECRET}
    runner.environment |= given_to_submit
    assert steps(checkout, SUBMIT, runner) == 0, runner.said
    row = Submission.objects.get()
    assert len(given) == 1
    assert given[0] not in everything_left(runner, checkout, runner.artifacts)
    kept = json.loads((runner.artifacts / "watch.json").read_text())
    assert kept["submission"] == str(row.id)
    assert kept["token"] not in "".join(runner.said)
    assert (checkout / ".lgbench/watch.json").stat().st_mode & 0o077 == 0

    again = fresh(checkout, tmp_path / "again")
    assert steps(again, SUBMIT, runner) == 0, runner.said
    assert Submission.objects.count() == 1, "the same bytes again are the same submission"
    assert len(given) == 2
    assert runner.run(again, "lgbench status") == 0, "and the second job can watch it"

    for name in given_to_submit:
        del runner.environment[name]
    first = fresh(checkout, tmp_path / "first")
    assert steps(first, COLLECT, runner) == 0, runner.said
    assert "state created" in summary.read_text()
    assert lines_of_table(summary) == []

    site.release(site.moved(row, *site.TO_COMPLETE))
    summary.unlink()
    second = fresh(checkout, tmp_path / "second")
    assert steps(second, COLLECT, runner) == 0, runner.said
    assert ["finance", "51", "40 – 62", ""] in lines_of_table(summary)
    assert kept["token"] not in summary.read_text()
    assert runner.run(second, "lgbench result --min finance=63") == 8
    assert runner.run(second, "lgbench wait --timeout 1") == 0
    assert runner.run(second, "lgbench quota") == 3


def lines_of_table(summary: Path) -> list[list[str]]:
    rows = [line.strip("|").split("|") for line in summary.read_text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows if row[0].strip()]


@pytest.mark.acceptance("access:3")
def test_gitlab(runner, checkout, vendor, issuer, settings, tmp_path):
    settings.OIDC_ISSUERS = {issuer.address: "gitlab"}
    harness = vendor.harness("my-harness")
    registered(vendor, harness, issuer.address, "gitlab")
    names_by_id(checkout, harness)
    file = yaml.safe_load((checkout / ".gitlab-ci.yml").read_text())
    audience = file["lgbench-submit"]["id_tokens"]["LGBENCH_ID_TOKEN"]["aud"]
    identity = issuer.mint("gitlab", aud=audience)
    runner.environment |= {"GITLAB_CI": "true", **file["variables"]}
    runner.environment |= {"CI_JOB_TOKEN": "x", "CI_API_V4_URL": "http://x", "CI_PROJECT_ID": "1"}

    def job(name: str, where: Path, **more: str) -> int:
        lines = [*file[".lgbench"]["before_script"], *file[name]["script"]]
        return runner.run(where, "\n".join(lines), CI_DEFAULT_BRANCH="main", **more)

    assert job("lgbench-submit", checkout, LGBENCH_ID_TOKEN=identity) == 0, runner.said
    row = Submission.objects.get()
    assert identity not in everything_left(runner, checkout)
    (pattern,) = file["lgbench-submit"]["artifacts"]["paths"]
    names = [str(path.relative_to(checkout)) for path in checkout.glob(pattern)]
    assert {f".lgbench/{name}.json" for name in ("watch", "submission")} <= set(names)
    with zipfile.ZipFile(runner.artifacts / "artifacts.zip", "w") as archive:
        for name in names:
            archive.write(checkout / name, name)

    first = fresh(checkout, tmp_path / "first")
    assert job("lgbench-collect", first) == 0, runner.said
    assert "state created" in runner.said[-1]
    site.release(site.moved(row, *site.TO_COMPLETE))
    assert job("lgbench-collect", fresh(checkout, tmp_path / "second")) == 0, runner.said
    assert re.search(r"\| finance \| 51 \|", runner.said[-1])


@pytest.mark.acceptance("access:3")
def test_a_strangers_harness_of_the_same_name(runner, checkout, vendor, issuer, identities, settings):
    """Somebody else registers name and repository: by name the job is refused, by id it submits, and never to them."""
    settings.OIDC_ISSUERS = {issuer.address: "github"}
    harness, squatter = vendor.harness("my-harness"), world.vendor()
    url, _ = identities
    registered(squatter, squatter.harness("my-harness"), issuer.address, workflow=SUBMIT)
    registered(squatter, squatter.harness(str(harness.id)), issuer.address, workflow=SUBMIT)
    runner.environment |= {
        "ACTIONS_ID_TOKEN_REQUEST_URL": url,
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": RUNNER_SECRET,
    }
    names_by_id(checkout, harness)
    assert steps(checkout, SUBMIT, runner) == 3, (
        "nobody has registered the harness of that id for this repository"
    )
    assert "oidc_no_publisher" in runner.said[-1]
    registered(vendor, harness, issuer.address, workflow=SUBMIT)
    lines = (checkout / "lgbench.toml").read_text()
    (checkout / "lgbench.toml").write_text(lines.replace(f'harness_id = "{harness.id}"', ""))
    assert runner.run(checkout, "lgbench submit", LGBENCH_SITE=settings.OIDC_AUDIENCE) == 3
    assert "oidc_ambiguous" in runner.said[-1]
    (checkout / "lgbench.toml").write_text(lines)
    assert steps(checkout, SUBMIT, runner) == 0, runner.said
    assert Submission.objects.get().organisation == vendor.organisation


def test_a_job_that_nobody_trusts(runner, checkout, vendor, issuer, identities, settings):
    """No publisher: refused with its code, a hint and a link; nothing is uploaded and the identity is not repeated."""
    settings.OIDC_ISSUERS = {issuer.address: "github"}
    vendor.harness("my-harness")
    url, given = identities
    runner.environment |= {
        "ACTIONS_ID_TOKEN_REQUEST_URL": url,
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": RUNNER_SECRET,
    }
    assert steps(checkout, SUBMIT, runner) == 3
    assert re.search(r"lgbench: oidc_\w+: ", runner.said[-1])
    assert "\n  Help: http" in runner.said[-1]
    assert given[0] not in everything_left(runner, checkout)
    runner.environment["ACTIONS_ID_TOKEN_REQUEST_TOKEN"] = "wrong"
    assert steps(checkout, SUBMIT, runner) == 3
    assert "no_identity" in runner.said[-1]
    assert Submission.objects.count() == 0
