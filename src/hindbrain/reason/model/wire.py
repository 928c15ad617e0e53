"""A request of a provider's library -> a bounded, decoded reply, or a failure that says what became of it.

The libraries retry, follow and wait as they like; this transport lies under them and does none of it. It sends to one origin
only, with the headers it knows and our key in the one place it belongs; it reads the whole reply itself, so that the limits of
time and size hold for every byte; and it says what went wrong in our own words, before a library makes its own of it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Final

import httpx2

from hindbrain.base.clock import Clock
from hindbrain.reason.model.asked import Limits
from hindbrain.reason.model.failures import (
    LIMITED_WAIT,
    KeyRefused,
    ModelAway,
    ModelFailed,
    ModelRefused,
    WrongOutput,
    shown,
    wait_asked,
)
from hindbrain.recall.tokens import tokens_in

_SENT: Final = frozenset({
    "host", "content-type", "content-length", "accept", "accept-encoding", "user-agent", "anthropic-version", "anthropic-beta",
})  # fmt: skip
_CHARSETS: Final = frozenset({
    "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "windows-1252", "utf-16", "utf-16le", "utf-16be",
})  # fmt: skip
# Something of this stands in whatever a model wrote, in any of the protocols, whole, cut or in pieces.
_WRITTEN: Final = ("choices", "usage", "usageMetadata", "candidates", "content", "completion", "message", "delta", "output",
                   "response", "text", "generated_text", "results")  # fmt: skip
_COUNTED: Final = 100_000  # letters: more than the longest reply that is asked for
_RETRYABLE: Final = frozenset({408, 409, 425})
_HINTS: Final = {
    401: "the key is missing or wrong: hindbrain config set model_key ...",
    403: "the key does not allow this: hindbrain config set model_key ...",
    404: "the model or the address is not known there: see model and model_url (Ollama fetches one by `ollama pull`)",
}
_LATE: Final = "a slow model needs a larger model_timeout"
_OTHER: Final = "see that model_url leads to a server of the kind the setting model names"


class Wire(httpx2.AsyncBaseTransport):
    """One call's transport. `failure` is what became of it, if it went wrong; `replied` says that a whole reply was handed on,
    and `came` how many tokens it has where no model can have written it."""

    def __init__(self, who: str, base: str, key_header: tuple[str, str], key: str, limits: Limits, clock: Clock) -> None:
        self.failure: ModelFailed | None = None
        self.replied = False
        self.came: int | None = None
        self._who = who
        self._origin = _origin(httpx2.URL(base))
        self._key_header = key_header
        self._key = key
        self._limits = limits
        self._clock = clock
        # Without TLS there is nothing to verify, and reading the certificates takes longer than a call on this machine.
        self._inner = httpx2.AsyncHTTPTransport(retries=0, trust_env=False, verify=self._origin[0] == "https")

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            if _origin(request.url) != self._origin:
                raise ModelRefused(f"{self._who} was to be asked at another address than the one that is set")
            return await self._exchange(self._ours(request))
        except ModelFailed as failure:
            self.failure = failure
            raise httpx2.TransportError("see the failure of the wire") from failure  # what libraries take for a broken line

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _ours(self, request: httpx2.Request) -> httpx2.Request:
        """The request with known headers alone: libraries add others, some of them from the environment."""
        headers = {name: value for name, value in request.headers.items() if name in _SENT}
        headers["accept-encoding"] = "identity"  # a small reply may unfold to a large one
        if self._key:
            name, form = self._key_header
            headers[name] = form.format(self._key)
        patience = {"timeout": {"connect": self._limits.connect, "read": None, "write": self._limits.total, "pool": None}}
        return httpx2.Request(request.method, request.url, headers=headers, content=request.content, extensions=patience)

    async def _exchange(self, request: httpx2.Request) -> httpx2.Response:
        sent = False
        response: httpx2.Response | None = None
        try:
            async with asyncio.timeout(self._limits.total):
                async with asyncio.timeout(self._limits.first_byte):
                    response = await self._inner.handle_async_request(request)
                sent = True
                body = await self._body(response)
        except (httpx2.ConnectTimeout, httpx2.ConnectError) as error:
            raise self._away(f"cannot be reached: {self._said(error)}", hint=_OTHER) from error
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise self._away(f"did not answer {'in full ' if sent else ''}in time", hint=_LATE, paid=True) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as error:
            raise self._away(f"broke off: {self._said(error)}", paid=True) from error
        finally:
            if response is not None:
                await response.aclose()
        if not response.is_success:
            raise self._refused(response, body)
        plain = {"content-type": "application/json"}
        text = self._decoded(response, body)
        self.replied = True
        return httpx2.Response(200, headers=plain, content=text, request=request)

    async def _body(self, response: httpx2.Response) -> bytes:
        """All of it, each piece within the idle time, and no more than the limit."""
        pieces: list[bytes] = []
        size = 0
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        pulled = stream.__aiter__()
        while True:
            try:
                async with asyncio.timeout(self._limits.idle):
                    piece = await anext(pulled)
            except StopAsyncIteration:
                return b"".join(pieces)
            size += len(piece)
            if size > self._limits.bytes:
                raise WrongOutput(f"{self._who} answered with more than {self._limits.bytes} bytes")
            pieces.append(piece)

    def _decoded(self, response: httpx2.Response, body: bytes) -> bytes:
        """The body as UTF-8, by the charset it says it has; libraries would guess, or put question marks in."""
        charset = (response.charset_encoding or "utf-8").lower()
        if charset not in _CHARSETS:
            raise WrongOutput(f"{self._who} answered in a charset that is not read: {shown(charset, self._key)}")
        try:
            text = body.decode(charset, "strict")
        except UnicodeError as error:
            raise WrongOutput(f"{self._who} answered with bytes that are no {charset}") from error
        try:
            said = json.loads(text)
        except (ValueError, RecursionError) as error:
            what = f"{self._who} answered with {len(body)} bytes that are not JSON"
            raise WrongOutput(what, hint=_OTHER, came=_came(text, None)) from error
        self.came = _came(text, said)
        if not isinstance(said, dict):
            raise WrongOutput(f"{self._who} answered with JSON that is no reply", hint=_OTHER, came=self.came)
        return text.encode("utf-8", "replace")

    def _refused(self, response: httpx2.Response, body: bytes) -> ModelFailed:
        status = response.status_code
        said = shown(body[:2_000].decode("utf-8", "replace"), self._key)
        what = f"refused with status {status}{said and ': ' + said}"
        if status == 429 or status >= 500 or status in _RETRYABLE:
            after = wait_asked(response.headers.get("retry-after", ""), self._clock.now_ms())
            return self._away(what, after=LIMITED_WAIT if after is None and status == 429 else after)
        hint = _HINTS.get(status, "")
        if 300 <= status < 400:
            hint = "it points elsewhere, which is not followed: set model_url to the right address"
        refusal = KeyRefused if status in (401, 403) else ModelRefused
        return refusal(f"{self._who} {what}", hint=hint)

    def _away(self, what: str, *, hint: str = "", after: float | None = None, paid: bool = False) -> ModelAway:
        return ModelAway(f"{self._who} {what}", hint=hint, after=after, paid=paid)

    def _said(self, error: Exception) -> str:
        return shown(str(error), self._key) or type(error).__name__


def _came(text: str, said: object) -> int | None:
    """The tokens of a reply that no model wrote, as far as can be told: a page, an object of something else."""
    marks = said.keys() if isinstance(said, dict) else {mark for mark in _WRITTEN if f'"{mark}"' in text}
    return None if any(mark in marks for mark in _WRITTEN) else tokens_in(text[:_COUNTED])


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    ports: Mapping[str, int] = {"http": 80, "https": 443}
    return url.scheme, url.host, url.port or ports.get(url.scheme)
