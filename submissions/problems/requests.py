"""Problems of a request itself."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code

Row = tuple[Code, int, Fault, Promise, Promise, Promise]

_AGAIN = _("Send the request again later; with the same Idempotency-Key nothing happens twice.")

ROWS: list[Row] = [
    (
        Code.BAD_REQUEST,
        400,
        Fault.REQUEST,
        _("Bad request"),
        _("The request cannot be read."),
        _("Go back and try again, with the form as the page gave it."),
    ),
    (
        Code.MALFORMED_JSON,
        400,
        Fault.REQUEST,
        _("The body is not valid JSON"),
        _("The body could not be read: %(detail)s."),
        _("Send one JSON object in UTF-8, without NUL characters, NaN or infinite numbers."),
    ),
    (
        Code.INVALID_FIELD,
        422,
        Fault.REQUEST,
        _("A field is missing or has a wrong value"),
        _("The fields named in `errors` cannot be accepted."),
        _("Correct the named fields and send the request again."),
    ),
    (
        Code.UNKNOWN_REFERENCE,
        422,
        Fault.REQUEST,
        _("A field names something that does not exist"),
        _("`%(field)s` names nothing that you can use."),
        _("Check the identifier and the organisation you act for. Open task sets: GET /api/v1/task-sets"),
    ),
    (
        Code.NOT_FOUND,
        404,
        Fault.REQUEST,
        _("Not found"),
        _("There is nothing here that you may see."),
        _("Check the address and the organisation you act for."),
    ),
    (
        Code.METHOD_NOT_ALLOWED,
        405,
        Fault.REQUEST,
        _("Method not allowed"),
        _("This address does not answer this method."),
        _("The Allow header names the methods that it answers."),
    ),
    (
        Code.NOT_ACCEPTABLE,
        406,
        Fault.REQUEST,
        _("Format not available"),
        _("The API answers in JSON only."),
        _("Send `Accept: application/json`."),
    ),
    (
        Code.BODY_TOO_LARGE,
        413,
        Fault.REQUEST,
        _("The body is too large"),
        _("A request body may have at most %(limit)s bytes."),
        _("Packages are uploaded to the addresses that POST /api/v1/uploads returns."),
    ),
    (
        Code.UNSUPPORTED_MEDIA_TYPE,
        415,
        Fault.REQUEST,
        _("Media type not supported"),
        _("The API reads JSON only."),
        _("Send `Content-Type: application/json`."),
    ),
    (
        Code.TOO_MANY_REQUESTS,
        429,
        Fault.REQUEST,
        _("Too many requests"),
        _("%(used)s requests within this minute, and %(limit)s are answered."),
        _("Wait as long as Retry-After says."),
    ),
    (
        Code.INTERNAL_ERROR,
        500,
        Fault.PLATFORM,
        _("The platform failed"),
        _("Something failed on our side. Nothing was charged."),
        _AGAIN,
    ),
    (
        Code.SERVICE_UNAVAILABLE,
        503,
        Fault.PLATFORM,
        _("Temporarily out of service"),
        _("A part of the platform does not answer at the moment. Nothing was charged."),
        _AGAIN,
    ),
    (
        Code.READ_NOT_RECORDED,
        503,
        Fault.PLATFORM,
        _("Not delivered, because it could not be recorded"),
        _("Reading this is recorded in the transparency log first. That failed, so nothing was delivered."),
        _("Ask again in a few seconds."),
    ),
    (
        Code.IDEMPOTENCY_KEY_REQUIRED,
        400,
        Fault.REQUEST,
        _("Idempotency-Key is missing"),
        _("This request needs an Idempotency-Key header of 1 to 255 printable ASCII characters."),
        _("Make a new random key for each thing you want done, and keep it when you repeat the request."),
    ),
    (
        Code.IDEMPOTENCY_CONFLICT,
        409,
        Fault.REQUEST,
        _("This Idempotency-Key belongs to another request"),
        _("This key was used with another body within the last 30 days."),
        _("Use a new key for a new request."),
    ),
    (
        Code.NAME_TAKEN,
        409,
        Fault.REQUEST,
        _("This name is taken"),
        _("Your organisation has registered a harness named %(name)s already."),
        _("Add a version to that harness, or choose another name."),
    ),
    (
        Code.VERSION_EXISTS,
        409,
        Fault.REQUEST,
        _("This version exists"),
        _("Version %(version)s of this harness is registered already and never changes."),
        _("Register the change under a new version."),
    ),
]
