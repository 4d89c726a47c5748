"""Options that every command has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from client.words import say

SiteOption = Annotated[
    str | None, typer.Option("--site", help=say("Address of the site; else LGBENCH_SITE, lgbench.toml."))
]
TokenOption = Annotated[
    str | None,
    typer.Option("--token", help=say("Token; rather use LGBENCH_TOKEN, which no process list shows.")),
]
JsonOption = Annotated[bool, typer.Option("--json", help=say("Print one JSON object."))]
LangOption = Annotated[str | None, typer.Option("--lang", help=say("en or zh; else LGBENCH_LANG, LANG."))]
ImageOption = Annotated[
    Path | None,
    typer.Option(
        "--image",
        help=say("An image archive, as `docker save` writes it, in place of the harness folder."),
        dir_okay=False,
        exists=True,
    ),
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--dir", "-C", help=say("Folder with lgbench.toml; else the present one."), file_okay=False),
]
