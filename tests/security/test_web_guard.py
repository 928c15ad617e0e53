"""Nobody gets in without the key, whatever page the browser shows: every route is asked in every foreign way, over a real socket.

The routes are taken from the table itself, so a new one is asked from its first day. Each wall is taken away once, and the same
questions have to find the hole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from hindbrain.base.errors import UsageError
from hindbrain.serve.web.door import Door
from hindbrain.serve.web.guard import ENTER, Guard, Refusal, cookie_name
from hindbrain.serve.web.pages import Pages
from hindbrain.serve.web.serving import Web
from tests.serve.web_pages import CLOCK, Served, config_of, served

FOREIGN_HOSTS = (
    "", "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.:{port}", "127.0.0.1:{port}.",
    "127.1:{port}", "localhost.:{port}", "localhost", "user@127.0.0.1:{port}", "127.0.0.1:{port}@evil.example", "[::1]:{port}",
    "::1", "0.0.0.0:{port}", "2130706433:{port}", "127.0.0.1:{port}, evil.example", "127.0.0.1:{port} evil.example",
    "127.0.0.1:0{port}", "127.0.0.1:{port}/", "localhost.evil.example:{port}", "127.0.0.1:{port}\r\nHost: evil.example",
    "evil.example\r\nX-Forwarded-Host: 127.0.0.1:{port}", "evil.example\r\nForwarded: host=127.0.0.1:{port}",
)  # fmt: skip
FOREIGN_ORIGINS = (
    "http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1", "http://127.0.0.1:1", "http://127.0.0.1:{port}.",
    "http://127.0.0.1:{port}.evil.example", "http://localhost:{port}", "http://127.0.0.1:{port}/", "file://",
    "http://127.0.0.1:{port}\r\nOrigin: http://evil.example", "http://evil.example\r\nOrigin: http://127.0.0.1:{port}",
)  # fmt: skip
FOREIGN_SITES = ("cross-site", "same-site", "same-origin\r\nSec-Fetch-Site: cross-site", "anything")
TARGETS = ("http://evil.example{path}", "http://127.0.0.1:{port}{path}", "*")
METHODS = ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")


def routes() -> list[tuple[str, str]]:
    """Every way to ask for every route there is."""
    table = Pages(lambda: 1 / 0, CLOCK, Door(), 1).routed.routes  # type: ignore[arg-type, return-value]
    assert all(isinstance(each, Route) for each in table)
    return [(each.path, method) for each in table if isinstance(each, Route) for method in sorted(each.methods or ())]


def foreign(server: Served, key: str, old: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Requests nobody may make: what is wrong with each, and how it is asked."""
    port, own = server.web.port, f"http://{server.host}"
    name = cookie_name(port)
    for path, method in routes():
        body = f"code={server.web.link.partition('#')[2]}" if method == "POST" else ""
        good = {"path": path, "method": method, "body": body, "Cookie": key, "Origin": own if method == "POST" else ""}
        for host in FOREIGN_HOSTS:
            shown = host.format(port=port)
            yield f"{method} {path} Host {shown!r}", good | {"Host": shown}
            told = f"http://{shown}" if shown else ""
            yield f"{method} {path} Host and Origin {shown!r}", good | {"Host": shown, "Origin": told}
        for origin in FOREIGN_ORIGINS:
            yield f"{method} {path} Origin {origin!r}", good | {"Origin": origin.format(port=port)}
            for kind in ("text/plain", "application/json", "multipart/form-data; boundary=x"):
                yield f"POST {path} as {kind}", good | {
                    "method": "POST", "body": body or "code=x", "Content_Type": kind, "Origin": origin.format(port=port)
                }  # fmt: skip
        for site in FOREIGN_SITES:
            yield f"{method} {path} Sec-Fetch-Site {site!r}", good | {"Sec_Fetch_Site": site}
        for target in TARGETS:
            yield f"{method} {target} for {path}", good | {"path": target.format(path=path, port=port)}
        for other in METHODS:
            yield f"{other} {path} without an Origin", good | {"method": other, "Origin": ""}
        if path == ENTER:
            continue
        value = key.partition("=")[2]
        wrong = ["", value[:-1], f"{value}x", value.swapcase(), f"{value}\r\nCookie: {name}={value}", "\udcff", "*", "é"]
        for shown in ("", old, value, f"{name}x={value}", f"$Path=/; {name}", *(f"{name}={each}" for each in wrong)):
            yield f"{method} {path} with the key {shown!r}", good | {"Cookie": shown}
        yield f"{method} {path} with the key in the address", good | {"path": f"{path}?key={value}&{name}={value}", "Cookie": ""}
        yield f"{method} {path} with the key elsewhere", good | {"Cookie": "", "Authorization": f"Bearer {value}"}
        yield f"{method} {path} from another program", good | {"Cookie": "", "X-Forwarded-For": "127.0.0.1"}


def holes(server: Served, old: str) -> list[str]:
    """The requests among these that reached a page, got anything of ours, or used the code up."""
    key = server.cookie()
    code, found = server.web.link, []
    for what, asked in foreign(server, key, old):
        before = len(server.made)
        answer = server.ask(**asked)
        reached = len(server.made) != before or answer.header("set-cookie") or server.web.link != code
        if reached or answer.status not in (400, 401, 403):
            found.append(f"{what}: {answer.status}")
            code = server.web.link
    return found


@pytest.fixture
def old_key(tmp_path: Path) -> str:
    """Of a server that has ended."""
    with served(config_of(tmp_path / "old")) as server:
        return server.cookie()


def test_no_foreign_request_reaches_any_route(tmp_path: Path, old_key: str) -> None:
    with served(config_of(tmp_path / "home")) as server:
        assert holes(server, old_key) == []
        assert [server.ask(path, Cookie=server.cookie()).status for path in ("/", "/calls", ENTER)] == [200, 200, 200]
    assert len(routes()) >= 7


def given_host(headers: Sequence[tuple[bytes, bytes]], port: int) -> list[tuple[bytes, bytes]]:
    return [*(each for each in headers if each[0].lower() != b"host"), (b"host", f"127.0.0.1:{port}".encode())]


def given_origin(headers: Sequence[tuple[bytes, bytes]], port: int) -> list[tuple[bytes, bytes]]:
    kept = [each for each in headers if each[0].lower() not in (b"origin", b"sec-fetch-site")]
    host = next((value for name, value in headers if name == b"host"), b"")
    return [*kept, (b"origin", b"http://" + host)]


@pytest.mark.parametrize(("wall", "found"), [(given_host, "Host"), (given_origin, "Origin"), (None, "with the key")])
def test_without_one_of_the_walls_the_hole_is_found(
    tmp_path: Path, old_key: str, monkeypatch: pytest.MonkeyPatch, wall: Callable[..., Any] | None, found: str
) -> None:
    whole = Guard.refusal

    def refusal(self: Guard, method: str, path: str, headers: Any) -> Refusal | None:
        return whole(self, method, path, wall(headers, self._port) if wall else headers)

    with served(config_of(tmp_path / "home")) as server:
        assert server.cookie()
        if wall is None:
            monkeypatch.setattr(Door, "opens", lambda self, key: True)
        monkeypatch.setattr(Guard, "refusal", refusal)
        passed = holes(server, old_key)
    assert [each for each in passed if found in each] != []


def test_a_code_is_good_once_and_the_terminal_is_told_the_next(tmp_path: Path) -> None:
    with served(config_of(tmp_path / "home")) as server:
        first = server.web.link.partition("#")[2]
        answer = server.enter(first)
        assert (answer.status, answer.header("location"), answer.body) == (303, "/", "")
        given = answer.header("set-cookie") or ""
        assert "; HttpOnly" in given and "SameSite=strict" in given and "; Path=/" in given
        assert first not in given and server.links == [server.web.link] and first not in server.web.link
        again = server.enter(first)
        assert (again.status, again.header("set-cookie")) == (401, None)
        assert "not good, or was used already" in again.body and "<script>" not in again.body
        assert server.enter(first, Cookie=given.partition(";")[0]).header("location") == "/"  # the browser that used it
        assert server.enter().status == 303


@pytest.mark.parametrize("code", ["", "x", "%00", "%F0%9F%92%A9", "a" * 900, "&code=", "' OR 1=1", "%ff%fe", "code=code=code"])
def test_a_code_that_is_none_opens_nothing_and_uses_nothing_up(tmp_path: Path, code: str) -> None:
    with served(config_of(tmp_path / "home")) as server:
        before = server.web.link
        answer = server.enter(code)
        assert (answer.status, answer.header("set-cookie"), server.web.link) == (401, None, before)


def test_what_is_no_form_or_too_long_is_refused(tmp_path: Path) -> None:
    with served(config_of(tmp_path / "home")) as server:
        assert server.enter("a" * 2_000).status == 413
        assert server.enter(Content_Type="text/plain").status == 415
        assert server.enter(Content_Type="").status == 415
        assert server.enter(Content_Type="application/x-www-form-urlencoded; charset=utf-8").status == 303


def test_whatever_leaves_says_that_nothing_is_loaded_framed_or_kept(tmp_path: Path) -> None:
    with served(config_of(tmp_path / "home")) as server:
        key = server.cookie()
        answers = [server.ask(path, Cookie=key) for path in ("/", "/calls", ENTER, "/nothing", "/calls?at=x")]
        answers += [server.ask("/"), server.ask("/", Host="evil.example"), server.enter("x"),
                    server.ask("/", "PUT", Cookie=key, Origin=f"http://{server.host}")]  # fmt: skip
    assert [each.status for each in answers] == [200, 200, 200, 404, 400, 401, 403, 401, 405]
    for each in answers:
        policy = each.header("content-security-policy") or ""
        assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy and "http" not in policy
        assert "frame-ancestors 'none'" in policy and "base-uri 'none'" in policy and "form-action 'self'" in policy
        assert (each.header("x-content-type-options"), each.header("cache-control")) == ("nosniff", "no-store")
        assert each.header("server") is None and each.header("access-control-allow-origin") is None


def test_only_this_machine_is_listened_to_and_a_taken_port_is_refused(tmp_path: Path) -> None:
    config = config_of(tmp_path / "home")
    with served(config) as server:
        assert server.web._socket.getsockname()[0] == "127.0.0.1"
        with pytest.raises(UsageError, match=f"port {server.web.port} cannot be used: another program has it") as refused:
            Web(config, CLOCK, server.web.port, print)
    assert "a free one is taken" in refused.value.hint
