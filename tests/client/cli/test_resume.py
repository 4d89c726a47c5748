"""An upload whose network dies within, and one whose signed addresses expire: real store, real sockets."""

from __future__ import annotations

import json
import re
import secrets
import time

import pytest

from submissions.models import Submission, Upload
from submissions.services import quarantine

pytestmark = pytest.mark.django_db(transaction=True)
PART = 64 * 1024


@pytest.fixture
def twenty_parts(kit, monkeypatch):
    """A bundle of twenty parts: content that does not compress, and small parts."""
    monkeypatch.setattr(quarantine, "PART_BYTES", PART)
    (kit / "harness/weights.bin").write_bytes(secrets.token_bytes(19 * PART + PART // 2))


def numbers(proxy) -> list[int]:
    return [int(re.search(r"partNumber=(\d+)", url).group(1)) for url in proxy.of("PUT", "partNumber=")]


@pytest.mark.case("U8")
def test_the_network_dies_after_part_seven(lg, online, proxy, twenty_parts, kit):
    proxy.rule = lambda method, url: "cut" if method == "PUT" and len(numbers(proxy)) >= 7 else ""
    said = lg("submit")
    assert said.code == 5
    assert numbers(proxy) == list(range(1, 8))
    assert "upload_interrupted: Part 8 of 20" in said.err
    assert "lgbench submit --resume" in said.err
    assert "Help: docs/client.md#upload_interrupted" in said.err
    kept = json.loads((kit / ".lgbench/upload.json").read_text())
    assert sorted(map(int, kept["parts"])) == list(range(1, 8))
    assert (kit / ".lgbench/upload.json").stat().st_mode & 0o077 == 0
    proxy.rule = lambda method, url: ""
    proxy.seen.clear()
    said = lg("submit", "--resume")
    assert said.code == 0, said.everything
    assert numbers(proxy) == list(range(8, 21))
    assert (Upload.objects.get().state, Submission.objects.count()) == ("consumed", 1)


@pytest.mark.case("U8")
def test_expired_addresses_are_signed_anew(lg, online, proxy, twenty_parts, monkeypatch):
    signed = quarantine.sign
    begun = time.monotonic()

    def brief(key, multipart_id, number, size, seconds):
        early = time.monotonic() - begun < 2
        return signed(key, multipart_id, number, size, 1 if early else seconds)

    monkeypatch.setattr(quarantine, "sign", brief)
    refused: list[str] = []

    def slow(method: str, url: str) -> str:
        if method == "PUT" and not refused:
            refused.append(url)
            time.sleep(3)
        return ""

    proxy.rule = slow
    said = lg("submit")
    assert said.code == 0, said.everything
    sent = numbers(proxy)
    assert sent[:2] == [1, 1]
    assert sorted(set(sent)) == list(range(1, 21))
    assert len(proxy.of("GET", "/uploads/")) == 2
    for word in ("X-Amz-Signature", "uploadId"):
        assert word not in said.everything


def test_without_resume_everything_is_sent_again(lg, online, proxy, twenty_parts):
    proxy.rule = lambda method, url: "cut" if method == "PUT" and len(numbers(proxy)) >= 3 else ""
    assert lg("submit").code == 5
    proxy.rule = lambda method, url: ""
    proxy.seen.clear()
    assert lg("submit").code == 0
    assert numbers(proxy) == list(range(1, 21))
    assert Upload.objects.count() == 1
