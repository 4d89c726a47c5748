"""Uploads over the API: declare, send the parts to the store, complete."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import Credential, Permission
from submissions import queries, services
from submissions.api.base import MemberView, referenced
from submissions.api.openapi import CREATES, problems
from submissions.api.serializers import CompleteIn, PartOut, UploadIn, UploadOpenOut, UploadOut
from submissions.intake import Kind
from submissions.models import Upload
from submissions.policies import Purpose


def _with_parts(body: dict[str, Any], upload: Upload) -> dict[str, Any]:
    """The stored answer never holds addresses; they are signed anew each time."""
    return {**body, "parts": PartOut(services.sign_parts(upload), many=True).data}


class Uploads(MemberView):
    permissions: ClassVar = {"POST": Permission.UPLOAD_WRITE}

    @extend_schema(
        operation_id="upload_create",
        request=UploadIn,
        parameters=CREATES,
        responses=problems({201: UploadOpenOut}),
    )
    def post(self, request: Request) -> Response:
        body = self.read(UploadIn)
        organisation, actor = self.caller.organisation, self.caller.actor
        version = referenced("harness_version", queries.version_of, organisation, body["harness_version"])
        self.caller.require_harness(version.harness_id)

        def act() -> tuple[int, dict[str, Any]]:
            purpose = Purpose(body["purpose"])
            services.require_use(version, sha256=body["sha256"], by=actor, purpose=purpose)
            upload = services.open_upload(
                version, sha256=body["sha256"], size=body["size"], kind=Kind(body["kind"]), by=actor
            )
            return 201, dict(UploadOut(upload).data)

        sent = {**body, "harness_version": str(version.id)}
        if sent["purpose"] == Purpose.SUBMISSION:  # a key that was used before there were purposes stays good
            del sent["purpose"]
        if sent["kind"] == Kind.BUNDLE:
            del sent["kind"]
        answer = services.once(organisation, "uploads", self.idempotency_key(), sent, act)
        upload = queries.upload_of(organisation, UUID(answer.body["id"]))
        return Response(_with_parts(answer.body, upload), status=answer.status)


class UploadDetail(MemberView):
    permissions: ClassVar = {"GET": Permission.UPLOAD_READ, "DELETE": Permission.UPLOAD_WRITE}

    @extend_schema(operation_id="upload", responses=problems({200: UploadOpenOut}))
    def get(self, request: Request, upload_id: UUID) -> Response:
        upload = self.upload(upload_id)
        found = Response(_with_parts(dict(UploadOut(upload).data), upload))
        found["Cache-Control"] = "no-store"  # its addresses are signed anew each time, and open a door
        return found

    @extend_schema(operation_id="upload_abort", responses=problems({200: UploadOut}))
    def delete(self, request: Request, upload_id: UUID) -> Response:
        upload = services.abort_upload(self.upload(upload_id).id, by=self.caller.actor)
        return Response(UploadOut(upload).data)

    def upload(self, upload_id: UUID) -> Upload:
        found = queries.upload_of(self.caller.organisation, upload_id)
        self.caller.require_harness(found.harness_version.harness_id)
        if self.caller.credential is Credential.WATCH:
            self.caller.require_submission(queries.submission_made_of(found))
        return found


class UploadComplete(UploadDetail):
    http_method_names = ["post"]  # noqa: RUF012 - the framework's own spelling
    permissions: ClassVar = {"POST": Permission.UPLOAD_WRITE}

    @extend_schema(operation_id="upload_complete", request=CompleteIn, responses=problems({200: UploadOut}))
    def post(self, request: Request, upload_id: UUID) -> Response:
        upload = self.upload(upload_id)
        parts = [(part["number"], part["etag"]) for part in self.read(CompleteIn)["parts"]]
        done = services.complete_upload(upload.id, parts=parts, by=self.caller.actor)
        return Response(UploadOut(done).data)
