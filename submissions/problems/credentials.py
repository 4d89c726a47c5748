"""Problems of who is asking."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

_NEW_TOKEN = _("Make a new token on the tokens page of your organisation.")
_APPEAL = _("Write to the platform's staff; the reason is on record and can be appealed.")

ROWS: list[Row] = [
    (
        Code.NOT_AUTHENTICATED,
        401,
        Fault.REQUEST,
        _("Sign in first"),
        _("This address needs a token or a signed-in session."),
        _("Send `Authorization: Bearer lgb_…`."),
    ),
    (
        Code.TOKEN_MALFORMED,
        401,
        Fault.REQUEST,
        _("This is no token"),
        _("What was sent is no token: a part of it is missing, doubled or mistyped."),
        _("Copy the token again, whole and alone: it begins with lgb_ and has no blanks."),
    ),
    (
        Code.TOKEN_INVALID,
        401,
        Fault.REQUEST,
        _("Token not known"),
        _("The token is whole, but this site has never issued it."),
        _(
            "Check whether it belongs to this site, or make a new one on the tokens page of your organisation."
        ),
    ),
    (Code.TOKEN_EXPIRED, 401, Fault.REQUEST, _("Token expired"), _("The token has expired."), _NEW_TOKEN),
    (Code.TOKEN_REVOKED, 401, Fault.REQUEST, _("Token revoked"), _("The token was revoked."), _NEW_TOKEN),
    (
        Code.TOKEN_ORPHANED,
        401,
        Fault.REQUEST,
        _("The token's holder has left"),
        _("The person who made this token has left the organisation."),
        _("Let a present member make a token."),
    ),
    (
        Code.ACCOUNT_SUSPENDED,
        401,
        Fault.POLICY,
        _("Account suspended"),
        _("This account is suspended; its sessions and tokens are refused."),
        _APPEAL,
    ),
    (
        Code.PERMISSION_DENIED,
        403,
        Fault.REQUEST,
        _("Not permitted"),
        _("Your account may not do this."),
        _("Ask an owner of your organisation."),
    ),
    (
        Code.MFA_REQUIRED,
        403,
        Fault.POLICY,
        _("A second step at sign-in is needed"),
        _("Whoever submits, or lets something submit for them, has signed in with a second factor."),
        _("Set up an authenticator app or a passkey under Two-step sign-in, and sign in with it."),
    ),
    (
        Code.PROOF_DUE,
        403,
        Fault.POLICY,
        _("A fresh proof of who you are is needed"),
        _("This session was signed in, or last confirmed, more than 15 minutes ago."),
        _("Confirm your password or second step on the website, or sign in again, and repeat."),
    ),
    (
        Code.CSRF_FAILED,
        403,
        Fault.REQUEST,
        _("The form has expired"),
        _("The request did not come from a fresh page of this site."),
        _("Load the page again and repeat."),
    ),
    (
        Code.CREDENTIAL_NOT_PERMITTED,
        403,
        Fault.REQUEST,
        _("Not with this credential"),
        _("This cannot be done with %(presented)s. It takes: %(allowed)s."),
        _("Use one of the credentials named, or do it on the website."),
    ),
    (
        Code.SCOPE_MISSING,
        403,
        Fault.REQUEST,
        _("The token lacks a scope"),
        _("This needs a token with the scope %(scope)s."),
        _NEW_TOKEN,
    ),
    (
        Code.TOKEN_HARNESS_MISMATCH,
        403,
        Fault.REQUEST,
        _("Token for another harness"),
        _("This token is limited to harness %(harness)s."),
        _("Use that harness, or a token without this limit."),
    ),
    (
        Code.NO_ORGANISATION,
        403,
        Fault.REQUEST,
        _("No organisation"),
        _("Your account belongs to no organisation yet."),
        _("Create an organisation or let an owner add you to theirs."),
    ),
    (
        Code.ROLE_MAY_NOT_SUBMIT,
        403,
        Fault.REQUEST,
        _("Your role may not submit"),
        _("Only owners and submitters of an organisation may do this."),
        _("Ask an owner of your organisation."),
    ),
    (
        Code.ORGANISATION_NOT_VERIFIED,
        403,
        Fault.POLICY,
        _("Organisation not verified"),
        _("Staff have not verified your organisation yet. Nothing was charged."),
        _("You can prepare harness, card and package meanwhile, and run preflights on the public tasks."),
    ),
    (
        Code.VERIFICATION_EXPIRED,
        403,
        Fault.POLICY,
        _("Verification expired"),
        _("The verification of your organisation has expired. Nothing was charged."),
        _(
            "Let an owner register it again under /account/registration/. You can check, upload and run preflights "
            "meanwhile."
        ),
    ),
    (
        Code.RULES_NOT_ACCEPTED,
        403,
        Fault.POLICY,
        _("Participation rules not accepted"),
        _("Your organisation has not accepted the participation rules in force. Nothing was charged."),
        _("Let an owner read and accept them under /participation-rules/."),
    ),
    (
        Code.ORGANISATION_SUSPENDED,
        403,
        Fault.POLICY,
        _("Organisation suspended"),
        _("Your organisation is suspended. Nothing was charged."),
        _APPEAL,
    ),
    (
        Code.ORGANISATION_AUDITS,
        403,
        Fault.POLICY,
        _("Organisation audits"),
        _(
            "Your organisation audits this platform, so it has no harnesses of its own here. Nothing was charged."
        ),
        _("Submit for an organisation that does not audit."),
    ),
]
