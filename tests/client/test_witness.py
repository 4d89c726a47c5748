"""A witness: cosigns what extends what it saw, refuses everything else, and keeps what it refused."""

from __future__ import annotations

import base64
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from audit.merkle.note import COSIGNATURE, Verifier, parse_note
from audit.merkle.tiles import TileReader
from audit.merkle.tree import consistency_proof
from client.audit.main import main
from tests.client import synthetic


class Site:
    """A log's public addresses: its checkpoint, consistency proofs, and where cosignatures go."""

    def __init__(self, folder, entries, signer):
        self.folder, self.signer = folder, signer
        self.posted = []
        self.grow(entries)

    def grow(self, entries):
        self.folder = self.folder.with_name(f"{self.folder.name}x")
        synthetic.export(self.folder, entries, [self.signer])
        self.size = len(entries)
        self.note = synthetic.checkpoints(entries, {self.size}, [self.signer])[0]

    def proof(self, old, new):
        reader = TileReader(lambda path: (self.folder / path).read_bytes(), self.size)
        hashes = consistency_proof(old, new, reader.subtree)
        return "".join(f"{base64.b64encode(digest).decode()}\n" for digest in hashes)

    def answer(self, path):
        parts = urlsplit(path)
        if parts.path == "/log/checkpoint":
            return self.note
        query = parse_qs(parts.query)
        assert parts.path == "/log/consistency"
        return self.proof(int(query["from"][0]), int(query["to"][0]))


def handler(site):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            try:
                body = site.answer(self.path).encode()
            except ValueError:
                return self.send_error(400)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)
            return None

        def do_POST(self):
            data = self.rfile.read(int(self.headers["Content-Length"])).decode()
            site.posted.append((self.path, self.headers["Content-Type"], data))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    return Handler


@pytest.fixture
def site(tmp_path, entries, log_signer):
    return Site(tmp_path / "site", entries[:400], log_signer)


@pytest.fixture
def base(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(site))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def witness(base, tmp_path, log_signer, capsys):
    """Run `witness --once`: its exit code and what it printed."""

    def run(*more, key=None):
        state = ["--state", str(tmp_path / "state"), "--name", "witness.example"]
        code = main(["witness", "--url", base, "--key", key or log_signer.vkey, *state, *more])
        return code, capsys.readouterr().out

    return run


def remembered(tmp_path):
    return (tmp_path / "state/checkpoint").read_text()


def test_first_sight_and_growth(witness, site, entries, tmp_path):
    code, out = witness("--once", "--post")
    assert code == 0
    verifier = Verifier.parse(out.splitlines()[0].rpartition(" ")[2])
    assert (verifier.kind, verifier.name) == (COSIGNATURE, "witness.example")
    site.grow(entries[:600])
    assert witness("--post") == (0, "cosigned: bench.example/log, 600 entries\n")
    note = remembered(tmp_path)
    assert note.startswith(site.note)
    (signed,) = parse_note(note).verified([verifier])
    assert signed.at is not None
    assert signed.at > 1_700_000_000
    assert [(path, kind) for path, kind, _ in site.posted] == [
        ("/log/cosignatures", "text/plain; charset=utf-8")
    ] * 2
    assert site.posted[-1][2] == note


def test_what_is_unchanged_is_not_signed_again(witness, tmp_path):
    witness()
    before = remembered(tmp_path)
    assert witness()[0] == 0
    assert remembered(tmp_path) == before


def test_a_cosignature_that_is_there_is_not_sent_again(witness, site, tmp_path):
    witness("--post")
    site.note = remembered(tmp_path)
    witness("--post")
    assert len(site.posted) == 1


@pytest.mark.parametrize(
    "kind", ["shrunk", "forked", "forked at the same size", "another key", "another log"]
)
def test_what_does_not_extend_is_refused_and_kept(witness, site, entries, tmp_path, kind):
    witness("--post")
    before = remembered(tmp_path)
    other = [*entries[:200], *entries[201:401], entries[200]]
    if kind == "shrunk":
        site.grow(entries[:399])
    elif kind == "forked":
        site.grow([*other, *entries[401:500]])
    elif kind == "forked at the same size":
        site.grow(other[:400])
    elif kind == "another key":
        site.note = synthetic.checkpoint([synthetic.signer()], 400, bytes(32))
    else:
        site.note = site.note.replace("bench.example/log", "other.example/log")
    code, out = witness("--post")
    assert code == 1
    assert out.startswith("REFUSED: ")
    assert remembered(tmp_path) == before
    (evidence,) = (tmp_path / "state").glob("refused-*")
    assert evidence.read_text().startswith(site.note)
    assert len(site.posted) == 1


def test_a_log_that_does_not_answer(tmp_path, log_signer, capsys):
    command = [
        "witness",
        "--url",
        "http://127.0.0.1:9",
        "--key",
        log_signer.vkey,
        "--state",
        str(tmp_path / "s"),
    ]
    assert main(command) == 2
    assert "cannot be asked" in capsys.readouterr().err


def line(name, data):
    return f"— {name} {base64.b64encode(data).decode()}\n"


def test_lines_of_strangers_are_not_remembered(witness, site, entries, tmp_path, log_signer):
    """A note full of them could not take one more line, and could not be read again."""
    verifier = Verifier.parse(witness()[1].splitlines()[0].rpartition(" ")[2])
    site.grow(entries[:500])
    good = site.note
    site.note += "".join(line(f"other{number}", b"\0\0\0\1" + b"x" * 64) for number in range(127))
    assert witness()[0] == 0
    assert remembered(tmp_path).startswith(good)
    note = parse_note(remembered(tmp_path))
    assert {row.name for row in note.signatures} == {log_signer.name, "witness.example"}
    assert len(note.verified([verifier, log_signer.verifier])) == 2
    site.grow(entries[:600])
    assert witness("--post")[0] == 0


def test_a_line_forged_in_its_own_name_is_refused(witness, site, entries, tmp_path):
    verifier = Verifier.parse(witness()[1].splitlines()[0].rpartition(" ")[2])
    before = remembered(tmp_path)
    site.grow(entries[:600])
    site.note += line("witness.example", verifier.key_id + bytes(72))
    code, out = witness("--post")
    assert (code, out.startswith("REFUSED: ")) == (1, True)
    assert (remembered(tmp_path), site.posted) == (before, [])


@pytest.mark.parametrize(
    "answer",
    [
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 302 x\r\nLocation: http://[::1\r\n\r\n",
    ],
)
def test_a_site_that_speaks_no_http(answer, tmp_path, log_signer, capsys):
    def serve():
        connection, _ = listening.accept()
        connection.recv(65536)
        connection.sendall(answer)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        command = ["witness", "--url", url, "--key", log_signer.vkey, "--state", str(tmp_path / "s")]
        assert main(command) == 2
        thread.join()
    assert "cannot be asked" in capsys.readouterr().err


def test_a_checkpoint_by_hand_that_is_no_text(tmp_path, log_signer, capsys):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    command = ["witness", "--key", log_signer.vkey, "--state", str(tmp_path / "s"), "--checkpoint"]
    assert main([*command, str(tmp_path / "binary")]) == 2
    assert "is no text" in capsys.readouterr().err


def test_by_hand_with_and_without_a_proof(site, entries, tmp_path, log_signer, capsys):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(site.note)
    site.grow(entries[:600])
    second.write_text(f"old 400\n{site.proof(400, 600)}\n{site.note}")
    bare = tmp_path / "bare"
    bare.write_text(site.note)
    command = ["witness", "--key", log_signer.vkey, "--state", str(tmp_path / "s"), "--checkpoint"]
    assert main([*command, str(first)]) == 0
    assert main([*command, str(bare)]) == 1
    assert main([*command, str(second)]) == 0
    assert capsys.readouterr().out.endswith(remembered_in(tmp_path / "s"))


def remembered_in(folder):
    return (folder / "checkpoint").read_text()


def test_a_witness_keeps_its_key(witness, tmp_path):
    witness()
    key = (tmp_path / "state/key.pem").read_bytes()
    assert witness()[1] == "cosigned: bench.example/log, 400 entries\n"
    assert (tmp_path / "state/key.pem").read_bytes() == key
    assert (tmp_path / "state/key.pem").stat().st_mode & 0o077 == 0
