"""Registering, changing, trying and retiring model upstreams: an organisation's, or the platform's own.

The platform's belong to no organisation; evaluation engineers keep them. All raise DutyRefused for others there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts.duties.queries import standing as standing_of
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Duty
from accounts.models import Organisation
from audit import log
from audit.events import Actor
from config import addresses, clock
from config.addresses import AddressRefused
from evaluation import events
from evaluation.upstreams import credentials, probe
from evaluation.upstreams.facts import ceiling_of, described
from evaluation.upstreams.models import (
    NAME_PATTERN,
    Currency,
    Dialect,
    Exposure,
    ModelUpstream,
    UpstreamCredential,
    UpstreamTrial,
)
from submissions import tickets
from submissions.models import Submission
from submissions.policies.states import ENDS
from submissions.problems import Code, FieldError, Refusal, Refused, refuse
from submissions.services import standing

CREDENTIAL = re.compile(r"[\x21-\x7e]{8,512}\Z")
SNAPSHOT = re.compile(r"[\x21-\x7e]{1,120}\Z")
MOST_A_MINUTE, MOST_AT_ONCE = 10_000, 256
PRICES = ("input_price", "cached_price", "output_price")
DEAREST = Decimal(10_000)
"""Of a million tokens: ten times what any model costs in any of the currencies."""
BETWEEN_TRIALS = timedelta(seconds=10)
TRIALS_AN_HOUR = 30
EXPOSURES = (Exposure.THIRD_PARTY, Exposure.VENDOR_ENDPOINT)
PLATFORMS = (Exposure.SEALED, Exposure.THIRD_PARTY)
"""Who may read the prompts: of an organisation's upstreams, and of the platform's own."""
MOST_ACTIVE = 50
"""How many active upstreams one organisation may have."""


@dataclass(frozen=True)
class Limits:
    """What may change of an upstream, beside its name."""

    requests_per_minute: int
    concurrency: int
    ceiling: Decimal
    currency: str
    input_price: Decimal | None = None
    cached_price: Decimal | None = None
    output_price: Decimal | None = None
    """Of a million tokens. Spending is known only where those of input and output are stated."""


@dataclass(frozen=True)
class Endpoint:
    """What is called; it never changes."""

    dialect: str
    base_url: str
    snapshot: str
    exposure: str


def register_upstream(
    organisation: Organisation | None, *, name: str, endpoint: Endpoint, limits: Limits, by: Actor
) -> ModelUpstream:
    """A new upstream without credential. Raises Refused: invalid_field, upstream_name_taken, standing."""
    _require_right(organisation, by)
    exposures = EXPOSURES if organisation is not None else PLATFORMS
    _require([*_name_errors(name), *_endpoint_errors(endpoint, exposures), *_limit_errors(limits)])
    if ModelUpstream.objects.filter(organisation=organisation, state="active").count() >= MOST_ACTIVE:
        _require([FieldError("$", f"at most {MOST_ACTIVE} active upstreams")])
    try:
        with transaction.atomic():
            row = ModelUpstream.objects.create(
                organisation=organisation,
                name=name,
                created_at=clock.now(),
                **vars(endpoint) | {"base_url": endpoint.base_url.rstrip("/")},
                **vars(limits),
            )
            event = events.UpstreamRegistered(
                subject=row.id,
                organisation=str(organisation.id) if organisation else None,
                dialect=row.dialect,
                exposure=row.exposure,
                ceiling=ceiling_of(row),
                description=described(row),
            )
            log.append(event, by=by)
    except IntegrityError as error:
        raise _name_taken(error, name) from None
    return row


def change_upstream(upstream_id: UUID, *, changes: Mapping[str, Any], by: Actor) -> ModelUpstream:
    """Other limits or another name: `changes` holds fields of `Limits`, or `name`.

    Raises Refused: invalid_field, upstream_name_taken, upstream_retired, upstream_in_use, standing.
    """
    name = str(changes.get("name", ""))
    try:
        with transaction.atomic():
            row = _locked(upstream_id, by)
            found = {field: changes.get(field, getattr(row, field)) for field in Limits.__annotations__}
            limits = Limits(**found)
            if in_use(row) and _costs_otherwise(row, limits):
                raise refuse(Code.UPSTREAM_IN_USE)
            _require([*(_name_errors(name) if "name" in changes else []), *_limit_errors(limits)])
            for field, value in (*vars(limits).items(), ("name", name or row.name)):
                setattr(row, field, value)
            row.save(update_fields=["name", *vars(limits)])
            event = events.UpstreamChanged(
                subject=row.id, ceiling=ceiling_of(row), description=described(row)
            )
            log.append(event, by=by)
    except IntegrityError as error:
        raise _name_taken(error, name) from None
    return row


def set_credential(upstream_id: UUID, credential: str, *, by: Actor) -> None:
    """Put a credential in place of the one before, which is gone then. It can never be read back.

    Raises Refused: invalid_field, upstream_retired, standing.
    """
    if not CREDENTIAL.match(credential):
        _require([FieldError("$.credential", "8 to 512 printable ASCII characters without blanks")])
    with transaction.atomic():
        row = _locked(upstream_id, by)
        kept = {
            "boxed": credentials.boxed(row, credential),
            "hint": credentials.hint_of(credential),
            "set_at": clock.now(),
        }
        if not UpstreamCredential.objects.filter(upstream=row).update(**kept):
            UpstreamCredential.objects.bulk_create([UpstreamCredential(upstream=row, **kept)])
        log.append(events.UpstreamCredentialSet(subject=row.id), by=by)


def ask_trial(upstream_id: UUID, *, by: Actor) -> UpstreamTrial:
    """Have one small call made by a worker; its outcome stands in the row a few seconds later.

    Raises Refused: upstream_no_credential, upstream_trial_too_soon, upstream_retired, standing.
    """
    with transaction.atomic():
        row = _locked(upstream_id, by)
        if not UpstreamCredential.objects.filter(upstream=row).exists():
            raise refuse(Code.UPSTREAM_NO_CREDENTIAL)
        if (allowed := _trial_allowed_at(row)) > clock.now():
            raise Refused(Refusal(Code.UPSTREAM_TRIAL_TOO_SOON, next_allowed_at=allowed))
        trial = UpstreamTrial.objects.create(upstream=row, asked_at=clock.now())
        log.append(events.UpstreamTrialAsked(subject=row.id, trial=str(trial.id)), by=by)
        tickets.send("evaluation.tasks.try_upstream", trial.id)
    return trial


def retire_upstream(upstream_id: UUID, *, by: Actor) -> None:
    """Never call it again, and destroy its credential.

    Raises Refused: upstream_retired, upstream_in_use, standing.
    """
    with transaction.atomic():
        row = _locked(upstream_id, by)
        if in_use(row):
            raise refuse(Code.UPSTREAM_IN_USE)
        row.state, row.retired_at = ModelUpstream.State.RETIRED, clock.now()
        row.save(update_fields=["state", "retired_at"])
        UpstreamCredential.objects.filter(upstream=row).delete()
        log.append(events.UpstreamRetired(subject=row.id), by=by)


def _costs_otherwise(row: ModelUpstream, limits: Limits) -> bool:
    """Whether prices or currency change or the ceiling falls: by that a run under way could be stopped at will."""
    same = all(getattr(row, name) == getattr(limits, name) for name in (*PRICES, "currency"))
    return not same or limits.ceiling < row.ceiling


def in_use(row: ModelUpstream) -> bool:
    """Whether a submission or preflight that is not at an end may still call it."""
    under_way = Submission.of_any_scope.exclude(state__in=ENDS)
    return under_way.filter(preflight_run__needs__upstream=row).exists()


def _locked(upstream_id: UUID, by: Actor) -> ModelUpstream:
    """The row, held until the transaction ends, if this person may change it and it is not retired."""
    row = ModelUpstream.objects.select_for_update().get(pk=upstream_id)
    _require_right(row.organisation, by)
    if row.state == ModelUpstream.State.RETIRED:
        raise refuse(Code.UPSTREAM_RETIRED)
    return row


def _require_right(organisation: Organisation | None, by: Actor) -> None:
    """Raises Refused for a vendor's people by their standing, DutyRefused for whoever is no evaluation engineer."""
    if organisation is not None:
        standing.require(organisation, by)
    elif Duty.EVALUATION_ENGINEER not in standing_of(by).duties:
        raise DutyRefused(Reason.NOT_ENTITLED)


def _trial_allowed_at(row: ModelUpstream) -> datetime:
    """From when on another trial may be asked for. The organisation's hour is counted without a lock: a few more
    calls by a race do no harm, and of one upstream the database lets only one be under way."""
    now = clock.now()
    recent = UpstreamTrial.objects.filter(
        upstream__organisation=row.organisation, asked_at__gt=now - timedelta(hours=1)
    )
    times = sorted(recent.values_list("asked_at", flat=True))
    found = now if len(times) < TRIALS_AN_HOUR else times[-TRIALS_AN_HOUR] + timedelta(hours=1)
    last = UpstreamTrial.objects.filter(upstream=row).order_by("-id").first()
    if last is not None:
        found = max(found, last.asked_at + BETWEEN_TRIALS)
        if last.ended_at is None:
            found = max(found, now + BETWEEN_TRIALS)
    return found


def _name_errors(name: str) -> list[FieldError]:
    if re.match(NAME_PATTERN, name):
        return []
    return [FieldError("$.name", "1 to 63 of a-z, 0-9 and inner hyphens or dots")]


def _endpoint_errors(endpoint: Endpoint, exposures: tuple[Exposure, ...]) -> list[FieldError]:
    errors = []
    if endpoint.dialect not in Dialect.values:
        errors.append(FieldError("$.dialect", f"one of {', '.join(Dialect.values)}"))
    if endpoint.exposure not in exposures:
        errors.append(FieldError("$.exposure", f"one of {', '.join(exposures)}"))
    if not SNAPSHOT.match(endpoint.snapshot):
        errors.append(FieldError("$.snapshot", "1 to 120 printable ASCII characters without blanks"))
    if fault := _address_fault(endpoint.base_url):
        errors.append(FieldError("$.base_url", fault))
    return errors


def _address_fault(base_url: str) -> str:
    """What is wrong with the address as written; what it resolves to is looked at with each call."""
    try:
        place = addresses.place(base_url, probe.rules())
    except AddressRefused as refused:
        return f"https, a public host, port 443 or 8443, no credentials, query or fragment ({refused.reason})"
    if len(base_url) > 300:
        return "at most 300 characters"
    literal = place.host.replace(".", "").isdigit() or ":" in place.host
    if literal and not (addresses.is_public_address(place.host) or probe.rules().loopback):
        return f"a public address ({addresses.Unfit.NOT_PUBLIC})"
    return ""


def _limit_errors(limits: Limits) -> list[FieldError]:
    errors = []
    if not 1 <= limits.requests_per_minute <= MOST_A_MINUTE:
        errors.append(FieldError("$.requests_per_minute", f"1 to {MOST_A_MINUTE}"))
    if not 1 <= limits.concurrency <= MOST_AT_ONCE:
        errors.append(FieldError("$.concurrency", f"1 to {MOST_AT_ONCE}"))
    if not Decimal("0.01") <= limits.ceiling < Decimal(10) ** 10:
        errors.append(FieldError("$.ceiling", "more than 0, with at most two decimals"))
    if limits.currency not in Currency.values:
        errors.append(FieldError("$.currency", f"one of {', '.join(Currency.values)}"))
    return errors + _price_errors(limits)


def _price_errors(limits: Limits) -> list[FieldError]:
    """Both of the two that everything costs, or neither; cached tokens may have one of their own then."""
    prices = {name: getattr(limits, name) for name in PRICES}
    errors = [
        FieldError(f"$.{name}", f"0 to {DEAREST}, with at most four decimals")
        for name, value in prices.items()
        if value is not None and not 0 <= value <= DEAREST
    ]
    stated = [name for name, value in prices.items() if value is not None]
    if stated and (limits.input_price is None or limits.output_price is None):
        errors.append(FieldError(f"$.{stated[0]}", "prices of input and of output together"))
    return errors


def _require(errors: list[FieldError]) -> None:
    if errors:
        raise Refused(Refusal(Code.INVALID_FIELD, errors=errors))


def _name_taken(error: IntegrityError, name: str) -> Exception:
    """The refusal, where that is what the database said; else the error itself."""
    constraint = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
    return refuse(Code.UPSTREAM_NAME_TAKEN, name=name) if constraint == "upstream_name_once" else error
