"""Model upstreams over the API. The credential goes in and is in no answer."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Permission
from evaluation.upstreams.models import Currency, Dialect, Exposure, Outcome
from submissions.api import paging
from submissions.api.base import MemberView
from submissions.api.openapi import CREATES, problems
from submissions.api.paging import PAGED
from submissions.api.serializers import StrictSerializer
from submissions.queries.upstreams import UpstreamView, platform_upstreams, upstream_of, upstreams_of
from submissions.services import once, upstreams

OWN_EXPOSURES = (Exposure.THIRD_PARTY.value, Exposure.VENDOR_ENDPOINT.value)


def _price(**more: Any) -> serializers.DecimalField:
    """Of a million tokens; null where none is stated."""
    return serializers.DecimalField(max_digits=12, decimal_places=4, allow_null=True, **more)


class LimitsIn(StrictSerializer):
    requests_per_minute = serializers.IntegerField(min_value=1, max_value=upstreams.MOST_A_MINUTE)
    concurrency = serializers.IntegerField(min_value=1, max_value=upstreams.MOST_AT_ONCE)
    ceiling = serializers.DecimalField(max_digits=12, decimal_places=2, min_value=0)
    currency = serializers.ChoiceField(choices=Currency.values)
    input_price = _price(min_value=0, required=False)
    cached_price = _price(min_value=0, required=False)
    output_price = _price(min_value=0, required=False)


class UpstreamIn(LimitsIn):
    name = serializers.CharField(max_length=63)
    dialect = serializers.ChoiceField(choices=Dialect.values)
    base_url = serializers.CharField(max_length=300)
    snapshot = serializers.CharField(max_length=120)
    exposure = serializers.ChoiceField(choices=OWN_EXPOSURES)


class UpstreamChangeIn(LimitsIn):
    name = serializers.CharField(max_length=63)


class CredentialIn(StrictSerializer):
    credential = serializers.CharField(max_length=512, trim_whitespace=False)


class CredentialOut(serializers.Serializer[Any]):
    """That there is one, since when, and its last four characters where it is long enough."""

    hint = serializers.CharField()
    set_at = serializers.DateTimeField()


class TrialOut(serializers.Serializer[Any]):
    """`outcome` is null until a worker has made the call."""

    id = serializers.UUIDField()
    asked_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    outcome = serializers.ChoiceField(choices=Outcome.values, allow_null=True)
    words = serializers.CharField()
    milliseconds = serializers.IntegerField(allow_null=True)


class UpstreamOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    dialect = serializers.ChoiceField(choices=Dialect.values)
    base_url = serializers.CharField()
    snapshot = serializers.CharField()
    exposure = serializers.ChoiceField(choices=OWN_EXPOSURES)
    requests_per_minute = serializers.IntegerField()
    concurrency = serializers.IntegerField()
    ceiling = serializers.DecimalField(max_digits=12, decimal_places=2)
    currency = serializers.ChoiceField(choices=Currency.values)
    input_price = _price()
    cached_price = _price()
    output_price = _price()
    state = serializers.ChoiceField(choices=["active", "retired"])
    created_at = serializers.DateTimeField()
    retired_at = serializers.DateTimeField(allow_null=True)
    credential = CredentialOut(allow_null=True)
    trial = TrialOut(allow_null=True)


class PlatformUpstreamOut(serializers.Serializer[Any]):
    """What the platform offers: to be named in harness.toml; how it is called is its own affair."""

    name = serializers.CharField()
    dialect = serializers.ChoiceField(choices=Dialect.values)
    snapshot = serializers.CharField()
    exposure = serializers.ChoiceField(choices=Exposure.values)


class UpstreamsOut(serializers.Serializer[Any]):
    upstreams = UpstreamOut(many=True)
    platform = PlatformUpstreamOut(many=True)
    next = serializers.CharField(allow_null=True)


ROW_FIELDS = (
    *("id", "name", "dialect", "base_url", "snapshot", "exposure", "requests_per_minute", "concurrency"),
    *("ceiling", "currency", *upstreams.PRICES, "state", "created_at", "retired_at"),
)


def shown(view: UpstreamView) -> dict[str, Any]:
    """An upstream as the API gives it."""
    row = view.row
    facts = {name: getattr(row, name) for name in ROW_FIELDS}
    credential = {"hint": view.hint, "set_at": view.credential_set_at} if view.credential_set_at else None
    return dict(UpstreamOut({**facts, "credential": credential, "trial": _trial(view)}).data)


def _trial(view: UpstreamView) -> dict[str, Any] | None:
    if view.trial is None:
        return None
    facts = {name: getattr(view.trial, name) for name in ("id", "asked_at", "ended_at", "milliseconds")}
    words = view.trial.get_outcome_display()
    return {**facts, "outcome": view.trial.outcome or None, "words": str(words)}


class Upstreams(MemberView):
    """The organisation's model upstreams, and the names of the platform's."""

    permissions: ClassVar = {"GET": Permission.UPSTREAM_READ, "POST": Permission.UPSTREAM_WRITE}

    @extend_schema(operation_id="upstream_list", parameters=PAGED, responses=problems({200: UpstreamsOut}))
    def get(self, request: Request) -> Response:
        rows = upstreams_of(self.caller.organisation)
        page = paging.after(rows, paging.asked(request), lambda view: view.row.id)
        answer = paging.answer(request, "upstreams", [shown(view) for view in page.rows], page)
        answer.data["platform"] = PlatformUpstreamOut(platform_upstreams(), many=True).data
        return answer

    @extend_schema(
        operation_id="upstream_create",
        request=UpstreamIn,
        parameters=CREATES,
        responses=problems({201: UpstreamOut}),
    )
    def post(self, request: Request) -> Response:
        body = self.read(UpstreamIn)
        organisation = self.caller.organisation

        def act() -> tuple[int, dict[str, Any]]:
            row = upstreams.register_upstream(
                organisation,
                name=body["name"],
                endpoint=upstreams.Endpoint(
                    **{name: body[name] for name in upstreams.Endpoint.__annotations__}
                ),
                limits=upstreams.Limits(
                    **{name: body[name] for name in upstreams.Limits.__annotations__ if name in body}
                ),
                by=self.caller.actor,
            )
            return 201, shown(upstream_of(organisation, row.id))

        sent = {name: str(value) if isinstance(value, Decimal) else value for name, value in body.items()}
        answer = once(organisation, "upstreams", self.idempotency_key(), sent, act)
        return Response(answer.body, status=answer.status)


class _One(MemberView):
    def view(self, upstream_id: UUID) -> UpstreamView:
        return upstream_of(self.caller.organisation, upstream_id)

    def answer(self, upstream_id: UUID, status: int = 200) -> Response:
        return Response(shown(self.view(upstream_id)), status=status)


class UpstreamDetail(_One):
    permissions: ClassVar = {
        "GET": Permission.UPSTREAM_READ,
        "PATCH": Permission.UPSTREAM_WRITE,
        "DELETE": Permission.UPSTREAM_WRITE,
    }

    @extend_schema(operation_id="upstream", responses=problems({200: UpstreamOut}))
    def get(self, request: Request, upstream_id: UUID) -> Response:
        return self.answer(upstream_id)

    @extend_schema(
        operation_id="upstream_change",
        request=UpstreamChangeIn(partial=True),
        responses=problems({200: UpstreamOut}),
    )
    def patch(self, request: Request, upstream_id: UUID) -> Response:
        """Name and limits; what is called never changes."""
        found = self.view(upstream_id)
        body = UpstreamChangeIn(data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        upstreams.change_upstream(found.row.id, changes=body.validated_data, by=self.caller.actor)
        return self.answer(upstream_id)

    @extend_schema(operation_id="upstream_retire", responses=problems({204: None}))
    def delete(self, request: Request, upstream_id: UUID) -> Response:
        """Retire it: it stays on record, is not called any more, and its credential is destroyed."""
        upstreams.retire_upstream(self.view(upstream_id).row.id, by=self.caller.actor)
        return Response(status=204)


class UpstreamCredentialDetail(_One):
    permissions: ClassVar = {"PUT": Permission.UPSTREAM_WRITE}

    @extend_schema(
        operation_id="upstream_credential", request=CredentialIn, responses=problems({200: UpstreamOut})
    )
    def put(self, request: Request, upstream_id: UUID) -> Response:
        """Set or replace it; nobody reads it back."""
        found = self.view(upstream_id)
        upstreams.set_credential(found.row.id, self.read(CredentialIn)["credential"], by=self.caller.actor)
        return self.answer(upstream_id)


class UpstreamTest(_One):
    permissions: ClassVar = {"POST": Permission.UPSTREAM_TEST}

    @extend_schema(operation_id="upstream_test", request=None, responses=problems({202: UpstreamOut}))
    def post(self, request: Request, upstream_id: UUID) -> Response:
        """Have one small call made; `trial` of the upstream has the outcome some seconds later."""
        upstreams.ask_trial(self.view(upstream_id).row.id, by=self.caller.actor)
        return self.answer(upstream_id, status=202)
