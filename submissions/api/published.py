"""What needs no credential (schemas, problems, task sets), and the quota of the caller."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Permission
from benchmark.models import TaskSetVersion
from config import clock
from submissions import cards, queries
from submissions.api import caching
from submissions.api.base import METHODS, MemberView, PublicView
from submissions.api.openapi import problems
from submissions.api.serializers import StrictSerializer
from submissions.api.shapes import CodeOut, CodesOut, QuotaOut, TaskSetsOut
from submissions.delivery import delivers, show_status
from submissions.problems import Code, Entry, catalogue, entry, refuse, texts

SCHEMAS = {"harness-card": cards.CARD_SCHEMA, "harness-toml": 1}


class Schema(PublicView):
    """A published JSON Schema; never changed under its number."""

    @extend_schema(
        operation_id="schema", responses=problems({(200, "application/schema+json"): OpenApiTypes.OBJECT})
    )
    def get(self, request: Request, name: str, number: int) -> Response:
        if name not in SCHEMAS or number != SCHEMAS[name]:
            raise refuse(Code.NOT_FOUND)
        found = Response(cards.schema(name, number), content_type="application/schema+json")
        found["Cache-Control"] = "public, max-age=86400"
        return found


class Problems(PublicView):
    @extend_schema(operation_id="problem_list", responses=problems({200: CodesOut}))
    def get(self, request: Request) -> Response:
        return Response({"problems": [_described(found) for found in catalogue().values()]})


class Problem(PublicView):
    """What one code means, in both languages."""

    @extend_schema(operation_id="problem", responses=problems({200: CodeOut}))
    def get(self, request: Request, code: str) -> Response:
        try:
            found = entry(code)
        except KeyError:
            raise refuse(Code.NOT_FOUND) from None
        return Response(_described(found))


def _described(found: Entry) -> dict[str, Any]:
    return {
        "type": found.type,
        "code": found.code.value,
        "status": found.status,
        "fault": found.fault.value,
        "texts": texts(found.code, {}),
    }


class TaskSets(PublicView):
    """Versions that take submissions, with the policy in force."""

    @extend_schema(operation_id="task_set_list", responses=problems({200: TaskSetsOut}))
    def get(self, request: Request) -> Response:
        return Response({"task_sets": [_task_set(row) for row in queries.open_task_sets()]})


def _task_set(row: TaskSetVersion) -> dict[str, Any]:
    terms = queries.terms_at(row)
    return {
        "label": row.label,
        "synthetic": row.is_synthetic,
        "digest": row.digest,
        "protocol_version": row.protocol_version,
        "evaluator_version": row.evaluator_version,
        "opened_at": row.opened_at.isoformat() if row.opened_at else None,
        "policy": asdict(terms) if terms else None,
    }


LABEL = r"^[0-9A-Za-z._-]{1,32}$"


class QuotaIn(StrictSerializer):
    harness = serializers.UUIDField(required=False)
    task_set = serializers.RegexField(LABEL.replace("$", r"\Z"), required=False)


@delivers("quota")
class Quota(MemberView):
    """Every open task set with every counter of every harness, what bites, from when on it lets go, and who pays."""

    permissions: ClassVar = {"GET": Permission.QUOTA_READ}

    @extend_schema(
        operation_id="quota",
        parameters=[OpenApiParameter("harness", UUID), OpenApiParameter("task_set", str, pattern=LABEL)],
        responses=problems({200: QuotaOut}),
    )
    def get(self, request: Request) -> Response:
        query = QuotaIn(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        asked = query.validated_data
        harness_id = asked.get("harness") or self.caller.harness_id
        self.caller.require_harness(harness_id)
        if harness_id is not None:
            queries.harness_of(self.caller.organisation, harness_id)
        cards_ = queries.quota_cards(self.caller.organisation, account=self.caller.actor.account)
        shown = [
            _quota(row, [card for card in cards_ if card.task_set.pk == row.pk], harness_id)
            for row in queries.open_task_sets()
            if asked.get("task_set") in (None, row.label)
        ]
        subject = ("organisation", self.caller.organisation.id)
        show_status(request, "quota", subject, _without_now(shown), by=self.caller.actor)
        rules = [{name: str(value) for name, value in rule.items()} for rule in queries.who_pays()]
        answer = Response({"now": clock.now().isoformat(), "task_sets": shown, "who_pays": rules})
        caching.says(answer, [_without_now(shown), rules])
        return answer


def _without_now(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Quota statements without the moment at which each was made."""
    return [{**row, "harnesses": [{**line, "now": None} for line in row["harnesses"]]} for row in shown]


def _quota(row: TaskSetVersion, cards_: list[queries.QuotaCard], harness_id: object) -> dict[str, Any]:
    terms = queries.terms_at(row)
    return {
        "task_set": row.label,
        "entitled": terms is not None,
        "policy": asdict(terms) if terms else None,
        "harnesses": [
            {"harness": str(card.harness.id), "name": card.harness.name, **card.window.shown()}
            for card in cards_
            if harness_id in (None, card.harness.id)
        ],
    }


class NothingHere(PublicView):
    """Every other address below /api/v1/: the same 404 as for what somebody else owns."""

    http_method_names = [*METHODS, "options"]  # noqa: RUF012 - the framework's own spelling

    @extend_schema(exclude=True)
    def get(self, request: Request, **kwargs: object) -> Response:
        raise refuse(Code.NOT_FOUND)

    post = put = patch = delete = get
    options = get  # type: ignore[assignment]  # the framework's own describes the view
