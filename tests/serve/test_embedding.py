"""Embedding: the worker sees to it, whatever happens to it or to the embedder, and search answers meanwhile."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.files import lock_holder
from hindbrain.base.home import Home
from hindbrain.ledger import vectors
from hindbrain.ledger.store import Ledger
from hindbrain.serve import daemon, embedding
from hindbrain.serve.memory import NotSettled
from hindbrain.serve.status import Embedding
from tests.recall.embedding_server import EmbeddingServer, Reply, Request, serving
from tests.serve.installed import Installed, prompt, until


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as running:
        yield running


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A derived file is written for a few rows already."""
    monkeypatch.setattr(embedding, "SAVED_ROWS", 50)


def configure(home: Home, embedder: str, url: str = "") -> None:
    home.root.mkdir(mode=0o700, exist_ok=True)
    (home.root / "config.toml").write_text(f'embedder = "{embedder}"\nembedder_url = "{url}"\nembedder_timeout = 5\n')


def record(home: Home, texts: list[str], project: str = "shop") -> None:
    """Durable in the journal, and in no ledger yet."""
    with Memory(home.root) as memory:
        for number, text in enumerate(texts):
            memory.record(agent="claude-code", session="s1", role="user", text=text, project=project, key=f"{number} {text[:40]}")


def embedded(installed: Installed, count: int, model: str = "") -> Embedding:
    """How embedding stands once so many items have vectors of the model, and nothing waits."""

    def ready() -> Embedding | None:
        seen = installed.look().stored.embedding
        done = seen.vectors >= count and not seen.waiting and model in seen.model
        return seen if done else None

    return until(ready, f"{count} vectors")


def embedded_texts(home: Home) -> list[str]:
    """The texts that have a vector of the current model, each as often as it has one for the same passage."""
    with Ledger.open(home.ledger, SystemClock(), read_only=True) as ledger, ledger.reading() as database:
        made = "SELECT substr(text, vectors.start + 1, vectors.end - vectors.start) FROM vectors JOIN turns ON turns.rowid = turn"
        return [row[0] for row in database.execute(f"{made} WHERE model = ? ORDER BY 1", (vectors.model(database),))]


def memory_of(pid: int) -> float:
    """Megabytes that are in memory for a process."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(lines["VmRSS"].split()[0]) / 1024


def test_the_worker_embeds_what_a_hook_told(installed: Installed) -> None:
    installed.fire(prompt("s1", 1, "we settled on Postgres for the orders"))
    seen = embedded(installed, 1)
    assert (seen.vectors, seen.waiting, seen.trouble) == (1, 0, "")
    assert embedded_texts(installed.home) == ["we settled on Postgres for the orders"]
    told = json.loads(installed.cli("status", "--json").stdout)["embedding"]
    assert told == {"model": seen.model, "vectors": 1, "waiting": 0, "trouble": ""}


def test_a_command_finds_by_meaning_what_shares_no_word(installed: Installed) -> None:
    record(installed.home, ["we settled on Postgres for the orders", "lunch is at noon", "the cat sleeps in the box"])
    assert installed.cli("daemon", "start").returncode == 0
    embedded(installed, 3)
    ran = installed.cli("search", "when do we eat", "--project", "shop", "--json")
    hits = json.loads(ran.stdout)
    assert (hits[0]["text"], ran.returncode, ran.stderr) == ("lunch is at noon", 0, "")
    assert (hits[0]["parts"]["own_words"], hits[0]["parts"]["meaning"] > 0, hits[0]["shared_words"]) == (0.0, True, [])


def test_a_worker_leaves_when_nothing_waits_any_more(installed: Installed) -> None:
    (installed.home.root / "config.toml").write_text("[worker]\nidle_seconds = 0\n")
    record(installed.home, [f"statement {number} about the harvest" for number in range(50)])
    installed.cli("daemon", "start")
    embedded(installed, 50)
    until(lambda: lock_holder(installed.home.worker_lock) is None, "the worker to leave")


@pytest.mark.slow
def test_an_idle_worker_is_small(installed: Installed, tmp_path: Path) -> None:
    record(installed.home, [f"statement {number} about the harvest of the year" for number in range(2000)])
    installed.cli("daemon", "start")
    embedded(installed, 2000)
    pid = lock_holder(installed.home.worker_lock)
    assert pid
    assert memory_of(pid) < 150
    installed.cli("daemon", "stop")
    configure(installed.home, "none")
    installed.cli("daemon", "start")
    pid = lock_holder(installed.home.worker_lock)
    assert pid
    assert memory_of(pid) < 60


@pytest.mark.slow
def test_a_worker_killed_while_it_embeds_is_followed_by_one_that_goes_on(installed: Installed, server: EmbeddingServer) -> None:
    texts = [f"statement number {number}" for number in range(150)]
    configure(installed.home, "openai:small", server.url)
    record(installed.home, texts)
    asked, go_on = threading.Event(), threading.Event()

    def hold(request: Request) -> Reply:
        if sum(len(each.body["input"]) > 1 for each in server.requests) == 2:  # in the middle of the second batch
            asked.set()
            go_on.wait(60)
        return server.honest(request)

    server.answer = hold
    installed.cli("daemon", "start")
    assert asked.wait(60)
    pid = lock_holder(installed.home.worker_lock)
    assert pid
    os.kill(pid, signal.SIGKILL)
    go_on.set()
    until(lambda: lock_holder(installed.home.worker_lock) is None, "its end")
    half = embedded_texts(installed.home)
    assert 0 < len(half) < 150
    installed.cli("daemon", "start")
    embedded(installed, 150)
    assert embedded_texts(installed.home) == sorted(texts)


def test_while_an_embedder_is_down_words_answer_and_status_says_why_and_then_it_goes_on(
    installed: Installed, server: EmbeddingServer
) -> None:
    configure(installed.home, "ollama:small", server.url)
    server.answer = lambda request: Reply(b"out of memory", 500)
    record(installed.home, ["we settled on Postgres for the orders", "lunch is at noon"])
    installed.cli("daemon", "start")
    seen = until(lambda: _troubled(installed), "the trouble to be told")
    assert (seen.vectors, seen.waiting) == (0, 2)
    assert "500" in seen.trouble
    ran = installed.cli("search", "Postgres orders", "--project", "shop", "--json")
    assert json.loads(ran.stdout)[0]["text"] == "we settled on Postgres for the orders"
    assert "found by words alone" in ran.stderr
    with Memory.open(home=installed.home.root) as memory:
        assert memory.search("Postgres", project="shop")[0].text == "we settled on Postgres for the orders"
        assert "500" in memory.trouble
        with pytest.raises(NotSettled, match="500"):
            memory.settle(5)
        server.answer = server.honest
        embedded(installed, 2)
        until(lambda: not installed.look().stored.embedding.trouble, "the end of the trouble")
        assert embedded_texts(installed.home)[0] == "lunch is at noon"
        memory.settle()


def _troubled(installed: Installed) -> Embedding | None:
    seen = installed.look().stored.embedding
    return seen if seen.trouble else None


@pytest.mark.slow
def test_another_model_embeds_everything_anew_while_search_answers(installed: Installed, server: EmbeddingServer) -> None:
    record(installed.home, [f"statement {number} about the harvest" for number in range(120)])
    installed.cli("daemon", "start")
    first = embedded(installed, 120)
    installed.cli("daemon", "stop")
    configure(installed.home, "openai:small", server.url)
    held, go_on = threading.Event(), threading.Event()

    def hold(request: Request) -> Reply:
        if len(request.body["input"]) > 1:
            held.set()
            go_on.wait(60)
        return server.honest(request)

    server.answer = hold
    installed.cli("daemon", "start")
    assert held.wait(60)
    installed.fire(prompt("s2", 1, "the harvest festival is in October"))  # more comes in meanwhile
    ran = installed.cli("search", "harvest festival", "--all-projects", "--json")
    until(lambda: installed.look().stored.turns == 121, "the turn to be stored")
    assert ran.returncode == 0
    assert len(json.loads(ran.stdout)) == 10
    go_on.set()
    second = embedded(installed, 121, "small")
    assert (second.vectors, second.model) == (121, "openai:small:8")
    assert first.model != second.model
    assert len(embedded_texts(installed.home)) == 121


@pytest.mark.parametrize("status", [400, 500])
def test_a_text_that_makes_the_embedder_fail_keeps_no_other_from_its_vector(
    tmp_path: Path, server: EmbeddingServer, status: int
) -> None:
    home = Home(tmp_path / "home")
    configure(home, "openai:small", server.url)

    def choke(request: Request) -> Reply:
        bad = any("poison" in text for text in request.body["input"])
        return Reply(b"cannot", status) if bad else server.honest(request)

    server.answer = choke
    texts = [f"statement {number}" for number in range(20)]
    record(home, [*texts[:7], "this is poison", *texts[7:]])
    with Memory.open(home=home.root) as memory:
        memory.settle()
        assert memory.search("poison", project="shop")[0].text == "this is poison"
    with Ledger.open(home.ledger, SystemClock(), read_only=True) as ledger, ledger.reading() as database:
        assert vectors.counts(database) == (20, 0)
        assert len(vectors.above(database, "openai:small:8", 0, 100)) == 20


def test_a_home_that_was_copied_answers_alike(tmp_path: Path, small_files: None) -> None:
    home = Home(tmp_path / "home")
    record(home, [f"statement {number} about the harvest" for number in range(100)])
    with Memory.open(home=home.root) as memory:
        memory.settle()
        first = [(hit.id, hit.score) for hit in memory.search("reaping and sowing")]
    assert [path.suffix for path in home.derived.iterdir()] == [".bits"]
    copy = Path(shutil.copytree(home.root, tmp_path / "copy"))
    with Memory.open(home=copy) as memory:
        assert [(hit.id, hit.score) for hit in memory.search("reaping and sowing")] == first


def test_what_is_forgotten_leaves_the_derived_file_as_well(tmp_path: Path, small_files: None) -> None:
    home = Home(tmp_path / "home")
    record(home, [f"statement {number} about the harvest" for number in range(100)])
    with Memory.open(home=home.root) as memory:
        memory.settle()
        (first,) = memory.search("statement 17 about the harvest", k=1)
        memory.forget(id=first.id)
        assert list(home.derived.glob("*.bits")) == []
        assert memory.search("statement 17 about the harvest", k=1)[0].id != first.id


def test_two_that_are_configured_differently_do_not_embed_for_ever(tmp_path: Path, server: EmbeddingServer) -> None:
    home = Home(tmp_path / "home")
    configure(home, "static")
    with Memory.open(home=home.root) as mine:
        mine.record(agent="a", session="s", role="user", text="first", project="shop")
        mine.settle()
        configure(home, "openai:small", server.url)
        with Memory.open(home=home.root) as other:
            other.settle()
            mine.record(agent="a", session="s", role="user", text="second", project="shop")
            mine.settle()
            assert mine.search("second", project="shop")[0].text == "second"
            assert _standing(home) == ("openai:small:8", (1, 1))
            other.settle()
        assert _standing(home) == ("openai:small:8", (2, 0))


def _standing(home: Home) -> tuple[str, tuple[int, int]]:
    with Ledger.open(home.ledger, SystemClock(), read_only=True) as ledger, ledger.reading() as database:
        return vectors.model(database), vectors.counts(database)


def test_an_embedder_that_cannot_be_used_costs_no_answer(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    configure(home, "openai:small")  # and no address
    record(home, ["the harvest is in"])
    with Memory.open(home=home.root) as memory:
        with pytest.raises(NotSettled, match="embedder_url"):
            memory.settle()
        assert [hit.text for hit in memory.search("harvest", project="shop")] == ["the harvest is in"]
        assert "harvest" in memory.context("the harvest", project="shop").text
        assert "embedder_url" in memory.trouble


def test_without_an_embedder_nothing_is_embedded_and_numpy_is_not_loaded(installed: Installed) -> None:
    configure(installed.home, "none")
    record(installed.home, ["the harvest is in"])
    installed.cli("daemon", "start")
    installed.settled(1)
    pid = lock_holder(installed.home.worker_lock)
    assert pid
    assert "numpy" not in Path(f"/proc/{pid}/maps").read_text()
    assert installed.look().stored.embedding == Embedding("", 0, 1, "")


LOADS = "import sys; from hindbrain.serve import cli; cli.run({arguments}); print('numpy' in sys.modules)"


@pytest.mark.parametrize("command", ["status", "sessions", "config show", "jobs list"])
def test_commands_that_do_not_search_load_no_numpy(installed: Installed, command: str) -> None:
    record(installed.home, ["the harvest is in"])
    arguments = ["--home", str(installed.home.root), *command.split()]
    code = LOADS.format(arguments=arguments)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(installed.environ), check=True)
    assert ran.stdout.splitlines()[-1] == "False"


def described(installed: Installed, check: str, *options: str) -> list[dict[str, Any]]:
    ran = installed.cli("doctor", "--no-hook", "--json", *options)
    return [found for found in json.loads(ran.stdout) if found["check"] == check]


@pytest.mark.slow
def test_doctor_finds_a_derived_file_that_lies_and_one_command_makes_it_anew(installed: Installed, small_files: None) -> None:
    record(installed.home, [f"statement {number} about the harvest" for number in range(100)])
    with Memory.open(home=installed.home.root) as memory:
        memory.settle()
        (path,) = installed.home.derived.glob("*.bits")
        right = path.read_bytes()
        found = memory.search("reaping and sowing", k=3)
    assert [each["grade"] for each in described(installed, "embedding")] == ["ok"]
    _lie(path)
    told = described(installed, "embedding")
    assert [each["grade"] for each in told] == ["problem", "ok"]
    assert told[0]["hint"] == "hindbrain doctor --rebuild-index"
    ran = installed.cli("doctor", "--no-hook", "--rebuild-index")
    assert re.search(r"made anew: the signs of 1\d\d vectors", ran.stderr)
    assert (path.read_bytes() == right, [each["grade"] for each in described(installed, "embedding")]) == (True, ["ok"])
    path.write_bytes(right[:-1])
    assert "is not used" in described(installed, "embedding")[0]["found"]
    with Memory.open(home=installed.home.root) as memory:
        assert [hit.id for hit in memory.search("reaping and sowing", k=3)] == [hit.id for hit in found]


def _lie(path: Path) -> None:
    """A file that is whole by its own checksum, and wrong in one row that no spot check looks at."""
    import numpy as np

    from hindbrain.recall import bitfile
    from hindbrain.recall.static import Static

    static = Static.load()
    found = bitfile.load(path, static.name, static.dimensions)
    words = np.array(found.words)
    words[0, 1] ^= np.uint64(3)
    bitfile.save(path, found._replace(words=words), static.name, static.dimensions)


@pytest.mark.slow
def test_the_worker_stops_in_time_while_an_embedder_hangs(installed: Installed, server: EmbeddingServer) -> None:
    configure(installed.home, "openai:small", server.url)
    asked = threading.Event()

    def hang(request: Request) -> Reply:
        asked.set()
        server.closing.wait(60)
        return server.honest(request)

    server.answer = hang
    record(installed.home, ["the harvest is in"])
    installed.cli("daemon", "start")
    assert asked.wait(60)
    assert daemon.stop(installed.home.root) is not None
    assert installed.look().stored.embedding == Embedding("", 0, 1, "")
