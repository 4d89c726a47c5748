"""People, organisations, lineages, members and API tokens."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models, transaction
from django.utils.translation import gettext_lazy as _
from knox.models import AbstractAuthToken

from accounts import events, names, permissions
from accounts.duties.models import DutyAssignment, DutyCeremony  # noqa: F401 (models of this app)
from accounts.linking.models import LinkCase, NetworkMark  # noqa: F401 (models of this app)
from accounts.members.models import Invitation  # noqa: F401 (model of this app)
from accounts.notices.models import Notice, NoticePreference  # noqa: F401 (models of this app)
from accounts.publishing.models import (  # noqa: F401 (models of this app)
    CiGrant,
    ReviewedIssuer,
    TrustedPublisher,
    UsedIdentity,
)
from accounts.registration.models import (  # noqa: F401 (models of this app)
    Registration,
    RegistrationDetails,
    RegistrationEvidence,
    RuleAcceptance,
)
from accounts.registration.policies import Verification, verification
from accounts.rooms.models import AuditRoom  # noqa: F401 (models of this app)
from accounts.security.models import ErasureRequest, SignIn  # noqa: F401 (models of this app)
from accounts.terms import AuditOrganisation, AuditorTerm  # noqa: F401 (models of this app)
from audit import log
from audit.events import Actor, Channel
from config import clock
from config.ids import new_id, opaque_id


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractBaseUser, PermissionsMixin):  # type: ignore[django-manager-missing]
    """A person. `pseudonym` is the only name by which events know them."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    pseudonym = models.UUIDField(unique=True, default=opaque_id, editable=False)
    email = models.EmailField(_("e-mail address"), unique=True)
    sealed_name = models.BinaryField(default=b"", blank=True)
    """What they are called, sealed under their own key; read as `display_name`."""
    language = models.CharField(_("language"), max_length=10, default="zh-hans")
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    suspended_at = models.DateTimeField(null=True, blank=True)
    erased_at = models.DateTimeField(null=True, blank=True)
    """When the person was erased: what is left of the row is a pseudonym that nothing leads away from."""
    date_joined = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = UserManager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(erased_at__isnull=True) | models.Q(is_active=False, sealed_name=b""),
                name="erased_person_is_gone",
            ),
        ]

    def __str__(self) -> str:
        return self.display_name or self.email

    @property
    def display_name(self) -> str:
        """Their name; empty where none was given, and in processes that may not know it."""
        if not self.sealed_name or settings.VAULT_KEY_PEOPLE is None:
            return ""
        return names.open_sealed(self.sealed_name, self.person_key.wrapped_key)

    @property
    def is_suspended(self) -> bool:
        return self.suspended_at is not None

    def actor(self, channel: Channel, organisation: str = "") -> Actor:
        """This person, as events name whoever acts."""
        return Actor(
            kind="person",
            id=str(self.pseudonym),
            organisation=organisation,
            channel=channel,
            account=self.id,
        )

    def save(self, *args: Any, **options: Any) -> None:
        """As everywhere; but the sign-in library changes an address by itself, in several places and by this alone."""
        if list(options.get("update_fields") or ()) != ["email"]:
            super().save(*args, **options)
            return
        with transaction.atomic():
            super().save(*args, **options)
            log.append(events.EmailChanged(subject=self.pseudonym), by=self.actor("web"))

    def check_password(self, raw_password: str | None) -> bool:
        """Whether this is the password; a hash that has become too weak is replaced, with its event."""
        with transaction.atomic():
            before = self.password
            found = super().check_password(raw_password)
            if self.password != before:
                log.append(events.PasswordRehashed(subject=self.pseudonym), by=self.actor("web"))
        return found


class PersonKey(models.Model):
    """The key under which a person's name is sealed, wrapped. Erasing the person destroys the row."""

    user = models.OneToOneField(User, primary_key=True, on_delete=models.PROTECT, related_name="person_key")
    wrapped_key = models.BinaryField()


class Lineage(models.Model):
    """An organisation with its confirmed linked accounts: what the quota of a task-set version is counted by."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)


class Organisation(models.Model):  # type: ignore[django-manager-missing]
    class State(models.TextChoices):
        UNDER_REVIEW = "under_review", _("under review")
        VERIFIED = "verified", _("verified")
        SUSPENDED = "suspended", _("suspended")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(_("name"), max_length=200)
    slug = models.SlugField(max_length=80, unique=True)
    lineage = models.ForeignKey(Lineage, on_delete=models.PROTECT, related_name="organisations")
    state = models.CharField(max_length=16, choices=State.choices, default=State.UNDER_REVIEW)
    is_operator = models.BooleanField(default=False)
    verified_at = models.DateTimeField(null=True, blank=True)
    verified_until = models.DateTimeField(null=True, blank=True)
    """When the verification expires; then it is registered and verified anew."""
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    @property
    def verification(self) -> Verification:
        """How it stands at this moment, as every page and the API say it."""
        return verification(self.state, self.verified_until, clock.now())

    @property
    def is_verified(self) -> bool:
        return self.verification is Verification.VERIFIED


class Membership(models.Model):
    class Role(models.TextChoices):
        OWNER = "owner", _("owner")
        SUBMITTER = "submitter", _("submitter")
        VIEWER = "viewer", _("viewer")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices)
    created_at = models.DateTimeField(auto_now_add=True)
    chosen_at = models.DateTimeField(default=clock.now)
    """Of somebody's several organisations, they see the pages of the one they chose last."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "organisation"], name="one_membership_each")]

    SUBMITTING = (Role.OWNER, Role.SUBMITTER)

    @property
    def may_submit(self) -> bool:
        return self.role in self.SUBMITTING


class ApiToken(AbstractAuthToken):
    """A personal token acting for one organisation. Only its hash is stored (knox); revoked ones stay as rows."""

    class Scope(models.TextChoices):
        READ = permissions.Scope.READ.value, _("read")
        PREFLIGHT = permissions.Scope.PREFLIGHT.value, _("preflight")
        SUBMIT = permissions.Scope.SUBMIT.value, _("submit")

    class Cause(models.TextChoices):
        """Why it was revoked."""

        REVOKED = "revoked", _("revoked by a person")
        LEAKED = "leaked", _("reported as leaked")
        PASSWORD = "password_changed", _("the holder's password was changed")
        ERASED = "erased", _("the holder was erased")
        LEFT = "left", _("the holder left the organisation")

    public_id = models.UUIDField(unique=True, default=opaque_id, editable=False)
    name = models.CharField(_("name"), max_length=80)
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="tokens")
    scopes = models.JSONField(default=list)
    harness_id: models.UUIDField[uuid.UUID | None, uuid.UUID | None] = models.UUIDField(null=True, blank=True)
    """The one harness it is limited to. No foreign key: harnesses live above accounts."""
    last_used_at = models.DateTimeField(null=True, blank=True)
    """To the minute."""
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_cause = models.CharField(max_length=20, choices=Cause.choices, blank=True, default="")
    announced_days: models.SmallIntegerField[int | None, int | None] = models.SmallIntegerField(
        null=True, blank=True
    )
    """At how many days before its end the holder was last told; None: not yet."""

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(expiry__isnull=False), name="tokens_expire"),
        ]

    @property
    def shown(self) -> str:
        """As much of its text as pages show."""
        return self.token_key[:8]


class LeakReport(models.Model):
    """A text that somebody found in public and sent in as a token; gone once a worker has looked what it opens."""

    digest = models.CharField(max_length=128)
    token_key = models.CharField(max_length=15)
    reported_at = models.DateTimeField()
