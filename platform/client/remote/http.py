"""Calls of the API. What may be repeated is repeated with growing, jittered pauses; every failure becomes a Trouble."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from client.exits import Exit, of_problem
from client.trouble import Trouble
from client.words import accept_language, say

TRIES = 6
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 20.0
LONGEST_ASKED = 120.0
"""Longest Retry-After, in seconds, that is waited for; a longer one is told to the caller."""
TIMEOUT = httpx.Timeout(60.0, connect=10.0)
SAFE = frozenset({"GET", "HEAD", "PUT", "DELETE"})
BRIEF = frozenset({429, 500, 502, 503, 504})
NETWORK = (httpx.TransportError, httpx.InvalidURL)
PAGE = "100"


@dataclass(frozen=True)
class Answer:
    status: int
    body: dict[str, Any]
    headers: Mapping[str, str]


def pause(attempt: int) -> float:
    """Seconds before try number `attempt` + 2: doubling, between half and all of it, so that clients spread out."""
    longest = min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE)
    return longest * (0.5 + secrets.randbelow(1000) / 2000)


def rest(seconds: float) -> None:
    """Sleep."""
    time.sleep(seconds)


class Site:
    """One site with one credential. `wait` sleeps; the token stands in a header and nowhere else."""

    def __init__(
        self, address: str, token: str = "", *, wait: Callable[[float], object] | None = None
    ) -> None:
        self.address = address.rstrip("/")
        self.has_token = bool(token)
        self.wait = wait or rest
        headers = {
            "Accept": "application/json",
            "User-Agent": "lgbench",
            "Accept-Language": accept_language(),
        }
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._client = httpx.Client(headers=headers, timeout=TIMEOUT, follow_redirects=False)

    def get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        return self.call("GET", path, query=query).body

    def pages(self, path: str, query: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        """All rows of a list, page after page."""
        name = path.rpartition("/")[2]
        found: list[dict[str, Any]] = []
        asked = {**(query or {}), "limit": PAGE}
        while True:
            body = self.get(path, asked)
            found += body.get(name, [])
            following = _cursor(body.get("next"))
            if not following:
                return found
            asked["cursor"] = following

    def post(self, path: str, body: Any, *, key: str = "") -> dict[str, Any]:
        """A POST that may be repeated: it has a key, or repeating it changes nothing."""
        headers = {"Idempotency-Key": key} if key else {}
        return self.call("POST", path, body=body, headers=headers).body

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One call, repeated while that is safe and may help. Raises Trouble."""
        repeatable = (
            method in SAFE
            or bool(headers and "Idempotency-Key" in headers)
            or path.endswith(("/complete", "/check"))
        )
        for attempt in range(TRIES):
            last = attempt == TRIES - 1 or not repeatable
            try:
                found = self._once(method, path, body, query, headers)
            except NETWORK as error:
                if last:
                    raise unreachable(self.address, error) from None
                self.wait(pause(attempt))
                continue
            asked = retry_after(found.headers)
            if found.status < 400:
                return found
            if last or not _passes(found) or (asked or 0) > LONGEST_ASKED:
                raise self.refused(found)
            self.wait(pause(attempt) if asked is None else asked)
        raise AssertionError("unreachable")

    def _once(
        self,
        method: str,
        path: str,
        body: Any,
        query: Mapping[str, str] | None,
        headers: Mapping[str, str] | None,
    ) -> Answer:
        answer = self._client.request(
            method,
            f"{self.address}/api/v1/{path}",
            json=body,
            params=dict(query or {}),
            headers=dict(headers or {}),
        )
        try:
            content = answer.json() if answer.content else {}
        except ValueError:
            content = {}
        return Answer(answer.status_code, content if isinstance(content, dict) else {}, answer.headers)

    def refused(self, answer: Answer) -> Trouble:
        """A refusal as the site worded it, with the address that explains it."""
        body = answer.body
        code = str(body.get("code") or f"http_{answer.status}")
        cause = str(body.get("detail") or say("The site answered {status}.").format(status=answer.status))
        for error in body.get("errors", [])[:20]:
            cause += f"\n{error.get('path')}: {error.get('message')}"
        help_ = str(body.get("help") or "")
        link = f"{self.address}{help_}" if help_.startswith("/") else help_
        return Trouble(
            code,
            cause,
            hint=_hint(body),
            exit=of_problem(answer.status, code),
            link=link or explained(self.address, code if "code" in body else ""),
            facts={"problem": body} if body else {},
        )


def _cursor(following: Any) -> str:
    """The cursor in a list's `next`, which is a cursor or an address that holds one."""
    text = str(following or "")
    return text.rpartition("cursor=")[2].partition("&")[0]


def explained(address: str, code: str) -> str:
    """The page that explains a code of the site, or lists them all."""
    return f"{address}/{accept_language()}/problems/" + (f"{code}/" if code else "")


def _hint(body: Mapping[str, Any]) -> str:
    hint = str(body.get("remedy") or say("Try again later; if it stays, tell the operator of the site."))
    if body.get("next_allowed_at"):
        hint += " " + say("Possible again at {time}.").format(time=body["next_allowed_at"])
    elif body.get("next_allowed_reason"):
        reason = reason_words(str(body["next_allowed_reason"]))
        hint += " " + say("There is no date: {reason}.").format(reason=reason)
    return hint


def reason_words(reason: str) -> str:
    """Why a rule names no instant."""
    words = {
        "next_task_set_version": say("the allowance is used up until the next task-set version"),
        "when_the_submission_in_flight_ends": say("it is possible when the submission under way has ended"),
    }
    return words.get(reason, say("it is not a matter of time"))


def _passes(answer: Answer) -> bool:
    """Whether waiting may help: the platform stumbles, or there were too many requests. A used-up quota stays so."""
    if answer.status == 429:
        return str(answer.body.get("code", "")) in ("", "too_many_requests")
    return answer.status in BRIEF or (answer.status == 409 and answer.body.get("code") == "receipt_not_ready")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the site asks to wait; None where it does not say."""
    value = headers.get("retry-after", "")
    if value.isdigit():
        return float(value)
    try:
        return max(parsedate_to_datetime(value).timestamp() - time.time(), 1.0)
    except (TypeError, ValueError):
        return None


def unreachable(address: str, error: Exception) -> Trouble:
    """No answer: which site, and in plain words why."""
    kinds = {
        httpx.ConnectTimeout: say("it does not answer in time"),
        httpx.ReadTimeout: say("it does not answer in time"),
        httpx.WriteTimeout: say("it does not answer in time"),
        httpx.ConnectError: say("no connection is possible"),
        httpx.UnsupportedProtocol: say("the address must begin with http:// or https://"),
        httpx.InvalidURL: say("the address is not one"),
    }
    why = kinds.get(type(error), say("the connection broke off"))
    return Trouble(
        "network_lost",
        say("{site} cannot be reached: {why}.").format(site=address, why=why),
        hint=say("Check the network and the address; repeat the same command, nothing happens twice."),
        exit=Exit.PLATFORM,
        link=f"{address}/api/v1/health",
    )
