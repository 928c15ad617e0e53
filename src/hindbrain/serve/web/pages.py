"""A request that may pass -> a page: how things stand with the meter of models, and the list of their calls.

Pages are made from what the ledger says at the moment of asking and are for reading alone. Stored text is data here too: it is
escaped by the templates, and what is active or invisible in it is shown as on a terminal. No script runs but the one that hands
in the code, and nothing is fetched from anywhere.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from importlib import resources
from typing import Any, Final, TypeVar
from urllib.parse import parse_qs

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.ledger.bills import NEWEST, Place, bills
from hindbrain.ledger.database import Database
from hindbrain.serve.moments import minute, when
from hindbrain.serve.overview import ledger_of_jobs, look
from hindbrain.serve.reasoning_state import dollars
from hindbrain.serve.report import write_report
from hindbrain.serve.spending import OUTCOMES, days
from hindbrain.serve.terminal import printable
from hindbrain.serve.web.door import Door
from hindbrain.serve.web.guard import ENTER, Guard, cookie_name, shown_key

CALLS_A_PAGE: Final = 100
_MOST_FORM: Final = 1_000  # bytes: a code is some twenty letters
_FORM: Final = "application/x-www-form-urlencoded"
_LATEST: Final = 1 << 62
_DEAF: Final = "the request ended before it was complete"

Make = Callable[[Request], Response]
Row = TypeVar("Row")


def application(config: Callable[[], Config], clock: Clock, door: Door, port: int) -> Guard:
    """The pages behind their guard. `config` is asked for each page: settings may change while we run."""
    pages = Pages(config, clock, door, port)
    return Guard(pages.routed, door, port, pages.headers)


@dataclass(frozen=True)
class Pages:
    """What is shown, to whom the guard lets through."""

    config: Callable[[], Config]
    clock: Clock
    door: Door
    port: int

    @cached_property
    def routed(self) -> Starlette:
        """The table of routes. A test asks every one of them with every kind of foreign request."""
        return Starlette(routes=[
            Route("/", self._safely(self.overview)),
            Route("/calls", self._safely(self.calls)),
            Route(ENTER, self._safely(self.enter_form)),
            Route(ENTER, self.enter, methods=["POST"]),
        ])  # fmt: skip

    @cached_property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """Nothing is loaded, framed, kept or told to others; style and script are known by their sums."""
        policy = (
            f"default-src 'none'; style-src {_sum(_part('style.css'))}; script-src {_sum(_part('enter.js'))}; "
            "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        return [(name.encode(), value.encode()) for name, value in {
            "content-security-policy": policy, "x-content-type-options": "nosniff", "x-frame-options": "DENY",
            # With "no-referrer" browsers leave the origin out of a form's request, and the guard asks for it.
            "referrer-policy": "same-origin", "cache-control": "no-store", "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
        }.items()]  # fmt: skip

    def overview(self, request: Request) -> Response:
        """How things stand, and the meter."""
        config = self.config()
        found = look(config, self.clock)
        meter = None if found.reasoning is None else found.reasoning.meter
        rows = [(name, said) for name, said in found.rows if name != "model"]
        spent = [] if meter is None else self._read(config, lambda database: days(database, self.clock.now_ms()))
        return self._page("overview.html", rows=rows, meter=meter, days=spent)

    def calls(self, request: Request) -> Response:
        """The calls of models, newest first."""
        before = _place(request.query_params)
        found = self._read(self.config(), lambda database: bills(database, before, CALLS_A_PAGE + 1))
        older = found[CALLS_A_PAGE - 1].place if len(found) > CALLS_A_PAGE else None
        return self._page("calls.html", bills=found[:CALLS_A_PAGE], older=older, first=before == NEWEST)

    def enter_form(self, request: Request) -> Response:
        """Where the code is handed in; the script does it by itself."""
        return self._page("enter.html", wrong=False)

    async def enter(self, request: Request) -> Response:
        """The code for the key."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
            return _said("a form is wanted here", HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        body = b""
        try:
            async for piece in request.stream():
                body += piece
                if len(body) > _MOST_FORM:
                    return _said("that is too long for a code", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        except ClientDisconnect:
            return _said(_DEAF, HTTPStatus.BAD_REQUEST)  # nobody reads it
        shown = shown_key(request.scope["headers"], self.port)
        key = self.door.enter(parse_qs(body.decode("latin-1")).get("code", [""])[0].strip())
        if key is None and not self.door.opens(shown):
            return self._page("enter.html", HTTPStatus.UNAUTHORIZED, wrong=True)
        response = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        if key is not None:  # else a used link was opened again, in the browser that used it
            response.set_cookie(cookie_name(self.port), key, httponly=True, samesite="strict", path="/")
        return response

    def _read(self, config: Config, question: Callable[[Database], list[Row]]) -> list[Row]:
        """What the ledger that counts calls says; nothing before there is one."""
        with ledger_of_jobs(config, self.clock) as ledger:
            if ledger is None:
                return []
            with ledger.reading() as database:
                return question(database)

    def _page(self, template: str, status: HTTPStatus = HTTPStatus.OK, **values: Any) -> Response:
        made = _TEMPLATES.get_template(template).render(values)
        return HTMLResponse(made, status)

    def _safely(self, make: Make) -> Make:
        """A page that cannot be made says why; what nobody expected goes to a report, as on the command line."""

        def answer(request: Request) -> Response:
            try:
                return make(request)
            except UsageError as error:
                return self._page("trouble.html", HTTPStatus.BAD_REQUEST, message=error.message, hint=error.hint)
            except HindbrainError as error:
                return self._page("trouble.html", HTTPStatus.SERVICE_UNAVAILABLE, message=error.message, hint=error.hint)
            except Exception as error:  # noqa: BLE001  # boundary of a request: the page is lost, and the report says why
                return self._page("trouble.html", HTTPStatus.INTERNAL_SERVER_ERROR, **_reported(self.config, error))

        return answer


def _reported(config: Callable[[], Config], error: Exception) -> dict[str, str]:
    message = f"internal error: {type(error).__name__}"
    try:
        return {"message": message, "hint": f"the report is in {write_report(config().home, error)}"}
    except Exception as second:  # noqa: BLE001  # the report is lost too, and the page says why
        return {"message": message, "hint": f"no report could be written: {type(second).__name__}"}


def _said(text: str, status: HTTPStatus) -> Response:
    return PlainTextResponse(f"{text}\n", status)


def _place(query: Mapping[str, str]) -> Place:
    """Where the list goes on, as the link says that leads there."""
    at, key = query.get("at"), query.get("key")
    if at is None and key is None:
        return NEWEST
    if key is None or at is None or not at.isascii() or not at.isdigit() or len(at) > 18 or int(at) > _LATEST or "\0" in key:
        raise UsageError("this is no place in the list of calls", hint="begin at its top: /calls")
    return int(at), key


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _sum(text: str) -> str:
    """How a policy names what may run: by its own sum."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _shown(value: object) -> object:
    """Text of any origin, with what is active or invisible in it shown."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("hindbrain.serve.web"), autoescape=True, undefined=StrictUndefined, finalize=_shown,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.globals |= {"style": Markup(_part("style.css")), "script": Markup(_part("enter.js")), "outcomes": OUTCOMES}
    made.filters |= {"dollars": dollars, "minute": minute, "when": when, "number": "{:,}".format}
    return made


_TEMPLATES: Final = _templates()
