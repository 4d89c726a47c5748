"""A task for the tests of the queues: it leaves one mark in a file."""

from pathlib import Path

from config.celery import app


@app.task(name="tests.skeleton.tickets.note")
def note(path: str) -> None:
    """Append one character."""
    with Path(path).open("a") as file:
        file.write("x")
