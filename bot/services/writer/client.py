"""How is a model asked over HTTP, in the OpenAI chat format and in Anthropic's messages format?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
from msgspec import Struct

from bot.configuration.settings import WriterSettings
from bot.services.writer.interface import NO_WRITER, Writer, WriterError

LARGEST_ANSWER = 256 * 1024
"""bytes read of an answer; a digest's text is far smaller"""
MOST_TOKENS = 1200
_ANTHROPIC_VERSION = "2023-06-01"


class WireFormat(Struct, frozen=True):
    """One wire format: where to post, with which headers and body, and where the answer's text is."""

    path: str
    headers: Callable[[str], Mapping[str, str]]
    body: Callable[[str, str, str], Mapping[str, Any]]
    text: Callable[[Any], Any]


def _openai_body(model: str, instructions: str, prompt: str) -> Mapping[str, Any]:
    return {
        "model": model,
        "temperature": 0,
        "max_tokens": MOST_TOKENS,
        "response_format": {"type": "json_object"},
        "messages": [{"role": "system", "content": instructions}, {"role": "user", "content": prompt}],
    }


def _anthropic_body(model: str, instructions: str, prompt: str) -> Mapping[str, Any]:
    return {
        "model": model,
        "temperature": 0,
        "max_tokens": MOST_TOKENS,
        "system": instructions,
        "messages": [{"role": "user", "content": prompt}],
    }


def _openai_text(answer: Any) -> Any:
    message = answer["choices"][0]["message"]
    if message.get("refusal"):
        raise WriterError("the model refused")
    return message["content"]


def _anthropic_text(answer: Any) -> Any:
    if answer.get("stop_reason") == "refusal":
        raise WriterError("the model refused")
    return "".join(part["text"] for part in answer["content"] if part["type"] == "text")


# https://platform.openai.com/docs/api-reference/chat · https://docs.anthropic.com/en/api/messages
WIRES: Mapping[str, WireFormat] = {
    "openai": WireFormat(
        "/chat/completions",
        lambda key: {"Authorization": f"Bearer {key}"} if key else {},
        _openai_body,
        _openai_text,
    ),
    "anthropic": WireFormat(
        "/v1/messages",
        lambda key: {"x-api-key": key, "anthropic-version": _ANTHROPIC_VERSION},
        _anthropic_body,
        _anthropic_text,
    ),
}


class HttpWriter:
    """A model behind one of the wire formats. It gets no tools and one attempt: the template is always available."""

    def __init__(self, settings: WriterSettings, session: aiohttp.ClientSession) -> None:
        self._settings = settings
        self._session = session
        self._wire = WIRES[settings.kind]

    @property
    def name(self) -> str:
        return f"{self._settings.kind} {self._settings.model}"

    async def answer(self, instructions: str, prompt: str) -> str | None:
        """The text of the model's answer. Raises WriterError on time-outs, refusals, limits and unreadable answers."""
        settings = self._settings
        try:
            async with self._session.post(
                settings.url.rstrip("/") + self._wire.path,
                json=self._wire.body(settings.model, instructions, prompt),
                headers=self._wire.headers(settings.key),
                timeout=aiohttp.ClientTimeout(total=settings.time_out),
                allow_redirects=False,
            ) as response:
                raw = await self._read(response)
        except TimeoutError:
            raise WriterError(f"no answer within {settings.time_out:g} s") from None
        except aiohttp.ClientError as error:
            raise WriterError(f"not reachable ({type(error).__name__})") from None
        return self._text(raw)

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        if response.status == 429:
            raise WriterError("busy (429)")
        if response.status != 200:
            raise WriterError(f"answered {response.status}")
        raw = b""
        async for piece in response.content.iter_chunked(16384):
            raw += piece
            if len(raw) > LARGEST_ANSWER:
                raise WriterError("answer too long")
        return raw

    def _text(self, raw: bytes) -> str:
        try:
            text = self._wire.text(json.loads(raw))
        except (ValueError, LookupError, TypeError, AttributeError):
            raise WriterError("answer not readable") from None
        if not isinstance(text, str) or not text.strip():
            raise WriterError("empty answer")
        return text


def writer_of(settings: WriterSettings, session: aiohttp.ClientSession) -> Writer:
    """The writer that the settings name; `NO_WRITER` if none is configured."""
    return HttpWriter(settings, session) if settings.kind != "off" else NO_WRITER
