"""What the crawl visits: every address of the vendor site by name, with the arguments that it takes.

A new address that stands in none of these tables fails the crawl's own test.
"""

from __future__ import annotations

import re
from types import SimpleNamespace

from tests.live.crawl import LANGUAGES

ASKED_FOR = 3
"""How many held-out tasks the crawl asks for by their id, as somebody who guessed it would."""
UNKNOWN = "01900000-0000-7000-8000-000000000000"

FREE = [
    "api-health",
    "api-harnesses",
    "api-uploads",
    *("api-submissions", "api-submission-check", "api-preflights"),
    "api-oidc-exchange",
    "api-oidc-check",
    "api-publishers",
    *("api-quota", "api-rerun-offers"),
    "api-organisation",
    "api-tokens",
    "api-token-leaked",
    *("api-task-sets", "api-problems", "api-openapi", "api-nothing"),
    *("overview", "rules", "contract", "public_tasks", "problems", "time_zone"),
    *("api-appeals", "appeals", "new_appeal"),
    *("api-information", "information", "home", "harnesses", "new_harness", "submissions", "new_submission"),
    *("api-upstreams", "upstreams", "new_upstream"),
    *("api-webhooks", "webhooks", "new_webhook"),
    "tokens",
    "new_token",
    "publishers",
    "new_publisher",
    "suspended",
    "organisation",
    *("notices", "notices_read", "notice_settings"),
    "members",
    "invitation",
    "participation_rules",
    "registration",
    "new_registration",
    "registration_mail",
    "registration_dns",
    "totp_picture",
    "sessions",
    "end_sessions",
    "erase",
    "enrolled",
    *(
        f"log-{name}"
        for name in ("checkpoint", "checkpoints", "keys", "witnesses", "consistency", "cosignatures")
    ),
    *("log", "log_verify", "log_verify_file", "releases"),
    *(
        "held_out_rules",
        "dossiers",
        "change_log",
        "change_log_file",
        "retirement_list",
        "retirement_list_file",
    ),
]
"""Addresses that take nothing."""

EVERYBODYS = (
    *("api-schema", "api-problem", "problem", "public_task", "revoke_token", "registration_domain"),
    *("api-token", "api-publisher", "remove_publisher"),
    *("log-checkpoint-of", "log-tile", "dated_release", "dated_release_file"),
    *("dossier", "errata", "errata_file"),
)
"""Addresses whose object is nobody's own."""

LIBRARY = re.compile(r"^(account_|mfa_)")
"""Pages of the library that signs people in: crawled without arguments; those with a key are about that key only."""


def arguments(scene: SimpleNamespace) -> dict[str, list[dict[str, str]]]:
    """By name of address: the arguments to visit it with, the vendor's own objects and all held-out task ids."""
    submissions = [str(found) for found in scene.submissions]
    one_each = {
        "api-harness": ("harness_id", [scene.harness]),
        "api-versions": ("harness_id", [scene.harness]),
        "api-version": ("version_id", [scene.version]),
        "api-upload": ("upload_id", [scene.upload]),
        "api-upload-complete": ("upload_id", [scene.upload]),
        "api-problem": ("code", ["cooldown", "no-such-code", scene.held_out[0]]),
        "problem": ("code", ["cooldown", scene.held_out[0]]),
        "harness": ("harness", [scene.harness]),
        "new_version": ("harness", [scene.harness]),
        "version": ("version", [scene.version]),
        "card_document": ("version", [scene.version]),
        **{name: ("upload", [scene.upload]) for name in ("confirm", "start_preflight")},
        **{
            f"api-preflight-{end}": ("preflight_id", [scene.preflight]) for end in ("alone", "runs", "cancel")
        },
        "revoke_token": ("token", [UNKNOWN]),
        "webhook": ("webhook", [scene.webhook]),
        **{f"api-webhook{end}": ("webhook_id", [scene.webhook]) for end in ("", "-test", "-deliveries")},
        "api-delivery-replay": ("delivery_id", scene.deliveries),
        "member": ("member", scene.members),
        "end_member": ("member", scene.members),
        "choose_organisation": ("member", scene.members),
        "revoke_invitation": ("invitation", [UNKNOWN]),
        "api-token": ("token_id", [UNKNOWN]),
        "api-publisher": ("publisher_id", [UNKNOWN]),
        "remove_publisher": ("publisher", [UNKNOWN]),
        "end_session": ("session", [UNKNOWN]),
        "question": ("question", [UNKNOWN]),
    }
    for name in ("api-upstream", "api-upstream-credential", "api-upstream-test"):
        one_each[name] = ("upstream_id", [scene.upstream])
    for name in ("upstream", "change_upstream", "upstream_credential", "try_upstream", "retire_upstream"):
        one_each[name] = ("upstream", [scene.upstream])
    ends = ("submission", "submission-cancel", "submission-choice", "preflight", "result", "receipt")
    for end in (*ends, "submission-hold", "confirmation", "confirmation-withdraw"):
        one_each[f"api-{end}"] = ("submission_id", [*submissions, scene.preflight])
    one_each["dossier"] = ("label", [scene.label, "no-such-version"])
    for name in ("appeal", "withdraw_appeal", "reveal_word"):
        one_each[name] = ("appeal", [UNKNOWN])
    for name in ("api-appeal", "api-appeal-withdraw", "api-appeal-word"):
        one_each[name] = ("appeal_id", [UNKNOWN])
    for name in ("dated_release", "dated_release_file", "errata", "errata_file"):
        one_each[name] = ("label", [scene.date, "no-such-date"])
    confirming = ("confirmation", "withdraw_confirmation")
    for name in ("submission", "result", "cancel", "choice", "consent", "preflight", "receipt", *confirming):
        one_each[name] = ("submission", [*submissions, scene.preflight])
    found = {name: [{field: value} for value in values] for name, (field, values) in one_each.items()}
    found["log-checkpoint-of"] = [{"size": "1"}, {"size": "9" * 25}]
    found["log-tile"] = [{"path": path} for path in ("0/000", "0/000.p/1", "1/000", "../keys")]
    found["api-schema"] = [{"name": "harness-card", "number": "1"}, {"name": "harness-toml", "number": "1"}]
    tasks = [scene.public[0], *scene.held_out[:ASKED_FOR]]
    found["public_task"] = [{"version": scene.label, "slug": task} for task in tasks]
    found["registration_domain"] = [{"token": "damaged"}]
    found["preflight_run"] = [{"submission": submissions[0], "task": task, "index": "0"} for task in tasks]
    return found


def fill(pattern: str, row: dict[str, str]) -> str:
    """The pattern with its places taken from `row`."""
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda found: row[found[1]], pattern)


def paths_of(name: str, pattern: str, table: dict[str, list[dict[str, str]]]) -> list[str]:
    takes = re.findall(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>", pattern)
    if LIBRARY.match(name):
        return [] if takes else [f"/{language}/{pattern.partition('/')[2]}" for language in LANGUAGES]
    free = [pattern.replace("^", "no/such/thing")]
    filled = free if name in FREE else [fill(pattern, row) for row in table[name]]
    if not pattern.startswith(LANGUAGES):
        return [f"/{path}" for path in filled]
    return [f"/{language}/{path.partition('/')[2]}" for language in LANGUAGES for path in filled]
