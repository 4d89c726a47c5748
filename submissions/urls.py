"""Pages of the vendor area."""

from django.urls import path

from submissions.views import (
    preflights,
    publishers,
    registry,
    submission,
    submitting,
    tokens,
    upstreams,
    webhooks,
)

app_name = "submissions"
urlpatterns = [
    path("v/harnesses/", registry.harness_list, name="harnesses"),
    path("v/harnesses/new/", registry.new_harness, name="new_harness"),
    path("v/harnesses/<uuid:harness>/", registry.harness, name="harness"),
    path("v/harnesses/<uuid:harness>/versions/new/", registry.new_version, name="new_version"),
    path("v/versions/<uuid:version>/", registry.version, name="version"),
    path("v/versions/<uuid:version>/card.json", registry.card_document, name="card_document"),
    path("v/submissions/", submission.submission_list, name="submissions"),
    path("v/submissions/new/", submitting.new_submission, name="new_submission"),
    path("v/uploads/<uuid:upload>/confirm/", submitting.confirm, name="confirm"),
    path("v/uploads/<uuid:upload>/preflight/", preflights.start, name="start_preflight"),
    path("v/submissions/<uuid:submission>/", submission.submission, name="submission"),
    path("v/submissions/<uuid:submission>/cancel/", submission.cancel, name="cancel"),
    path("v/submissions/<uuid:submission>/choice/", submission.choice, name="choice"),
    path("v/submissions/<uuid:submission>/consent/", submission.consent, name="consent"),
    path("v/submissions/<uuid:submission>/receipt/", submission.receipt, name="receipt"),
    path("v/submissions/<uuid:submission>/preflight/", preflights.preflight, name="preflight"),
    path(
        "v/submissions/<uuid:submission>/preflight/<slug:task>/<int:index>/",
        preflights.preflight_run,
        name="preflight_run",
    ),
    path("v/upstreams/", upstreams.upstream_list, name="upstreams"),
    path("v/upstreams/new/", upstreams.new_upstream, name="new_upstream"),
    path("v/upstreams/<uuid:upstream>/", upstreams.upstream, name="upstream"),
    path("v/upstreams/<uuid:upstream>/change/", upstreams.change_upstream, name="change_upstream"),
    path("v/upstreams/<uuid:upstream>/credential/", upstreams.set_credential, name="upstream_credential"),
    path("v/upstreams/<uuid:upstream>/test/", upstreams.try_out, name="try_upstream"),
    path("v/upstreams/<uuid:upstream>/retire/", upstreams.retire_upstream, name="retire_upstream"),
    path("v/publishers/", publishers.publisher_list, name="publishers"),
    path("v/publishers/new/", publishers.new_publisher, name="new_publisher"),
    path("v/publishers/<uuid:publisher>/remove/", publishers.remove_publisher, name="remove_publisher"),
    path("v/webhooks/", webhooks.webhook_list, name="webhooks"),
    path("v/webhooks/new/", webhooks.new_webhook, name="new_webhook"),
    path("v/webhooks/<uuid:webhook>/", webhooks.webhook, name="webhook"),
    path("v/tokens/", tokens.token_list, name="tokens"),
    path("v/tokens/new/", tokens.new_token, name="new_token"),
    path("v/tokens/<uuid:token>/revoke/", tokens.revoke_token, name="revoke_token"),
]
