"""Problems of CI identities, trusted publishers and the credentials that jobs get for them.

What is given back of a token are single claims, never the token.
"""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

_NEW_IDENTITY = _("Ask the CI service for a new token in the same job, and exchange it at once.")
_REGISTER = _(
    "Compare the trusted publisher on its page with the job; POST /api/v1/oidc/check shows each field."
)
_ASK_OWNER = _("Let a present member of the organisation register the publisher anew.")

ROWS: list[Row] = [
    (
        Code.OIDC_MALFORMED,
        401,
        Fault.REQUEST,
        _("No identity token"),
        _("What was sent is no JSON Web Token of a CI job."),
        _("Send the token as the CI service gave it, unchanged."),
    ),
    (
        Code.OIDC_ALGORITHM,
        401,
        Fault.REQUEST,
        _("Algorithm not accepted"),
        _("The token is signed with %(received)s; only RS256 is accepted."),
        _("Have the issuer sign with RS256."),
    ),
    (
        Code.OIDC_UNKNOWN_ISSUER,
        401,
        Fault.REQUEST,
        _("Issuer not known"),
        _("The issuer %(received)s is none of those that are believed here."),
        _("Use a known CI service, or have the issuer of your own service reviewed by the platform's staff."),
    ),
    (
        Code.OIDC_ISSUER_UNAVAILABLE,
        503,
        Fault.PLATFORM,
        _("Issuer cannot be reached"),
        _("The keys of the issuer %(issuer)s cannot be fetched at the moment."),
        _("Try again in a minute. The token was not used up."),
    ),
    (
        Code.OIDC_UNKNOWN_KEY,
        401,
        Fault.REQUEST,
        _("Key not known"),
        _("The issuer has no key %(received)s."),
        _("If its keys were just changed, try again in a minute; they are fetched anew at most that often."),
    ),
    (
        Code.OIDC_SIGNATURE,
        401,
        Fault.REQUEST,
        _("Signature wrong"),
        _("The token's signature is not the issuer's."),
        _("Send the token as the CI service gave it, unchanged."),
    ),
    (
        Code.OIDC_EXPIRED,
        401,
        Fault.REQUEST,
        _("Identity token expired"),
        _("The token expired at %(received)s."),
        _NEW_IDENTITY,
    ),
    (
        Code.OIDC_NOT_YET,
        401,
        Fault.REQUEST,
        _("Identity token not valid yet"),
        _("The token's %(field)s is %(received)s, which is yet to come."),
        _("Set the clock of the issuer."),
    ),
    (
        Code.OIDC_AUDIENCE,
        401,
        Fault.REQUEST,
        _("Token made for another site"),
        _("The token was made for %(received)s, not for this site."),
        _("Ask for the token with this site's audience; the page of trusted publishers shows it."),
    ),
    (
        Code.OIDC_CLAIM_MISSING,
        401,
        Fault.REQUEST,
        _("Claim missing"),
        _("The token has no usable claim %(field)s."),
        _("Use a token of a CI job, with the claims that the service puts in by itself."),
    ),
    (
        Code.OIDC_REPLAYED,
        401,
        Fault.REQUEST,
        _("Identity token used before"),
        _("The token %(received)s was exchanged before; each is good for one exchange."),
        _NEW_IDENTITY,
    ),
    (
        Code.OIDC_EVENT,
        403,
        Fault.POLICY,
        _("Job started by a foreign change"),
        _("A job with %(field)s %(received)s may run code from elsewhere, so it gets no credentials."),
        _("Submit from a push, a tag, a schedule or by hand."),
    ),
    (
        Code.OIDC_NO_PUBLISHER,
        403,
        Fault.REQUEST,
        _("No trusted publisher"),
        _("No trusted publisher is registered for %(field)s %(received)s."),
        _("Register the repository on the page of trusted publishers."),
    ),
    (
        Code.OIDC_AMBIGUOUS,
        403,
        Fault.REQUEST,
        _("Several harnesses"),
        _("The job is trusted for several harnesses."),
        _("Name the harness by its id, as `harness`."),
    ),
    (
        Code.OIDC_MISMATCH,
        403,
        Fault.REQUEST,
        _("Not the registered job"),
        _("The job's %(field)s is %(received)s, which is not what was registered."),
        _REGISTER,
    ),
    (
        Code.PUBLISHER_REMOVED,
        401,
        Fault.VENDOR_DECISION,
        _("Trusted publisher removed"),
        _("The trusted publisher of this job was removed."),
        _("Register it anew."),
    ),
    (
        Code.PUBLISHER_SUSPENDED,
        401,
        Fault.POLICY,
        _("Person behind the publisher suspended"),
        _("The account of who registered the trusted publisher is suspended or gone."),
        _ASK_OWNER,
    ),
    (
        Code.PUBLISHER_ORPHANED,
        401,
        Fault.REQUEST,
        _("Person behind the publisher has left"),
        _("Who registered the trusted publisher has left the organisation or may submit no more."),
        _ASK_OWNER,
    ),
    (
        Code.PUBLISHER_INVALID,
        422,
        Fault.REQUEST,
        _("Publisher cannot be registered"),
        _("The field %(field)s cannot be %(received)s."),
        _("See the documentation of CI identities for the form of each field."),
    ),
    (
        Code.PUBLISHER_EXISTS,
        409,
        Fault.REQUEST,
        _("Publisher exists"),
        _("The same publisher is registered for this harness already, as %(publisher)s."),
        _("Nothing is to be done; or remove it first."),
    ),
    (
        Code.CI_EXPIRED,
        401,
        Fault.REQUEST,
        _("Credential of a job expired"),
        _(
            "The credential has expired: to act it is good for 15 minutes, to watch until 7 days after the end."
        ),
        _NEW_IDENTITY,
    ),
    (
        Code.WATCH_UNBOUND,
        409,
        Fault.REQUEST,
        _("Nothing to watch yet"),
        _("This credential watches the submission that the job makes, and it has made none yet."),
        _("Submit first, with the other credential."),
    ),
    (
        Code.ACT_USED,
        409,
        Fault.REQUEST,
        _("Job has submitted already"),
        _("With this credential the submission %(submission)s was made; it is good for one."),
        _("Exchange a new token for another submission."),
    ),
]
