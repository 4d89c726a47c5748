"""The way to an upstream: TLS under the right name, an address that was looked at, nothing of the environment."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from config import clock
from evaluation.gateway import network
from evaluation.gateway.contract import Outcome
from evaluation.gateway.listening import Listening
from tests.evaluation.gateway.answers import whole
from tests.evaluation.gateway.parts import CHAT, CREDENTIAL, KEY, Setting, There, gateway, request, route

NAME = "upstream.example"
AS_SHIPPED = network.tls
USAGE = {"prompt_tokens": 1, "completion_tokens": 1}


def _signed(name: str, folder: Path) -> tuple[Path, Path]:
    """A certificate for `name` that vouches for itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = clock.now()
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "cert.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return paths


@dataclass
class Naming:
    """Gives addresses as `config.addresses` does: a number, under a name."""

    name: str = NAME

    def __call__(self, url: str) -> There:
        return There(url.replace("http:", "https:"), self.name, {"sni_hostname": self.name})


@dataclass
class Secure:
    """A gateway before an upstream with TLS, whose certificate it trusts."""

    setting: Setting
    naming: Naming


@pytest.fixture
def secure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Secure]:
    certificate, key = _signed(NAME, tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    trusting, naming = ssl.create_default_context(cafile=str(certificate)), Naming()
    monkeypatch.setattr(network, "tls", lambda: trusting)
    with gateway(CHAT, whole(CHAT, USAGE), reach=naming) as setting:
        listening = setting.upstream._server
        listening.socket = server.wrap_socket(listening.socket, server_side=True)
        yield Secure(setting, naming)


def test_over_tls_the_certificate_is_checked_against_the_name(secure: Secure):
    assert [secure.setting.ask(CHAT).status_code for _ in range(2)] == [200, 200]
    assert secure.setting.upstream.asked[0].headers["host"] == NAME


@pytest.mark.parametrize("wrong", ["name", "authority"])
def test_a_certificate_of_somebody_else_is_not_spoken_to(
    secure: Secure, wrong: str, monkeypatch: pytest.MonkeyPatch
):
    if wrong == "name":
        secure.naming.name = "other.example"
    else:
        monkeypatch.setattr(network, "tls", AS_SHIPPED)
    assert secure.setting.ask(CHAT).status_code == 503
    assert {record.outcome for record in secure.setting.lines.ended} == {Outcome.UNREACHABLE}
    assert secure.setting.upstream.asked == []


@pytest.mark.serial
def test_closing_ends_a_handshake_that_never_comes():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        base = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        routes = [route(CHAT, base)]
        with gateway(CHAT, whole(CHAT, None), routes=routes, reach=Naming()) as setting:
            call = threading.Thread(target=setting.ask_to_the_end, args=(CHAT,))
            call.start()
            connection, _ = silent.accept()
            assert connection.recv(1)
            begun = time.monotonic()
            setting.gateway.close()
            assert time.monotonic() - begun < 5
            call.join(20)
            assert [record.outcome for record in setting.lines.ended] == [Outcome.STOPPED]
            connection.close()


def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with gateway(CHAT, whole(CHAT, None)) as setting:
        client = httpx.Client(trust_env=False)
        headers = {"x-api-key": KEY}
        found = client.post(f"{setting.base}/v1/chat/completions", headers=headers, json=request(CHAT))
        assert found.status_code == 200


def test_each_attempt_looks_its_address_up_once():
    asked: list[str] = []

    def reach(url: str) -> There:
        asked.append(url)
        return There(url)

    with gateway(CHAT, whole(CHAT, None, status=503), whole(CHAT, None), reach=reach) as setting:
        assert setting.ask(CHAT).status_code == 200
        assert asked == [f"{setting.upstream.base}/chat/completions"] * 2


def test_it_answers_on_a_unix_socket_too(tmp_path: Path):
    with gateway(CHAT, whole(CHAT, USAGE)) as setting:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        listening: Listening = setting.gateway.serve(listener)
        transport = httpx.HTTPTransport(uds=str(tmp_path / "s"))
        with httpx.Client(transport=transport, headers={"x-api-key": KEY}) as client:
            found = client.post("http://gateway/v1/chat/completions", json=request(CHAT))
        assert found.json()["usage"] == USAGE
        listening.close()


@pytest.mark.case("H29")
def test_the_credential_stands_in_nothing_that_is_shown():
    with gateway(CHAT, whole(CHAT, None, status=401)) as setting:
        answer = setting.ask(CHAT)
        shown = [answer.text, str(answer.headers), repr(setting.lines), repr(setting.gateway.observed)]
        assert setting.upstream.asked[0].headers["authorization"].endswith(CREDENTIAL)
    assert not any(CREDENTIAL in text for text in shown)
