"""The acceptance runner and the bars: a line that nothing carries fails, a short bar is called short."""

import pytest

from tests.acceptance import runner
from tests.acceptance.runner import Line, judge_by_look, read_area
from tests.benchmarks.registry import Bar, Registry


def test_every_area_is_read_and_every_kind_is_known():
    areas = sorted(path.stem for path in runner.HERE.glob("*.toml"))
    assert "main-job" in areas
    for area in areas:
        assert [line.number for line in read_area(area)]
    assert [line.kind for line in read_area("main-job")].count("test") == 7


def test_an_unknown_area_names_those_that_exist(capsys):
    assert runner.main(["nothing"]) == 2
    assert "main-job" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("numbers", "kind", "says"), [([1, 3], "test", "numbered"), ([1], "wish", "unknown kind")]
)
def test_a_malformed_area_is_refused(tmp_path, numbers, kind, says):
    rows = "".join(f'[[lines]]\nnumber = {number}\nkind = "{kind}"\nsays = "x"\n' for number in numbers)
    (tmp_path / "odd.toml").write_text(f'slug = "odd"\n{rows}')
    with pytest.raises(ValueError, match=says):
        read_area("odd", tmp_path)


@pytest.mark.parametrize(
    ("text", "ok"),
    [
        (None, False),
        ("short", False),
        ("- [ ] open\n" + "x" * 300, False),
        ("- [x] done\n" + "x" * 300, True),
    ],
)
def test_a_look_must_be_written_and_have_no_open_point(tmp_path, text, ok):
    if text is not None:
        (tmp_path / "odd-9.md").write_text(text)
    assert judge_by_look(Line("odd", 9, "look", "x"), tmp_path).ok is ok


def test_a_line_without_tests_fails():
    verdict = runner.judge_by_tests(Line("no-such-slug", 1, "test", "x"), "tests/skeleton")
    assert str(verdict) == "accept no-such-slug:1 test FAILED no test carries it"


def test_a_line_passes_by_the_tests_that_carry_it():
    verdict = runner.judge_by_tests(Line("log", 1, "test", "x"), "tests/audit/merkle/test_tree.py")
    assert str(verdict).startswith("accept log:1 test ok 3 tests in ")


def test_a_line_whose_cases_lack_a_test_fails_and_names_them():
    line = next(line for line in read_area("access") if line.cases)
    verdict = runner.judge_by_tests(line, "tests/audit/merkle/test_tree.py")
    assert not verdict.ok
    assert "no test has the case E1, " in verdict.detail


def test_a_bench_line_that_is_tested_too_fails_without_its_tests():
    line = Line("no-such-slug", 1, "bench", "x", tested=True)
    assert "no test carries it" in runner.judge_by_bars(line).detail


def test_a_line_without_bars_fails():
    assert not runner.judge_by_bars(Line("no-such-slug", 1, "bench", "x")).ok


def test_bars_know_when_they_are_short():
    assert Bar("ratio", 1.3, at_most=1.3, unit="x").ok
    assert not Bar("ratio", 1.31, at_most=1.3).ok
    assert not Bar("ratio", float("nan"), at_most=1.3).ok
    assert Bar("rate", 10, at_least=9).ok
    assert Bar("ratio", 1.0, at_most=1.3, unit="x").limit == "<=1.3x"
    with pytest.raises(ValueError, match="give at_most or at_least"):
        Bar("nothing", 1.0)


def test_bars_are_chosen_by_slug_and_by_line():
    registry = Registry()
    registry.measure("a:1")(list)
    registry.measure("a:2")(list)
    registry.measure("ab:1")(list)
    assert [line for line, _ in registry.chosen("a")] == ["a:1", "a:2"]
    assert [line for line, _ in registry.chosen("a:2")] == ["a:2"]
    assert len(registry.chosen(None)) == 3
