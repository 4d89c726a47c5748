"""Addresses below /api/v1/. The project includes this after the other apps' addresses: the last one takes the rest."""

from __future__ import annotations

from django.urls import URLPattern, path, re_path
from drf_spectacular.views import SpectacularJSONAPIView

from submissions.api import (
    check,
    oidc,
    organisation,
    preflights,
    published,
    registry,
    reruns,
    submissions,
    tokens,
    uploads,
    upstreams,
    webhooks,
)
from submissions.api.base import Anyone

SUBMISSION = "submissions/<uuid:submission_id>"
PREFLIGHT = "preflights/<uuid:preflight_id>"

urlpatterns: list[URLPattern] = [
    path("harnesses", registry.Harnesses.as_view(), name="api-harnesses"),
    path("harnesses/<uuid:harness_id>", registry.HarnessDetail.as_view(), name="api-harness"),
    path("harnesses/<uuid:harness_id>/versions", registry.HarnessVersions.as_view(), name="api-versions"),
    path("versions/<uuid:version_id>", registry.VersionDetail.as_view(), name="api-version"),
    path("uploads", uploads.Uploads.as_view(), name="api-uploads"),
    path("uploads/<uuid:upload_id>", uploads.UploadDetail.as_view(), name="api-upload"),
    path("uploads/<uuid:upload_id>/complete", uploads.UploadComplete.as_view(), name="api-upload-complete"),
    path("submissions", submissions.Submissions.as_view(), name="api-submissions"),
    path("submissions/check", check.SubmissionCheck.as_view(), name="api-submission-check"),
    path(SUBMISSION, submissions.SubmissionDetail.as_view(), name="api-submission"),
    path(f"{SUBMISSION}/cancel", submissions.SubmissionCancel.as_view(), name="api-submission-cancel"),
    path(f"{SUBMISSION}/choice", submissions.SubmissionChoice.as_view(), name="api-submission-choice"),
    path(f"{SUBMISSION}/preflight", submissions.SubmissionPreflight.as_view(), name="api-preflight"),
    path(f"{SUBMISSION}/receipt", submissions.SubmissionReceipt.as_view(), name="api-receipt"),
    path("rerun-offers", reruns.RerunOffers.as_view(), name="api-rerun-offers"),
    path("preflights", preflights.Preflights.as_view(), name="api-preflights"),
    path(PREFLIGHT, preflights.PreflightDetail.as_view(), name="api-preflight-alone"),
    path(f"{PREFLIGHT}/runs", preflights.PreflightRuns.as_view(), name="api-preflight-runs"),
    path(f"{PREFLIGHT}/cancel", preflights.PreflightCancel.as_view(), name="api-preflight-cancel"),
    path("organisation", organisation.OrganisationStatus.as_view(), name="api-organisation"),
    path("upstreams", upstreams.Upstreams.as_view(), name="api-upstreams"),
    path("upstreams/<uuid:upstream_id>", upstreams.UpstreamDetail.as_view(), name="api-upstream"),
    path(
        "upstreams/<uuid:upstream_id>/credential",
        upstreams.UpstreamCredentialDetail.as_view(),
        name="api-upstream-credential",
    ),
    path("upstreams/<uuid:upstream_id>/test", upstreams.UpstreamTest.as_view(), name="api-upstream-test"),
    path("tokens", tokens.Tokens.as_view(), name="api-tokens"),
    path("tokens/leaked", tokens.LeakedToken.as_view(), name="api-token-leaked"),
    path("tokens/<uuid:token_id>", tokens.TokenDetail.as_view(), name="api-token"),
    path("oidc/exchange", oidc.Exchange.as_view(), name="api-oidc-exchange"),
    path("oidc/check", oidc.Check.as_view(), name="api-oidc-check"),
    path("publishers", oidc.Publishers.as_view(), name="api-publishers"),
    path("publishers/<uuid:publisher_id>", oidc.PublisherDetail.as_view(), name="api-publisher"),
    path("webhooks", webhooks.Webhooks.as_view(), name="api-webhooks"),
    path("webhooks/<uuid:webhook_id>", webhooks.WebhookDetail.as_view(), name="api-webhook"),
    path("webhooks/<uuid:webhook_id>/test", webhooks.WebhookTest.as_view(), name="api-webhook-test"),
    path(
        "webhooks/<uuid:webhook_id>/deliveries",
        webhooks.WebhookDeliveries.as_view(),
        name="api-webhook-deliveries",
    ),
    path(
        "deliveries/<uuid:delivery_id>/replay", webhooks.DeliveryReplay.as_view(), name="api-delivery-replay"
    ),
    path("quota", published.Quota.as_view(), name="api-quota"),
    path("task-sets", published.TaskSets.as_view(), name="api-task-sets"),
    path("schemas/<slug:name>/<int:number>", published.Schema.as_view(), name="api-schema"),
    path("problems", published.Problems.as_view(), name="api-problems"),
    path("problems/<slug:code>", published.Problem.as_view(), name="api-problem"),
    path(
        "openapi.json",
        SpectacularJSONAPIView.as_view(permission_classes=[Anyone], authentication_classes=[]),
        name="api-openapi",
    ),
    re_path(r"^", published.NothingHere.as_view(), name="api-nothing"),
]
