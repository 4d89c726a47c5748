"""Whatever a harness sends, it gets a refusal with a code, the upstream gets nothing, and the gateway goes on."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import replace

import pytest

from evaluation.gateway.contract import Patience
from tests.evaluation.gateway.answers import chat, whole
from tests.evaluation.gateway.parts import CHAT, KEY, SHORT, Setting, gateway, request
from tests.evaluation.gateway.scripted import plain

BODY = json.dumps(request(CHAT)).encode()
AUTH = b"Authorization: Bearer " + KEY.encode() + b"\r\n"
LINE = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"


def _whole(extra: bytes = b"", body: bytes = BODY) -> bytes:
    return LINE + AUTH + extra + b"Content-Length: %d\r\n\r\n" % len(body) + body


def _raw(setting: Setting, data: bytes, *, half_closed: bool = True) -> bytes:
    """Send bytes, read everything that comes back."""
    with socket.create_connection(setting.place, timeout=30) as sock:
        try:
            sock.sendall(data)
            if half_closed:
                sock.shutdown(socket.SHUT_WR)
        except OSError:  # refused before everything was sent
            pass
        found = bytearray()
        try:
            while piece := sock.recv(65536):
                found += piece
        except ConnectionResetError:
            pass
        return bytes(found)


def _refusal(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]["code"]


CHUNKED = LINE + AUTH + b"Transfer-Encoding: chunked\r\n"
REFUSED = {
    "chunked": (CHUNKED + b"\r\n5\r\nhello\r\n0\r\n\r\n", 411, "length_required"),
    "both lengths": (CHUNKED + b"Content-Length: 4\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 411, "length_required"),
    "hidden chunked": (LINE + AUTH + b"Transfer-Encoding: xchunked\r\n\r\n", 400, "not_http"),
    "two lengths": (_whole(b"Content-Length: 4\r\n"), 400, "not_http"),
    "two lengths in one": (LINE + AUTH + b"Content-Length: 4, 5\r\n\r\n", 400, "not_http"),
    "negative length": (LINE + AUTH + b"Content-Length: -1\r\n\r\n", 400, "not_http"),
    "length in words": (LINE + AUTH + b"Content-Length: 0x10\r\n\r\n", 400, "not_http"),
    "length of a planet": (
        LINE + AUTH + b"Content-Length: 99999999999999999999\r\n\r\n",
        413,
        "body_too_large",
    ),
    "length above the cap": (LINE + AUTH + b"Content-Length: 26214401\r\n\r\n", 413, "body_too_large"),
    "no host": (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 400, "not_http"),
    "space before colon": (LINE + b"Content-Length : 4\r\n\r\nabcd", 400, "not_http"),
    "folded header": (LINE + AUTH + b"X: a\r\n b\r\n" + b"Content-Length: 2\r\n\r\n{}", 400, "field_invalid"),
    "NUL in a header": (LINE + b"X: a\0b\r\n\r\n", 400, "not_http"),
    "huge header": (LINE + b"X: " + b"a" * 40000 + b"\r\n\r\n", 431, "headers_too_large"),
    "many headers": (LINE + b"X: a\r\n" * 9000 + b"\r\n", 431, "headers_too_large"),
    "endless request line": (b"POST /" + b"a" * 40000, 431, "headers_too_large"),
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n", 400, "not_http"),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "not_http"),
    "another host's address": (
        b"POST http://evil.example/v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + AUTH + b"\r\n",
        *(404, "not_found"),
    ),
    "path with dots": (b"POST /v1/../v1/messages HTTP/1.1\r\nHost: x\r\n" + AUTH + b"\r\n", 404, "not_found"),
    "CONNECT": (b"CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not_found"),
    "no body": (LINE + AUTH + b"\r\n", 400, "not_json"),
    "no JSON": (_whole(body=b"{"), 400, "not_json"),
    "a list": (_whole(body=b"[]"), 400, "not_json"),
    "not a number": (_whole(body=b'{"temperature": NaN}'), 400, "not_json"),
    "no UTF-8": (_whole(body=b'{"a": "\xff"}'), 400, "not_json"),
    "nested": (_whole(body=b'{"a":' * 100_000), 400, "too_complex"),
    "nested and closed": (_whole(body=b"[" * 50_000 + b"]" * 50_000), 400, "too_complex"),
    "a million values": (_whole(body=b'{"a": [' + b"0," * 1_000_001 + b"0]}"), 400, "too_complex"),
    "a string without end": (_whole(body=b'{"a": "' + b'\\"' * 5_000_000), 400, "not_json"),
    "a number without end": (_whole(body=b'{"temperature": 1e999}'), 400, "not_json"),
    "just too deep": (_whole(body=b'{"stop": ' + b"[" * 100 + b"]" * 100 + b"}"), 400, "too_complex"),
    "digits without end": (_whole(body=b'{"a": ' + b"9" * 100_000 + b"}"), 400, "not_json"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_a_proper_request_is_refused_with_a_code(name: str):
    data, status, code = REFUSED[name]
    with gateway(CHAT, whole(CHAT, None)) as setting:
        answer = _raw(setting, data)
        assert setting.upstream.asked == []
        assert setting.gateway.fault is None
        assert setting.ask(CHAT).status_code == 200
    assert _refusal(answer) == (status, code)


def test_a_body_as_large_as_allowed_is_refused_for_what_it_holds_not_for_its_size():
    body = b'{"model": "' + b"a" * (25 * 1024 * 1024 - 13) + b'"}'
    with gateway(CHAT, whole(CHAT, None)) as setting:
        assert _refusal(_raw(setting, _whole(body=body))) == (400, "field_invalid")


def test_of_two_requests_in_one_connection_only_the_first_is_seen():
    with gateway(CHAT, whole(CHAT, None)) as setting:
        answer = _raw(setting, _whole() + _whole())
        assert answer.count(b"HTTP/1.1 ") == 1
        assert b"connection: close" in answer.lower()
        assert len(setting.upstream.asked) == 1


@pytest.mark.parametrize("keep", [10, len(LINE), len(_whole()) - 5])
def test_a_request_that_breaks_off_reaches_nobody(keep: int):
    with gateway(CHAT, whole(CHAT, None)) as setting:
        answer = _raw(setting, _whole()[:keep])
        assert answer == b"" or _refusal(answer) == (400, "not_http")
        assert setting.upstream.asked == []
        assert setting.ask(CHAT).status_code == 200


@pytest.mark.parametrize("keep", [0, 10, len(_whole()) - 5])
def test_a_request_that_does_not_come_is_not_waited_for(keep: int):
    with gateway(CHAT, whole(CHAT, None), patience=replace(SHORT, request=0.3)) as setting:
        answer = _raw(setting, _whole()[:keep], half_closed=False)
        assert _refusal(answer) == (408, "too_slow")
        assert setting.upstream.asked == []


def test_a_request_that_comes_byte_by_byte_has_no_longer():
    over = threading.Event()

    def drip(sock: socket.socket) -> None:
        while not over.wait(0.05):
            try:
                sock.sendall(b"a")
            except OSError:
                return

    with gateway(CHAT, whole(CHAT, None), patience=replace(SHORT, request=0.5)) as setting:
        with socket.create_connection(setting.place, timeout=30) as sock:
            thread = threading.Thread(target=drip, args=(sock,))
            thread.start()
            answer = sock.recv(65536)
            while piece := sock.recv(65536):
                answer += piece
            over.set()
            thread.join()
    assert _refusal(answer) == (408, "too_slow")


def test_silent_connections_take_no_more_than_their_places():
    """Forty hold on; a proper request waits until some of them are given up, and is answered."""
    with gateway(CHAT, whole(CHAT, None), patience=replace(SHORT, request=1.0)) as setting:
        held = [socket.create_connection(setting.place, timeout=30) for _ in range(40)]
        serving = [thread for thread in threading.enumerate() if thread.name == "gateway-call"]
        assert len(serving) <= 32
        assert setting.ask(CHAT).status_code == 200
        for sock in held:
            sock.close()


def test_half_a_surrogate_pair_goes_on_as_it_came():
    body = json.dumps(request(CHAT, messages=[{"role": "user", "content": "\ud800"}])).encode()
    with gateway(CHAT, whole(CHAT, None)) as setting:
        assert _raw(setting, _whole(body=body)).startswith(b"HTTP/1.1 200")
        assert setting.upstream.asked[0].body["messages"][0]["content"] == "\ud800"


NASTY = ["a\0b", "\ud800", "x" * 5000]


@pytest.mark.parametrize("nasty", NASTY)
def test_nothing_that_a_harness_writes_makes_a_line_that_no_database_takes(nasty: str):
    fields = {nasty: 1, "stop": nasty, "seed": {nasty: nasty}, "reasoning_effort": nasty}
    with gateway(CHAT, whole(CHAT, None)) as setting:
        for body in (request(CHAT, **fields), request(CHAT, model=nasty[:100])):
            assert _raw(setting, _whole(body=json.dumps(body).encode()))
        call, record = setting.lines.started[0], setting.lines.ended[0]
        lines = [call.stripped, call.parameters, record.parameters, setting.gateway.unlisted]
        assert setting.gateway.fault is None
    assert_storable(lines)


@pytest.mark.parametrize("nasty", [*NASTY, float("nan"), float("inf"), 10**300])
def test_nothing_that_an_upstream_writes_does_either(nasty: object):
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "extra": nasty, str(nasty): 1}
    body = {**chat("hi"), "model": str(nasty), "usage": usage}
    with gateway(CHAT, plain(body)) as setting:
        assert setting.ask_to_the_end(CHAT)
        (record,) = setting.lines.ended
    assert (record.usage.input_tokens, record.usage.output_tokens) == (5, 2)
    assert_storable([record.served, record.usage.raw])


def assert_storable(lines: object) -> None:
    text = json.dumps(lines, ensure_ascii=False, allow_nan=False)
    assert "\\u0000" not in text
    assert len(text.encode("utf-8")) < 20_000


def test_a_client_that_waits_for_leave_to_send_gets_it():
    with gateway(CHAT, whole(CHAT, None)) as setting:
        with socket.create_connection(setting.place, timeout=30) as sock:
            sock.sendall(LINE + AUTH + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(BODY))
            assert sock.recv(65536).startswith(b"HTTP/1.1 100")
            sock.sendall(BODY)
            assert sock.recv(65536).startswith(b"HTTP/1.1 200")


def test_a_ledger_that_fails_stops_the_call_and_is_the_platforms_fault():
    class Broken:
        def attempt_started(self, call: object) -> None:
            raise ConnectionError("database of the platform is down")

        def attempt_ended(self, attempt: object, record: object) -> None:
            raise AssertionError("nothing was started")

    with gateway(CHAT, whole(CHAT, None), ledger=Broken()) as setting:
        answer = setting.ask(CHAT)
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "gateway_failed")
        assert "database" not in answer.text
        assert setting.gateway.fault == "platform"
        assert setting.upstream.asked == []


def test_the_standing_limits_are_those_that_are_documented():
    standing = Patience()
    assert (standing.request, standing.write, standing.retries) == (60.0, 30.0, 3)
