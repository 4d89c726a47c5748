"""What a harness finds inside an episode, as the harness contract promises it."""

import json
from collections.abc import Callable

from evaluation.sandbox.spec import Ending, Outcome

Read = Callable[[Outcome], dict[str, bytes]]


def test_paths_and_variables(bench) -> None:
    outcome = bench.run(
        "import json, os, sys\n"
        "print(json.dumps({'env': dict(os.environ), 'cwd': os.getcwd(), 'argv': sys.argv, 'uid': os.getuid(),\n"
        " 'task': open('/task/instruction.md').read(), 'turns': os.listdir('/task/turns'),\n"
        " 'files': sorted(os.listdir('.')), 'home': os.listdir(os.environ['HOME']), 'exe': sys.executable}))"
    )
    seen = json.loads(outcome.stdout)
    assert outcome.ending is Ending.FINISHED
    assert seen["cwd"] == "/workspace"
    assert seen["task"] == "请核对。"
    assert seen["files"] == ["data.csv", "dir"]
    assert seen["turns"] == seen["home"] == []
    assert seen["exe"].startswith("/opt/python/bin/")
    variables = seen["env"]
    assert variables["EPISODE_SEED"] == "7"
    assert (variables["TURN"], variables["TURNS"]) == ("1", "1")
    assert variables["REPLY_FILE"] == "/reply/reply.md"
    assert [variables[f"BUDGET_{name}"] for name in ("SECONDS", "STEPS", "TOKENS")] == ["10", "40", "1000"]
    assert not {"OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "MCP_URL"} & set(variables)


def test_each_turn_is_a_new_sandbox_on_the_same_files(bench, snapshot_of: Read) -> None:
    code = (
        "import os, pathlib\n"
        "turn = os.environ['TURN']\n"
        "print(turn, sorted(os.listdir('/task/turns')), os.path.exists('/tmp/left'), os.path.exists('/dev/shm/left'))\n"
        "for place in ('/tmp/left', '/dev/shm/left'): pathlib.Path(place).write_text('x')\n"
        "for place in (os.environ['HOME'] + '/log', 'log'):\n"
        "    open(place, 'a').write(turn)\n"
        "print(open(os.environ['HOME'] + '/log').read())\n"
    )
    outcome = bench.run(code, turns=("第二轮".encode(), "第三轮".encode()))
    assert outcome.stdout.decode().splitlines() == [
        "1 [] False False", "1",
        "2 ['turn_2.md'] False False", "12",
        "3 ['turn_2.md', 'turn_3.md'] False False", "123",
    ]  # fmt: skip
    assert outcome.turn == 3
    assert snapshot_of(outcome)["log"] == b"123"
    assert "home" not in " ".join(snapshot_of(outcome))


def test_the_budget_covers_all_turns_together(bench) -> None:
    outcome = bench.run("import time; time.sleep(0.4)", turns=(b"2", b"3", b"4"), budget_seconds=1.0)
    assert outcome.ending is Ending.BUDGET_EXHAUSTED
    assert outcome.which_budget == "seconds"
    assert outcome.turn in (2, 3)
    assert 0.95 < outcome.seconds < 1.3


def test_files_locked_by_a_turn_do_not_stop_the_next(bench) -> None:
    code = "import os\nfor p in ('/workspace', '/reply', os.environ['HOME']): os.chmod(p, 0)\nprint(os.environ['TURN'])"
    outcome = bench.run(code, turns=(b"2",))
    assert outcome.stdout == b"1\n2\n"
    assert outcome.ending is Ending.FINISHED


def test_a_crashed_turn_does_not_end_the_episode(bench) -> None:
    outcome = bench.run("import os, sys; sys.exit(3 if os.environ['TURN'] == '1' else 0)", turns=(b"2",))
    assert (outcome.ending, outcome.exit_code, outcome.turn) == (Ending.CRASHED, 3, 2)


def test_reply_is_read_back_and_capped(bench) -> None:
    outcome = bench.run("import os; open(os.environ['REPLY_FILE'], 'w').write('好' * 400_000)")
    assert outcome.reply_truncated
    assert outcome.reply is not None
    assert len(outcome.reply) == 1 << 20
    assert bench.run("pass").reply is None


def test_whether_the_run_wrote_anything(bench) -> None:
    assert not bench.run("open('data.csv').read()").wrote
    assert bench.run("open('out.csv', 'w').write('x')").wrote
    assert bench.run("open('data.csv', 'a').write('x')").wrote


def test_equal_runs_leave_equal_snapshots(bench) -> None:
    code = "for n in 'cab': open(n, 'w').write(n)"
    first = bench.run(code).snapshot.read_bytes()
    assert bench.run(code).snapshot.read_bytes() == first


def test_inputs_may_lie_anywhere(bench, tmp_path) -> None:
    """The workspace archive as a file, below a folder nobody else may enter."""
    tmp_path.chmod(0o700)
    spec = bench.spec("print(open('data.csv').read())")
    (tmp_path / "w.tar.gz").write_bytes(spec.workspace_tar)
    assert (
        bench.run("print(open('data.csv').read())", workspace_tar=tmp_path / "w.tar.gz").stdout
        == b"a,b\n1,2\n\n"
    )
