"""A preflight on its own: register what is missing, upload, start. One that runs or has passed is found again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from client.remote.submitting import Submitter
from client.remote.uploads import Uploader
from client.words import say


@dataclass
class Preflighter(Submitter):
    """One preflight of one project. It uses no submission, and the site asks for no verified organisation."""

    def run(self) -> dict[str, Any]:
        """The preflight, new or found again. Raises Trouble."""
        task_set = self.task_set()
        harness = self.harness() or self._register()
        version = self._version(harness["id"]) or self._add_version(harness["id"])
        self._require_same_card(version)
        earlier = self._preflights(harness["id"], version["id"], task_set)
        living = [row for row in earlier if not row["ended_at"] or row["state"] == "preflight_passed"]
        if living:
            running = not living[0]["ended_at"]
            self.tell(
                say("A preflight of this package is under way.")
                if running
                else say("This package has passed a preflight already.")
            )
            return living[0]
        key = f"{self.key(task_set, len(earlier))}-preflight"
        upload = self._upload(version["id"], key)
        body = {"harness_version": version["id"], "upload": upload["id"], "task_set": task_set}
        return self.site.post("preflights", body, key=key)

    def _preflights(self, harness_id: str, version_id: str, task_set: str) -> list[dict[str, Any]]:
        """Those of the same version, bytes and task set, newest first."""
        rows = self.site.pages("preflights", {"harness": harness_id})
        same = [row for row in rows if row["harness_version"] == version_id and row["task_set"] == task_set]
        details = [self.site.get(f"preflights/{row['id']}") for row in same]
        return [row for row in details if row["package_digest"] == self.checked.bundle.digest]

    def _uploader(self) -> Uploader:
        kind = self.checked.kind.value
        return Uploader(self.site, self.project, self.checked.bundle, self.report, "preflight", kind)
