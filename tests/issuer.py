"""A real OpenID issuer for tests: own keys, real HTTP, real discovery, tokens with any claims.

`python -m tests.issuer [--port N] [--audience A]` serves one until it is stopped; the first line says where, and
`POST /mint` with `{"dialect": "github", "claims": {…}}` gives a token, as the runner's own address would.
"""

from __future__ import annotations

import argparse
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from config import clock

AUDIENCE = "http://127.0.0.1:8000"
DISCOVERY = "/.well-known/openid-configuration"
GITHUB = {
    "repository": "acme/harness",
    "repository_id": "4711",
    "repository_owner": "acme",
    "repository_owner_id": "65001",
    "ref": "refs/heads/main",
    "ref_type": "branch",
    "sha": "0f" * 20,
    "event_name": "push",
    "run_id": "99001",
    "run_attempt": "1",
    "runner_environment": "github-hosted",
}
GITLAB = {
    "project_path": "acme/tools/harness",
    "project_id": "815",
    "namespace_path": "acme/tools",
    "namespace_id": "3301",
    "ref": "main",
    "ref_type": "branch",
    "ref_path": "refs/heads/main",
    "ref_protected": "true",
    "pipeline_source": "push",
    "pipeline_id": "17",
    "job_id": "170",
    "user_login": "engineer",
}


@dataclass
class Key:
    """One signing key with its name."""

    kid: str
    private: rsa.RSAPrivateKey

    @property
    def public_pem(self) -> bytes:
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )

    def jwk(self) -> dict[str, Any]:
        found: dict[str, Any] = jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        return {**found, "kid": self.kid, "use": "sig", "alg": "RS256"}


def new_key(bits: int = 2048) -> Key:
    return Key(secrets.token_hex(8), rsa.generate_private_key(public_exponent=65537, key_size=bits))


@dataclass
class Issuer:
    """What the server at `address` says, and what it was asked."""

    address: str
    audience: str = AUDIENCE
    keys: list[Key] = field(default_factory=lambda: [new_key()])
    asked: Counter[str] = field(default_factory=Counter)
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    """By path: another answer than the right one."""

    def rotate(self) -> Key:
        """Sign with a new key from now on, and publish only that."""
        self.keys = [new_key()]
        return self.keys[0]

    def jwks(self) -> dict[str, Any]:
        return {"keys": [key.jwk() for key in self.keys]}

    def claims(self, dialect: str = "github", **changes: Any) -> dict[str, Any]:
        """What a job of that service is told; a change to None leaves the claim out."""
        own = _github(changes) if dialect == "github" else _gitlab(changes, self.address)
        now = int(clock.now().timestamp())
        times = {"iat": now, "nbf": now - 5, "exp": now + 300}
        ids = {"iss": self.address, "aud": self.audience, "jti": secrets.token_hex(16)}
        found = {**ids, **times, **own, **changes}
        return {name: value for name, value in found.items() if value is not None}

    def mint(self, dialect: str = "github", *, key: Key | None = None, **changes: Any) -> str:
        return self.sign(self.claims(dialect, **changes), key=key)

    def sign(self, claims: dict[str, Any], *, key: Key | None = None, **header: Any) -> str:
        used = key or self.keys[0]
        return jwt.encode(claims, used.private, algorithm="RS256", headers={"kid": used.kid, **header})

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        self.asked[path] += 1
        if path in self.answers:
            return self.answers[path]
        bodies = {
            DISCOVERY: {"issuer": self.address, "jwks_uri": f"{self.address}/jwks"},
            "/jwks": self.jwks(),
        }
        return (200, {}, json.dumps(bodies[path]).encode()) if path in bodies else (404, {}, b"{}")


def _github(changes: dict[str, Any]) -> dict[str, Any]:
    repository, ref = changes.get("repository", GITHUB["repository"]), changes.get("ref", GITHUB["ref"])
    workflow = f"{repository}/.github/workflows/submit.yml@{ref}"
    subject = f"repo:{repository}:ref:{ref}"
    return {**GITHUB, "sub": subject, "workflow_ref": workflow, "job_workflow_ref": workflow}


def _gitlab(changes: dict[str, Any], address: str) -> dict[str, Any]:
    project, ref = (
        changes.get("project_path", GITLAB["project_path"]),
        changes.get("ref_path", GITLAB["ref_path"]),
    )
    file = f"{address.partition('://')[2]}/{project}//.gitlab-ci.yml@{ref}"
    return {**GITLAB, "sub": f"project_path:{project}:ref_type:branch:ref:main", "ci_config_ref_uri": file}


class _Handler(BaseHTTPRequestHandler):
    issuer: Issuer

    def do_GET(self) -> None:
        self._send(*self.issuer.answer(self.path))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        token = self.issuer.mint(asked.get("dialect", "github"), **asked.get("claims", {}))
        self._send(200, {}, json.dumps({"value": token}).encode())

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: tokens are in requests."""


@contextmanager
def running(port: int = 0, audience: str = AUDIENCE) -> Iterator[Issuer]:
    """An issuer on the loopback address for the length of the block."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    handler.issuer = issuer = Issuer(f"http://127.0.0.1:{server.server_address[1]}", audience)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve an OpenID issuer for tests.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--audience", default=AUDIENCE)
    arguments = parser.parse_args()
    with running(arguments.port, arguments.audience) as issuer:
        print(issuer.address, flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
