"""The search of a process: by meaning when that is at hand, by words when it is not, and never waiting for it in a hook."""

from __future__ import annotations

from pathlib import Path

from hindbrain import Memory
from hindbrain.base.clock import ManualClock, SystemClock
from hindbrain.base.config import load
from hindbrain.base.home import Home
from hindbrain.ledger.store import Ledger
from hindbrain.recall import rank
from hindbrain.serve.recalling import PAUSE_SECONDS, Recalling
from tests.recall.embedding_server import EmbeddingServer, Reply, Request, serving

EVERYWHERE = rank.Scope(None, everything=True)


def told(home: Path, *texts: str, embedder: str = "static", url: str = "") -> Ledger:
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(f'embedder = "{embedder}"\nembedder_url = "{url}"\n')
    with Memory.open(home=home) as memory:
        for number, text in enumerate(texts):
            memory.record(agent="a", session=f"s{number}", role="user", text=text, project="shop", key=str(number))
        memory.settle()
    return Ledger.open(Home(home).ledger, SystemClock(), read_only=True)


def found(recalling: Recalling, ledger: Ledger, question: str) -> list[str]:
    with ledger.reading() as database:
        return [each.text for each in recalling.search(database, question, EVERYWHERE, 5)]


def test_a_hook_gets_words_until_another_thread_has_loaded_the_rest(tmp_path: Path) -> None:
    with told(tmp_path / "home", "lunch is at noon", "the cat sleeps") as ledger:
        recalling = Recalling(load(str(tmp_path / "home")), SystemClock(), hurried=True)
        assert (found(recalling, ledger, "when do we eat"), found(recalling, ledger, "lunch")) == ([], ["lunch is at noon"])
        recalling.load()
        assert found(recalling, ledger, "when do we eat")[0] == "lunch is at noon"


def test_what_another_process_embedded_is_found_by_a_hook_as_well(tmp_path: Path) -> None:
    with told(tmp_path / "home", "the cat sleeps") as ledger:
        recalling = Recalling(load(str(tmp_path / "home")), SystemClock(), hurried=True)
        recalling.load()
        with Memory.open(home=tmp_path / "home") as memory:
            memory.record(agent="a", session="s9", role="user", text="lunch is at noon", project="shop")
            memory.settle()
        assert found(recalling, ledger, "when do we eat")[0] == "lunch is at noon"


def test_a_hook_does_not_wait_for_an_embedder_elsewhere_and_asks_it_again_later(tmp_path: Path) -> None:
    with serving() as server, told(tmp_path / "home", "lunch is at noon", embedder="openai:small", url=server.url) as ledger:
        clock = ManualClock()
        recalling = Recalling(load(str(tmp_path / "home")), clock, hurried=True)
        recalling.load()
        _hang(server)
        before = len(server.requests)
        assert found(recalling, ledger, "lunch") == ["lunch is at noon"]
        assert recalling.trouble == "the embedder does not answer in the time a hook has"
        assert found(recalling, ledger, "noon") == ["lunch is at noon"]
        assert len(server.requests) <= before + 1
        server.answer = server.honest
        server.closing.set()
        clock.advance(PAUSE_SECONDS + 1)
        deadline = SystemClock().elapsed() + 30
        while recalling.trouble and SystemClock().elapsed() < deadline:  # the one that hung gives the way free
            assert found(recalling, ledger, "lunch") == ["lunch is at noon"]
            clock.advance(PAUSE_SECONDS + 1)
        assert recalling.trouble == ""


def _hang(server: EmbeddingServer) -> None:
    def hang(request: Request) -> Reply:
        server.closing.wait(60)
        return server.honest(request)

    server.answer = hang


def test_a_failure_of_the_embedder_is_told_until_it_answers_again(tmp_path: Path) -> None:
    with serving() as server, told(tmp_path / "home", "lunch is at noon", embedder="ollama:small", url=server.url) as ledger:
        clock = ManualClock()
        recalling = Recalling(load(str(tmp_path / "home")), clock)
        server.answer = lambda request: Reply(b"broken", 503)
        assert found(recalling, ledger, "lunch") == ["lunch is at noon"]
        assert "503" in recalling.trouble
        asked = len(server.requests)
        assert found(recalling, ledger, "noon") == ["lunch is at noon"]
        assert len(server.requests) == asked  # it is left alone for a while
        server.answer = server.honest
        clock.advance(PAUSE_SECONDS + 1)
        assert (found(recalling, ledger, "lunch"), recalling.trouble) == (["lunch is at noon"], "")


def test_a_model_that_changes_its_width_is_embedded_anew(tmp_path: Path) -> None:
    with serving() as server, told(tmp_path / "home", "lunch is at noon", embedder="openai:small", url=server.url):
        server.width = 12
        with Memory.open(home=tmp_path / "home") as memory:
            memory.settle()
            assert memory.search("lunch", project="shop")[0].text == "lunch is at noon"
        assert len(server.requests[-1].body["input"]) == 1
        assert [path.name for path in Home(tmp_path / "home").derived.glob("*.bits")] == []
