"""URL table: pages carry their language in the address, the API does not."""

from importlib.util import find_spec

from allauth.account.decorators import secure_admin_login
from django.conf import settings
from django.conf.urls.i18n import i18n_patterns
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from accounts.security import views as security

#: Roles whose process serves the staff pages; `test` is both sites at once.
CONSOLE = ("console", "test")

admin.autodiscover()
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]


def _modules(name: str) -> list[str]:
    """`<app>.<name>` for each of our apps that has such a module, top layer first."""
    found = [f"{app}.{name}" for app in reversed(settings.LOCAL_APPS) if find_spec(app)]
    return [module for module in found if find_spec(module)]


def _takes_the_rest(module: str) -> bool:
    """The submissions' addresses end with one that answers for everything unknown, so they come last."""
    return module.startswith("submissions.")


urlpatterns: list[URLPattern | URLResolver] = [
    *(path("api/v1/", include(module)) for module in sorted(_modules("api_urls"), key=_takes_the_rest)),
    path("log/", include("audit.public_urls")),
    *i18n_patterns(
        # Before the library's, whose views they extend.
        path("account/2fa/totp/activate/", security.activate_totp, name="mfa_activate_totp"),
        path("account/2fa/totp/deactivate/", security.deactivate_totp, name="mfa_deactivate_totp"),
        path("account/2fa/webauthn/add/", security.add_passkey, name="mfa_add_webauthn"),
        path(
            "account/2fa/webauthn/keys/<int:pk>/remove/", security.remove_passkey, name="mfa_remove_webauthn"
        ),
        path(
            "account/2fa/recovery-codes/generate/",
            security.make_recovery_codes,
            name="mfa_generate_recovery_codes",
        ),
        path("account/", include("allauth.urls")),
        *(path("", include(module)) for module in _modules("urls")),
        # Staff pages are a process of their own, under its own database role: elsewhere they do not exist.
        *(
            path("", include(module))
            for module in _modules("console_urls")
            if settings.LINGEE_ROLE in CONSOLE
        ),
        prefix_default_language=True,
    ),
]
