"""Past what a run may cost, what is left to check fails, and the grader goes on to write its reward."""

import resource
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from evaluation.grader.effort import Effort
from scoring.artefacts import ArtefactError, Reason


@pytest.fixture(autouse=True)
def _limits_as_before() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    # A test process may already hold more than a grader may.
    roomy = pytest.MonkeyPatch()
    roomy.setattr("evaluation.grader.effort.MEMORY_BYTES", 64 * 1024**3)
    yield
    roomy.undo()
    resource.setrlimit(resource.RLIMIT_AS, before)


def _spin(seconds: float) -> None:
    begun = time.process_time()
    while time.process_time() - begun < seconds:
        pass


def test_a_check_that_never_ends_is_ended_and_no_other_begins() -> None:
    effort = Effort(seconds=0.2)
    with effort.watching():
        with pytest.raises(ArtefactError) as caught, effort:
            _spin(5)
        assert caught.value.reason is Reason.TOO_LARGE
        with pytest.raises(ArtefactError), effort:
            pytest.fail("begun")
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_between_checks_nothing_is_raised() -> None:
    effort = Effort(seconds=0.05)
    with effort.watching():
        with effort:
            pass
        _spin(0.2)
        with pytest.raises(ArtefactError), effort:
            pytest.fail("begun")


def _spin_on() -> None:
    with suppress(ArtefactError):
        _spin(5)
    _spin(5)


def test_an_error_that_a_check_swallows_comes_again() -> None:
    effort = Effort(seconds=0.05)
    with effort.watching(), pytest.raises(ArtefactError), effort:
        _spin_on()


def test_scripts_share_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.grader.effort.SCRIPT_SECONDS", 0.1)
    effort = Effort()
    with effort.script(10) as seconds:
        assert seconds == 0.1
        time.sleep(0.11)
    with pytest.raises(ArtefactError), effort.script(10):
        pytest.fail("begun")
