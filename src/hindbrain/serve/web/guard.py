"""A request -> the page it asks for, or a refusal before any page's code runs.

Whatever site a browser shows may make it send requests here. Three walls, each enough against its own kind: the Host has to be
ours (a foreign name may be pointed at this machine at any time), the Origin has to be ours where the browser tells it, and the
key has to be shown, which other sites, users and programs do not have. What changes something has to tell its Origin.

Frameworks compare the part before the first colon, or trust what a proxy says; here whole values are compared with the two there
can be, and nothing else is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Final, NamedTuple

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hindbrain.serve.web.door import Door

ENTER: Final = "/enter"  # the one page that is shown without a key: it takes the code
_SAFE: Final = ("GET", "HEAD")
_OURS: Final = (b"same-origin", b"none")  # "none": typed, or a link from outside of any page
_HINT: Final = "open the link that `hindbrain web` printed last on its terminal"

Headers = Sequence[tuple[bytes, bytes]]


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: HTTPStatus
    why: str


class Guard:
    """Stands before the pages, and puts the headers on whatever leaves."""

    def __init__(self, app: ASGIApp, door: Door, port: int, headers: Headers) -> None:
        self._app = app
        self._door = door
        self._port = port
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"only HTTP is spoken here, not {scope['type']}")

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        refused = self.refusal(scope["method"], scope["path"], scope["headers"])
        if refused is None:
            await self._app(scope, receive, sent)
            return
        await PlainTextResponse(f"{refused.why}\n", refused.status)(scope, receive, sent)

    def refusal(self, method: str, path: str, headers: Headers) -> Refusal | None:
        """Why a request is turned away; None for one that may pass."""
        hosts = [f"127.0.0.1:{self._port}".encode(), f"localhost:{self._port}".encode()]
        told = _all(headers, b"host")
        if not path.startswith("/") or len(told) != 1 or told[0].lower() not in hosts:
            return Refusal(HTTPStatus.FORBIDDEN, f"this is not what the request was meant for\nhint: {_HINT}")
        origins, sites = _all(headers, b"origin"), _all(headers, b"sec-fetch-site")
        ours = [b"http://" + told[0].lower()]
        foreign = origins not in ([], ours) or any(each not in _OURS for each in sites)
        if foreign or (method not in _SAFE and not origins):
            return Refusal(HTTPStatus.FORBIDDEN, f"another page sent this request\nhint: {_HINT}")
        if path == ENTER or self._door.opens(shown_key(headers, self._port)):
            return None
        return Refusal(HTTPStatus.UNAUTHORIZED, f"this browser has not come in\nhint: {_HINT}")


def cookie_name(port: int) -> str:
    """Browsers share cookies between all ports of a host; two homes must not put each other out."""
    return f"hindbrain-{port}"


def _all(headers: Headers, name: bytes) -> list[bytes]:
    return [value for each, value in headers if each.lower() == name]


def shown_key(headers: Headers, port: int) -> str:
    """The key among the cookies; "" where there is none, or several."""
    name = cookie_name(port)
    found: list[str] = []
    for line in _all(headers, b"cookie"):
        try:
            jar = SimpleCookie(line.decode("latin-1"))
        except CookieError:
            continue
        found += [jar[name].value] if name in jar else []
    return found[0] if len(found) == 1 else ""
