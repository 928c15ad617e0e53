"""`hindbrain web` and `hindbrain calls`: the meter and every call of a model, in a browser and on the terminal."""

from __future__ import annotations

import html
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hindbrain.base.home import Home
from hindbrain.ledger.calls import Call, Spent
from hindbrain.ledger.store import Ledger
from hindbrain.serve.memory import Memory
from hindbrain.serve.spending import days
from hindbrain.serve.web.pages import CALLS_A_PAGE
from tests.reason.model.model_server import Reply, serving
from tests.serve.commands import CommandLine
from tests.serve.test_reasoning import CHOSEN, STATED, modelled, own, tell
from tests.serve.web_pages import CLOCK, Served, config_of, keep, served

DAY_MS = 86_400_000
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)>\"'&\x1b[31m\u202e\u200b"


def text_of(page: str) -> str:
    """What a reader sees, in one line."""
    plain = re.sub(r"<(style|script|title)>.*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(plain).split())


def opened(server: Served, path: str) -> str:
    answer = server.ask(path, Cookie=server.cookie())
    assert answer.status == 200, answer
    return answer.body


def bill(number: int, at: int, **more: str) -> Call:
    who = {"provider": "openai", "model": "small", "kind": "extract"} | more
    return Call(f"q{number}/{number:012x}", at, who["provider"], who["model"], who["kind"], "", None, 1_000, 50, 2_500)


def test_the_page_shows_the_meter_that_status_tells(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    home = run.home.root
    with serving([Reply(json.dumps({"statements": [STATED]}))]) as model:
        with Memory(home, config=modelled(home, model.url)) as memory:
            tell(memory, "s1", CHOSEN)
            memory.settle()
            memory.settle()
        for name, value in {"": "openai:small-model", "_URL": f"{model.url}/v1", "_KEY": "sk-loopback", "_NIGHT": "true"}.items():
            monkeypatch.setenv(f"HINDBRAIN_MODEL{name}", value)
        told = run.one("status")["reasoning"]["model"]
        with served(config_of(home, {name.removeprefix("HINDBRAIN_"): os.environ[name] for name in os.environ
                                     if name.startswith("HINDBRAIN_MODEL")})) as server:  # fmt: skip
            page, calls = text_of(opened(server, "/")), text_of(opened(server, "/calls"))
    assert told["today"]["tokens"] > 0 and told["by_kind"]["extract"]["memories"] == 1
    assert f"openai:small-model Tokens {told['today']['tokens']:,} of {told['cap']['tokens']:,}" in page
    assert f"Calls {told['today']['calls']} Job Calls Tokens Cost Memories" in page
    spent = told["by_kind"]["extract"]
    assert f"extract {spent['calls']} {spent['tokens']:,} $" in page
    ((memory_id,),) = own(home, "SELECT id FROM memories WHERE level = 'observation'")
    assert "openai:small-model extract" in calls and f"answered {memory_id}" in calls
    listed = run.one("calls")
    assert [memory_id] in [each["memories"] for each in listed]
    assert sum(each["input_tokens"] + each["output_tokens"] for each in listed) == told["today"]["tokens"]
    assert memory_id in run("calls").out


def test_the_page_says_at_the_cap_what_status_says(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.record(agent="a", session="s", role="user", text="hello", key="k")
        memory.settle()
    keep(Home(tmp_path), bill(1, CLOCK.now_ms()))
    environ = {"MODEL": "openai:small", "MODEL_KEY": "sk-x", "MODEL_DAILY_TOKENS": "1000", "MODEL_NIGHT": "true"}
    with served(config_of(tmp_path, environ)) as server:
        page = opened(server, "/")
    assert "At the cap, working without the model: the day's tokens are used up: 1,050 of 1,000" in text_of(page)
    assert '<meter min="0" max="1000" high="800" value="1000"' in page


def test_each_day_is_told_what_it_cost_by_itself(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.record(agent="a", session="s", role="user", text="hello", key="k")
        memory.settle()
    noon = int(1000 * time.mktime((2026, 11, 16, 12, 0, 0, 0, 0, -1)))
    keep(Home(tmp_path), *(bill(number, noon - back * DAY_MS) for number, back in enumerate((0, 0, 1, 3, 20))))
    with Ledger.open(Home(tmp_path).ledger, CLOCK) as ledger, ledger.reading() as database:
        found = days(database, noon, 4)
    assert [(each.name, each.spent) for each in found] == [
        ("2026-11-16", Spent(2_100, 5_000, 2)), ("2026-11-15", Spent(1_050, 2_500, 1)), ("2026-11-14", Spent(0, 0, 0)),
        ("2026-11-13", Spent(1_050, 2_500, 1)),
    ]  # fmt: skip


def test_without_a_model_the_page_says_that_rules_do_the_work_and_an_empty_home_is_no_error(tmp_path: Path) -> None:
    with served(config_of(tmp_path / "home")) as server:
        page, calls = text_of(opened(server, "/")), text_of(opened(server, "/calls"))
    assert "No model is configured: everything goes by rules, and nothing is spent." in page
    assert "captured 0 lines" in page and "No model was asked anything." in calls
    assert not (tmp_path / "home").exists()


def test_the_list_of_calls_goes_on_page_by_page(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.record(agent="a", session="s", role="user", text="hello", key="k")
        memory.settle()
    numbers = range(CALLS_A_PAGE * 2 + 5)
    keep(Home(tmp_path), *(bill(number, 1_000_000 + number // 2, model=f"model-{number:03}.") for number in numbers))
    found: list[str] = []
    with served(config_of(tmp_path)) as server:
        key, path = server.cookie(), "/calls"
        while path:
            page = server.ask(path, Cookie=key).body
            found += re.findall(r"openai:(model-\d+)\.", page)
            older = re.search(r'href="(/calls\?[^"]+)"', page)
            path = html.unescape(older[1]) if older else ""
    assert len(found) == len(numbers) and sorted(found, reverse=True) == found


@pytest.mark.parametrize(
    "query",
    ["at=1", "key=x", "at=-1&key=x", "at=1e9&key=x", f"at={'9' * 30}&key=x", "at=%00&key=x", "at=1&key=%00", "at=%D9%A3&key=x"],
)
def test_a_place_that_is_none_is_refused_with_a_hint(tmp_path: Path, query: str) -> None:
    with served(config_of(tmp_path)) as server:
        answer = server.ask(f"/calls?{query}", Cookie=server.cookie())
    assert (answer.status, "begin at its top: /calls" in text_of(answer.body)) == (400, True)


def test_any_place_that_is_one_answers_whatever_it_says(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.record(agent="a", session="s", role="user", text="hello", key="k")
        memory.settle()
    with served(config_of(tmp_path)) as server:
        for query in ("at=999999999999999999&key=%27%20OR%201%3D1", "at=0&key=", "at=1&key=%ff%fe", "at=1&key=%25&at=2"):
            assert "There are no older calls." in opened(server, f"/calls?{query}")


def test_stored_text_is_shown_and_never_runs(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.record(agent="a", session="s", role="user", text="hello", key="k")
        memory.settle()
    void = Call("q1/void 0", 5, "openai", "small", "extract", HOSTILE)
    keep(Home(tmp_path), bill(1, 5, provider=HOSTILE, model=HOSTILE, kind=HOSTILE), void, bill(2, CLOCK.now_ms(), kind=HOSTILE))
    with served(config_of(tmp_path, {"MODEL": "openai:small", "MODEL_KEY": "sk-x"})) as server:
        pages = [opened(server, "/"), opened(server, "/calls")]
    for page in pages:
        assert [each for each in ("<script", "<img", "\x1b", "\u202e", "\u200b") if each in page] == []
        assert r"\x1b[31m\u202e\u200b" in page
    assert [page.count("&lt;img src=x onerror=alert(1)&gt;") for page in pages] == [1, 5]


def test_a_ledger_that_cannot_be_read_is_told_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"no database at all" * 100)
    (tmp_path / "ledger.db").chmod(0o600)
    with served(config_of(tmp_path)) as server:
        answers = [server.ask(path, Cookie=server.cookie()) for path in ("/", "/calls")]
    assert [each.status for each in answers] == [503, 503]
    assert all("hindbrain" in text_of(each.body) and "Traceback" not in each.body for each in answers)


def test_what_nobody_expected_goes_to_a_report_and_not_to_the_page(tmp_path: Path) -> None:
    wrong, config = [ValueError("secret detail")], config_of(tmp_path)

    def failing() -> object:
        if wrong:
            raise wrong.pop()
        return config()

    with served(failing) as server:  # type: ignore[arg-type]
        answer = server.ask("/", Cookie=server.cookie())
        assert server.ask("/", Cookie=server.cookie()).status == 200
    (report,) = (tmp_path / "log").glob("crash-*.txt")
    assert answer.status == 500 and "secret detail" not in answer.body and "internal error: ValueError" in answer.body
    assert report.name in answer.body and "secret detail" in report.read_text()


def test_the_command_prints_a_link_and_ends_with_the_keyboard(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hindbrain", "--home", str(tmp_path), "web", "--json"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "user")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ) as process:
        assert process.stdout is not None
        told = ""
        while not told.endswith("}\n"):
            told += process.stdout.readline()
        link = json.loads(told)["link"]
        port, code = json.loads(told)["port"], link.partition("#")[2]
        assert link == f"http://127.0.0.1:{port}/enter#{code}" and len(code) >= 20
        server = Served(type("Elsewhere", (), {"port": port, "link": link})())
        cookie = server.cookie()
        page = server.ask("/", Cookie=cookie, Host=f"localhost:{port}").body
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == ""
    assert "captured 0 lines" in text_of(page)
    assert re.search(rf"^for another browser: http://127\.0\.0\.1:{port}/enter#\S{{20,}}$", err, re.MULTILINE)
    key = cookie.partition("=")[2]
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert key not in told + err and key.encode() not in written and code.encode() not in written


@pytest.mark.parametrize(("arguments", "code"), [(["--port", "70000"], 2), (["--port", "x"], 2), (["--host", "0.0.0.0"], 2)])
def test_a_wrong_command_line_is_refused_at_once(run: CommandLine, arguments: list[str], code: int) -> None:
    ran = run("web", *arguments)
    assert (ran.code, ran.out) == (code, "") and "hint: see `hindbrain web --help`" in ran.err


def test_a_setting_that_is_wrong_is_told_before_anybody_listens(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDBRAIN_MODEL_DAILY_TOKENS", "many")
    ran = run("web")
    assert (ran.code, ran.out) == (2, "") and "model_daily_tokens" in ran.err


def test_calls_of_nobody_are_told_as_such(run: CommandLine) -> None:
    assert (run("calls").code, run("calls").out, run.one("calls")) == (0, "", [])
    assert "no model was asked anything" in run("calls").err


def test_a_call_is_one_line_whatever_stands_in_it(run: CommandLine) -> None:
    with Memory(run.home.root) as memory:
        memory.record(agent="a", session="s", role="user", text="hello", key="k")
        memory.settle()
    many = Call("q2", 7, "openai", "small", "extract", "{}", produced=tuple(f"m_{number}" for number in range(5)))
    keep(run.home, bill(1, 5, model=HOSTILE + "\nx"), Call("q1/void 0", 5, "o", "s", "extract", "too\nlong"), bill(2, 7), many)
    out = run("calls").out
    lines = out.splitlines()
    assert len(lines) == 2 and "\x1b" not in out and "\u202e" not in out
    assert lines[0].endswith("1,000 +     50 tokens  $0.0025    m_0 m_1 m_2 and 2 more")
    assert lines[1].endswith("a reply of no use: too long")
    assert run("calls", "--limit", "0").code == 2 and len(run.one("calls", "--limit", "1")) == 1
