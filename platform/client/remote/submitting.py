"""From a checked project to a submission: register what is missing, ask the quota, upload, submit. Repeatable."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from client.check.package import Checked
from client.exits import Exit
from client.project import Project
from client.remote.http import Answer, Site, explained, reason_words
from client.remote.identity import other_harness
from client.remote.uploads import OPEN, STORED, Uploader
from client.trouble import Trouble
from client.words import say
from submissions import cards
from submissions.intake import Manifest

FAILED = frozenset({"rejected", "preflight_failed", "cancelled", "voided"})
"""Ends after which the same bytes are a new submission."""
DECLARED_AGAIN = 50
NOTE = "submission.json"


@dataclass
class Submitter:
    """One submission of one project. `tell` says what happens, `report(sent, total)` counts the upload's bytes."""

    site: Site
    project: Project
    checked: Checked
    manifest: Manifest
    card: dict[str, Any]
    tell: Callable[[str], object] = lambda text: None
    report: Callable[[int, int], object] = lambda sent, total: None
    resume: bool = False
    rejoin: bool = False
    """Whether what is there already is asked for once more: a CI job's credential to watch learns what it follows."""
    rerun_offer: str = ""
    """The offer of a re-run that it takes, outside the quota."""

    def preview(self) -> dict[str, Any]:
        """What a submission would meet and cost; raises Trouble where it would be refused. Changes nothing."""
        task_set = self.task_set()
        harness = self.harness()
        quota = self.quota(task_set, harness["id"]) if harness else None
        version = self._version(harness["id"]) if harness else None
        estimate = None
        if version:
            self._require_same_card(version)
            estimate = self.require_admission(version["id"], task_set)["estimate"]
        elif quota is not None and not quota.get("allowed"):
            raise quota_refuses(self.site, quota, task_set)
        return {
            "task_set": task_set,
            "harness": self.manifest.name,
            "version": self.manifest.version,
            "registered": {"harness": harness is not None, "version": version is not None},
            "package_digest": self.checked.bundle.digest,
            "size": self.checked.bundle.size,
            "card_digest": cards.digest(self.card),
            "quota": quota,
            "estimate": estimate,
            "allowed": True,
        }

    def run(self) -> dict[str, Any]:
        """The submission, new or found again. Raises Trouble; where the quota refuses, before a byte is sent."""
        task_set = self.task_set()
        harness = self.harness() or self._register()
        version = self._version(harness["id"]) or self._add_version(harness["id"])
        self._require_same_card(version)
        earlier = self._earlier(harness["id"], version["id"], task_set)
        living = [row for row in earlier if row["state"] not in FAILED]
        if living:
            self.tell(say("This package is submitted already."))
            if self.rejoin:
                self._rejoin(living[0], self.key(task_set, len(earlier) - len(living)))
            return self._kept(living[0])
        self.require_admission(version["id"], task_set)
        key = self.key(task_set, len(earlier))
        upload = self._upload(version["id"], key)
        admitted = self.site.post("submissions", self._body(version["id"], upload["id"], task_set), key=key)
        if admitted.get("note") == "identical_earlier":
            self.tell(say("The same bytes and card were submitted earlier: that submission follows."))
        return self._kept(admitted)

    def _body(self, version_id: str, upload_id: str, task_set: str) -> dict[str, Any]:
        return {
            "harness_version": version_id,
            "upload": upload_id,
            "task_set": task_set,
            "publication_consent": self.project.publication_consent,
            **self._offer,
        }

    @property
    def _offer(self) -> dict[str, str]:
        return {"rerun_offer": self.rerun_offer} if self.rerun_offer else {}

    def _rejoin(self, submission: Mapping[str, Any], key: str) -> None:
        """The request that made it, word for word: it is answered as then, and nothing happens twice. Raises Trouble
        where it was made in another way, so that this job cannot watch it."""
        body = self._body(submission["harness_version"], submission["upload"], submission["task_set"])
        self.site.post("submissions", body, key=key)

    def key(self, task_set: str, earlier: int) -> str:
        """The idempotency key: harness, version, digest, task set, and how often this has failed before."""
        words = (
            self.manifest.name,
            self.manifest.version,
            self.checked.bundle.digest,
            task_set,
            str(earlier),
            *self._offer.values(),
        )
        return "lgbench-" + hashlib.sha256("\n".join(words).encode()).hexdigest()

    def task_set(self) -> str:
        """The task set that the project names, or the one that was opened last. Raises Trouble."""
        rows = self.site.get("task-sets")["task_sets"]
        labels = [str(row["label"]) for row in sorted(rows, key=lambda row: str(row["opened_at"]))]
        wanted = self.project.task_set
        if wanted and wanted in labels:
            return wanted
        if not wanted and labels:
            return labels[-1]
        raise Trouble(
            "no_task_set",
            say("Task set {label} is not open.").format(label=wanted)
            if wanted
            else say("No task set is open."),
            hint=say("Open are: {labels}").format(labels=", ".join(labels) or "–"),
            exit=Exit.USAGE,
            link=f"{self.site.address}/api/v1/task-sets",
        )

    def harness(self) -> dict[str, Any] | None:
        """The registered harness: of the manifest's name, and of the id that the settings name. Raises Trouble."""
        named = self.manifest.name
        found = next((row for row in self.site.pages("harnesses") if row["name"] == named), None)
        wanted = self.project.harness_id
        if wanted and (found is None or found["id"] != wanted.lower()):
            raise other_harness(wanted, f"{found['id'] if found else '–'} ({named})")
        return found

    def _register(self) -> dict[str, Any]:
        body = {
            "name": self.manifest.name,
            "title": self.project.title or self.manifest.name,
            "relation": self.project.relation,
        }
        self.tell(say("Registering harness {name}.").format(name=self.manifest.name))
        try:
            return self.site.post(
                "harnesses", body, key=_digest("harness", self.manifest.name, self.project.title)
            )
        except Trouble as trouble:
            found = self.harness() if trouble.code == "name_taken" else None
            if found is None:
                raise
            return found

    def _version(self, harness_id: str) -> dict[str, Any] | None:
        rows = self.site.pages(f"harnesses/{harness_id}/versions")
        return next((row for row in rows if row["version"] == self.manifest.version), None)

    def _add_version(self, harness_id: str) -> dict[str, Any]:
        self.tell(say("Registering version {version}.").format(version=self.manifest.version))
        body = {"version": self.manifest.version, "card": self.card}
        key = _digest("version", harness_id, self.manifest.version, cards.digest(self.card))
        try:
            return self.site.post(f"harnesses/{harness_id}/versions", body, key=key)
        except Trouble as trouble:
            found = self._version(harness_id) if trouble.code == "version_exists" else None
            if found is None:
                raise
            return found

    def _require_same_card(self, version: dict[str, Any]) -> None:
        if version["card_digest"] != cards.digest(self.card):
            raise Trouble(
                "card_differs",
                say(
                    "Version {version} is registered with another HarnessCard, and a version never changes."
                ).format(version=self.manifest.version),
                hint=say("Set a new `version` in harness.toml."),
                exit=Exit.REFUSED,
                link=explained(self.site.address, "version_exists"),
            )

    def _earlier(self, harness_id: str, version_id: str, task_set: str) -> list[dict[str, Any]]:
        """Submissions of the same version, bytes and task set, newest first."""
        rows = self.site.pages("submissions", {"harness": harness_id})
        same = [row for row in rows if row["harness_version"] == version_id and row["task_set"] == task_set]
        details = [self.site.get(f"submissions/{row['id']}") for row in same]
        return [row for row in details if row["package_digest"] == self.checked.bundle.digest]

    def quota(self, task_set: str, harness_id: str) -> dict[str, Any]:
        """What is left of this harness on this task set; empty where nobody is entitled to it."""
        rows = self.site.get("quota", {"harness": harness_id, "task_set": task_set})["task_sets"]
        lines = rows[0]["harnesses"] if rows else []
        return dict(lines[0]) if lines else {}

    def require_admission(self, version_id: str, task_set: str) -> dict[str, Any]:
        """What submitting now would answer, of the function that decides it. Raises Trouble where it refuses."""
        body = {"harness_version": version_id, "task_set": task_set, **self._offer}
        found = self.site.post("submissions/check", body)
        if found["allowed"]:
            return found
        refusal = found["refusal"]
        trouble = self.site.refused(Answer(int(refusal["status"]), refusal, {}))
        trouble.cause = say("Nothing was sent. {cause}").format(cause=trouble.cause)
        raise trouble

    def _upload(self, version_id: str, key: str) -> dict[str, Any]:
        """The stored bundle: one that an earlier command stored is taken as it is."""
        uploader = self._uploader()
        for attempt in range(DECLARED_AGAIN):
            upload = uploader.begin(version_id, _digest("upload", key, str(attempt)))
            if upload["state"] in STORED:
                self.tell(say("The bundle is stored already."))
            if upload["state"] in STORED | OPEN:
                done = uploader.noted(upload["id"]) if self.resume else {}
                if done:
                    self.tell(say("Resuming: {count} parts are there.").format(count=len(done)))
                return uploader.send(upload, done=done)
        raise AssertionError("every declared upload has ended")

    def _uploader(self) -> Uploader:
        return Uploader(
            self.site, self.project, self.checked.bundle, self.report, kind=self.checked.kind.value
        )

    def _kept(self, submission: dict[str, Any]) -> dict[str, Any]:
        self.project.keep(NOTE, {"site": self.site.address, "id": submission["id"]})
        return submission


def quota_refuses(site: Site, quota: dict[str, Any], task_set: str) -> Trouble:
    """Why not now, and when."""
    rule = str(quota.get("bites") or "not_entitled")
    counters = [row for row in quota.get("counters", []) if row["counter"] == rule]
    codes = {"line": "quota_line", "lineage": "quota_lineage", "account": "quota_account"}
    code = {**codes, "preflight": "preflight_ceiling"}.get(rule, rule)
    cause = say("Nothing was sent: on task set {task_set} the rule `{rule}` refuses.").format(
        task_set=task_set, rule=rule
    )
    if counters:
        cause += " " + say("Used {used} of {limit}.").format(**{k: counters[0][k] for k in ("used", "limit")})
    at, reason = quota.get("next_allowed_at"), quota.get("next_allowed_reason")
    hint = (
        say("Possible again at {time}.").format(time=at)
        if at
        else say("There is no date: {reason}.").format(reason=reason_words(str(reason or "")))
    )
    return Trouble(
        code,
        cause,
        hint=hint,
        exit=Exit.REFUSED,
        link=explained(site.address, code),
        facts={"quota": quota, "next_allowed_at": at},
    )


def _digest(*words: str) -> str:
    return "lgbench-" + hashlib.sha256("\n".join(words).encode()).hexdigest()
