"""Views that hand out nothing governed, by the reason why: what `delivers` need not mark."""

UNMARKED = {
    "public, for anyone: web log only": (
        *("api-health", "api-task-sets", "api-schema", "api-problems", "api-problem", "api-openapi"),
        *("api-nothing", "log-checkpoint", "log-checkpoint-of", "log-checkpoints", "log-keys", "log-tile"),
        *("log-consistency", "log-cosignatures", "log-witnesses", "accounts:participation_rules"),
        *("api-oidc-exchange", "api-oidc-check"),
        *(f"leaderboard:{name}" for name in ("overview", "rules", "contract", "public_tasks", "public_task")),
        *(f"leaderboard:{name}" for name in ("problems", "problem", "time_zone")),
        *(f"leaderboard:{name}" for name in ("log", "log_verify", "log_verify_file")),
        *(f"leaderboard:{name}" for name in ("releases", "dated_release", "dated_release_file")),
        *(f"records:{name}" for name in ("dossiers", "dossier", "change_log", "change_log_file")),
        *(f"records:{name}" for name in ("retirement_list", "retirement_list_file", "errata", "errata_file")),
        "governance:held_out_rules",
    ),
    "names and ids of the reader's own harnesses, without card or state": (
        *("api-harnesses", "api-harness", "api-versions", "submissions:harnesses", "submissions:new_harness"),
    ),
    "the reader's own bytes on their way in": ("api-uploads", "api-upload", "api-upload-complete"),
    "a form, and nothing of a submission": ("submissions:new_submission",),
    "people, organisations and their tokens": (
        *("api-tokens", "api-token", "api-token-leaked"),
        *("submissions:tokens", "submissions:new_token", "submissions:revoke_token", "accounts:suspended"),
        *("accounts:organisation", "console:organisations", "api-organisation"),
        *(f"accounts:registration{which}" for which in ("", "_mail", "_dns", "_domain")),
        "accounts:new_registration",
        "console:links",
        *(f"console:{name}" for name in ("duties", "duty_new", "duty_act", "rooms", "room_new", "room_act")),
        *("api-publishers", "api-publisher"),
        *(f"submissions:{name}" for name in ("publishers", "new_publisher", "remove_publisher")),
        *(
            "submissions:webhooks",
            "submissions:new_webhook",
            "submissions:webhook",
            "api-webhooks",
            "api-webhook",
        ),
        *("api-webhook-test", "api-webhook-deliveries", "api-delivery-replay"),
        *("accounts:notices", "accounts:notices_read", "accounts:notice_settings"),
        *(f"accounts:{name}" for name in ("members", "member", "end_member", "choose_organisation")),
        *("accounts:invitation", "accounts:revoke_invitation", "accounts:totp_picture", "accounts:enrolled"),
        *("accounts:sessions", "accounts:end_session", "accounts:end_sessions", "accounts:erase"),
    ),
    "endpoints of the reader's own models: nothing of a submission, and no credential": (
        *("api-upstreams", "api-upstream", "api-upstream-credential", "api-upstream-test"),
        *(f"submissions:{name}" for name in ("upstreams", "new_upstream", "upstream", "change_upstream")),
        *(f"submissions:{name}" for name in ("upstream_credential", "try_upstream", "retire_upstream")),
    ),
    "the platform's own upstreams, to evaluation engineers": (
        *("console:platform_upstreams", "console:platform_upstream", "console:platform_upstream_new"),
        *(f"console:platform_upstream_{name}" for name in ("credential", "test", "retire")),
    ),
    "openings of packages; package.read records each reading before its first byte": (
        *("console:packages", "console:package_new", "console:package_act", "console:package_read"),
    ),
    "returns of uses, to staff": ("console:returns", "console:return_new", "console:return_act"),
    "sums of what was told, by lineage, to staff": ("governing:accounts",),
    "owners of harnesses, to identity reviewers": (
        *("console:owners", "console:owner_notice", "console:owner_objection"),
    ),
    "cases and holds; case.read records who was shown what alarms rest on": (
        *(f"signals:{name}" for name in ("signals", "case", "case_act", "hold", "hold_act", "hold_decide")),
    ),
    "gaps between public and held-out runs by harness line, to governors": ("watching:gaps",),
    "lists that name no task; what stands behind a row is marked": (
        *("rotating:queue", "rotating:stock", "problem_queue:queue", "problem_queue:queue_new"),
    ),
    "what workers proved at start, and orders to them": (
        *("console:workers", "console:switch_act", "console:fleet_order", "console:fleet_order_lift"),
    ),
    "forms of engineers that say how many runs are lost, and nothing of them": (
        *("console:rerun", "console:episode_quarantine", "console:episode_release"),
    ),
    "leads on only": ("console:inbox", "auditing:position", "auditing:rooms"),
    "sizes, roots, counts and times of the log": (
        *("auditing:checkpoints", "auditing:statistics", "auditing:integrity"),
    ),
    "recorded by audit.exports: export.requested, export.delivered": ("auditing:exports", "auditing:export"),
}
ELSEWHERE = ("account_", "mfa_")
"""Pages of the library that signs people in."""
