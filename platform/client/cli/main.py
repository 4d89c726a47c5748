"""The commands put together; every failure ends in a code of its own and a sentence."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import typer

from client.cli import check, local, look, preflight, submit, upstream
from client.cli.session import spoken
from client.exits import Exit, meanings
from client.trouble import Trouble
from client.words import say


def application() -> typer.Typer:
    """All commands."""
    app = typer.Typer(
        name="lgbench",
        help=say("Submit a harness to the benchmark, and read what comes of it."),
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.command("init", help=say("Write a starter kit into a folder."))(check.init)
    app.command("check", help=say("Check harness and card offline, as intake will."))(check.check)
    app.command("run-local", help=say("Run the harness on public tasks in a sandbox on this machine."))(
        local.run_local
    )
    app.command("submit", help=say("Register, upload and submit; repeating it does nothing twice."))(
        submit.submit
    )
    app.command("preflight", help=say("Run the public tasks on the platform; uses no submission."))(
        preflight.preflight
    )
    app.command("status", help=say("Show a submission, or the latest ones."))(look.status)
    app.command("wait", help=say("Wait until a submission has ended."))(submit.wait)
    app.command("result", help=say("Show a released result, and compare it with a bar."))(look.result)
    app.command("collect", help=say("In CI: look once, and write the summary of the job."))(look.collect)
    app.command("quota", help=say("Show what is left, on every task set, and why."))(look.quota)
    app.add_typer(_upstream(), name="upstream", help=say("List model upstreams, and try one."))
    app.command("verify", help=say("Verify a receipt offline against the log's key."))(look.verify)
    app.command("exit-codes", help=say("List the exit codes."))(exit_codes)
    return app


def _upstream() -> typer.Typer:
    group = typer.Typer(no_args_is_help=True)
    group.command("list", help=say("List the organisation's model upstreams, and the platform's."))(
        upstream.listed
    )
    group.command("test", help=say("Have one small call made, and show what came of it."))(upstream.try_out)
    return group


def exit_codes() -> None:
    for code, text in meanings().items():
        print(f"{int(code)}  {text}")


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns its exit code."""
    try:
        application()(args=list(arguments), prog_name="lgbench")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except Trouble as trouble:
        spoken().trouble(trouble)
        return int(trouble.exit)
    except KeyboardInterrupt:
        spoken().trouble(_stopped())
        return int(Exit.RUNNING)
    except OSError as error:
        spoken().trouble(_of_system(error))
        return int(Exit.USAGE)
    except Exception:  # noqa: BLE001 - whatever it is, people get a sentence; the trace is for a report
        spoken().trouble(_unexpected())
        return int(Exit.PLATFORM)
    return 0


def _stopped() -> Trouble:
    return Trouble(
        "stopped",
        say("Stopped by you. What the site does goes on."),
        hint=say(
            "Repeat the command; nothing happens twice. An upload goes on with `lgbench submit --resume`."
        ),
        exit=Exit.RUNNING,
    )


def _of_system(error: OSError) -> Trouble:
    return Trouble(
        "file_unusable",
        say("{path} cannot be used: {what}").format(path=error.filename or "–", what=error.strerror or "–"),
        hint=say("Check the path and its permissions."),
        exit=Exit.USAGE,
    )


def _unexpected() -> Trouble:
    if os.environ.get("LGBENCH_DEBUG"):
        traceback.print_exc(file=sys.stderr)
    return Trouble(
        "unexpected",
        say("Something went wrong inside lgbench."),
        hint=say("Repeat it with LGBENCH_DEBUG=1 and report what it prints, without tokens."),
        exit=Exit.PLATFORM,
    )


__all__ = ["application", "run"]
