"""Does the bot send a request before a pause is over that GitHub had asked it for?

A refused read stops all requests for its resource, a refused write only writes; each caller has pauses of its own. What
was sent before the refusal arrived is not to blame, so this looks at what leaves the bot and at what reaches it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from bot.app import Bot
from simulator.access import RefusedError, identify
from simulator.state import State


class Sent(Struct, frozen=True):
    """A request as limits count it."""

    caller: str
    method: str
    url: str
    body: bytes = b""

    @property
    def resource(self) -> str:
        return "graphql" if self.url.endswith("/graphql") else "core"

    @property
    def writes(self) -> bool:
        if self.resource == "graphql":
            return b'"mutation' in self.body[:40]
        return self.method != "GET" and not self.url.endswith("/access_tokens")

    def limits(self) -> Iterator[tuple[str, str]]:
        yield self.caller, self.resource
        if self.writes:
            yield self.caller, "writes"


@dataclass
class Manners:
    """Notes each request that was sent too early."""

    state: State
    ignored: list[str] = field(default_factory=list)
    _until: dict[tuple[str, str], float] = field(default_factory=dict)

    def watch(self, bot: Bot) -> None:
        """Look at each request of the bot and its answer."""
        transport = bot.context.github.transport
        send = transport.send

        async def watched(method: str, url: str, *, headers: Mapping[str, str], body: bytes) -> Any:
            sent = Sent(self._caller(headers), method, url, body)
            self._note(sent)
            answer = await send(method, url, headers=headers, body=body)
            self._learn(sent, *answer)
            return answer

        transport.send = watched  # type: ignore[method-assign]

    def _caller(self, headers: Mapping[str, str]) -> str:
        try:
            return identify(self.state, headers.get("authorization", "")).name
        except RefusedError:
            return "nobody"

    def _now(self) -> float:
        return self.state.clock().timestamp()

    def _note(self, sent: Sent) -> None:
        early = max((self._until.get(limit, 0.0) for limit in sent.limits()), default=0.0) - self._now()
        if early > 0:
            self.ignored.append(f"{sent.method} {sent.url} of {sent.caller}, {early:.1f} s too early")

    def _learn(self, sent: Sent, status: int, headers: Mapping[str, str], body: bytes) -> None:
        refused = (sent.caller, "writes" if sent.writes else sent.resource)
        if headers.get("x-ratelimit-remaining") == "0":
            resource = headers.get("x-ratelimit-resource", "core")
            self._demand((sent.caller, resource), float(headers["x-ratelimit-reset"]) - self._now())
        if status in (403, 429) and "retry-after" in headers:
            self._demand(refused, float(headers["retry-after"]))
        elif _names_a_limit(status, body) and headers.get("x-ratelimit-remaining") != "0":
            self._demand(refused, 60.0)

    def _demand(self, limit: tuple[str, str], seconds: float) -> None:
        self._until[limit] = max(self._until.get(limit, 0.0), self._now() + seconds)


def _names_a_limit(status: int, body: bytes) -> bool:
    if status == 200 and b"RATE_LIMITED" in body:
        return True
    return status in (403, 429) and "rate limit" in str(json.loads(body).get("message", ""))
