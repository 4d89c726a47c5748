"""Audit event kinds of reading: what was delivered, what was asked for in vain, how often nothing had changed.

`representation` is the salted hash (`audit.texts.concealed`) of what was delivered in its machine form: of files the
very text, of the API the JSON, of a page the JSON of the figures that it shows. `surface` is the name of the address.
"""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class Delivered(Event):
    """Base of deliveries that are an event each."""

    representation: str
    surface: str
    precision: str | None = None


class StatusRead(Event):
    """Base: something that can be polled was shown, for the first time to this reader or `changed` since."""

    representation: str
    surface: str
    change: str


class StatusPolled(Event):
    """Base: `count` further reads of the same within a quarter of an hour, which showed nothing new."""

    surface: str
    count: int
    since: str


class CardRead(Delivered):
    """A filed HarnessCard was delivered."""

    kind: ClassVar[str] = "card.read"
    subject_type: ClassVar[str] = "harness_version"
    sentence = _("{actor} was given the card of the harness version {subject} ({surface}).")


class PreflightRead(Delivered):
    """Results of single runs on public tasks were delivered."""

    kind: ClassVar[str] = "preflight.read"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} was given preflight results of the submission {subject} ({surface}).")


class ReceiptRead(Delivered):
    """A receipt was delivered; `precision` says that it held the released values too."""

    kind: ClassVar[str] = "receipt.read"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} was given the receipt of the submission {subject} ({surface}).")


class EntryRead(Delivered):
    """An auditor was shown an entry of the log, by its event's id, or a page of the explorer."""

    kind: ClassVar[str] = "entry.read"
    subject_type: ClassVar[str] = "entry"
    sentence = _("{actor} was shown the entry {subject} of the log ({surface}).")


class SubmissionStatusRead(StatusRead):
    """How a submission stands was delivered: for the first time to this reader, or changed since."""

    kind: ClassVar[str] = "submission.status_read"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} saw how the submission {subject} stands: {change} ({surface}).")


class SubmissionStatusPolled(StatusPolled):
    kind: ClassVar[str] = "submission.status_polled"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} looked {count} more times at how the submission {subject} stands, from {since} on.")


class OrganisationStatusRead(StatusRead):
    """Lists of submissions or quota statements of an organisation were delivered, first or changed."""

    kind: ClassVar[str] = "organisation.status_read"
    subject_type: ClassVar[str] = "organisation"
    sentence = _("{actor} saw how the organisation {subject} stands: {change} ({surface}).")


class OrganisationStatusPolled(StatusPolled):
    kind: ClassVar[str] = "organisation.status_polled"
    subject_type: ClassVar[str] = "organisation"
    sentence = _(
        "{actor} looked {count} more times at how the organisation {subject} stands, from {since} on."
    )


class ConsoleRead(StatusRead):
    """Staff saw a page about everybody's submissions, for the first time or changed since."""

    kind: ClassVar[str] = "console.status_read"
    subject_type: ClassVar[str] = "console"
    sentence = _("{actor} saw the staff page of {subject}: {change}.")


class ConsolePolled(StatusPolled):
    kind: ClassVar[str] = "console.status_polled"
    subject_type: ClassVar[str] = "console"
    sentence = _("{actor} looked {count} more times at the staff page of {subject}, from {since} on.")


class ReadRefused(Event):
    """Somebody asked for what is not theirs or does not exist; the event does not know which of the two.

    The subject is a hash of address name and asked id. `count` is the reader's how-manieth within the hour `since`.
    """

    kind: ClassVar[str] = "read.refused"
    subject_type: ClassVar[str] = "address"
    sentence = _("{actor} asked for something that is not theirs ({surface}); {count} in this hour.")
    outcome: str = "refused"
    surface: str
    method: str
    count: int
    since: str


class RefusalsCounted(Event):
    """How many refused reads of one reader an hour had together, where not each has an event."""

    kind: ClassVar[str] = "read.refusals_counted"
    subject_type: ClassVar[str] = "reader"
    sentence = _("{actor} had {count} refused reads in the hour from {since} on.")
    count: int
    since: str
