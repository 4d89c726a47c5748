#!/usr/bin/env python
"""Entry point of every administrative command; puts the two source roots on sys.path.

Each command runs under one database role. LINGEE_ROLE says which; where it is unset the command's
name decides here, so that nobody migrates as the web process or grades as the owner by accident.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent

OWNER_COMMANDS = frozenset(
    {
        "bootstrap",
        "check",
        "check_translations",
        "compile_translations",
        "createcachetable",
        "dbshell",
        "demo",
        "flush",
        "makemessages",
        "makemigrations",
        "migrate",
        "serve",
        "services",
        "showmigrations",
        "sqlmigrate",
        "squashmigrations",
    }
)
SEALED_COMMANDS = frozenset({"taskset"})


def default_role(arguments: list[str]) -> str:
    """The database role a command runs under when LINGEE_ROLE is unset."""
    command = next((word for word in arguments[1:] if not word.startswith("-")), "")
    if command in OWNER_COMMANDS:
        return "owner"
    if command in SEALED_COMMANDS:
        return "sealed"
    if command == "runserver":
        return "web"
    return "console"


def main() -> None:
    """Run one Django command."""
    # platform/ is a source root, not a package: as one it would hide the standard library's module.
    for root in (str(ROOT / "platform"), str(ROOT)):
        if root in sys.path:
            sys.path.remove(root)
        sys.path.insert(0, root)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
    os.environ.setdefault("LINGEE_ROLE", default_role(sys.argv))

    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
