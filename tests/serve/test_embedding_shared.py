"""Vectors in a ledger that machines share: each worker makes those of what it shares, with one model, and none twice."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hindbrain.ledger import vectors
from hindbrain.recall.static import Static
from hindbrain.serve.embedding import adopt, embed_all
from tests.recall.embedding_server import serving
from tests.serve.installed import until
from tests.serve.sharing import Machine, machine, shared_ledger


def standing(url: str) -> tuple[str, tuple[int, int]]:
    """The model, how many vectors there are, how many items wait."""
    with shared_ledger(url) as ledger, ledger.reading() as database:
        return vectors.model(database), vectors.counts(database)


def configured(machine: Machine, **settings: str) -> None:
    machine.home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    (machine.home.root / "config.toml").write_text("".join(f'{name} = "{value}"\n' for name, value in settings.items()))


def test_what_one_machine_said_another_finds_by_its_meaning(pg_url: str, tmp_path: Path) -> None:
    with machine(tmp_path / "laptop", pg_url) as laptop, machine(tmp_path / "desktop", pg_url) as desktop:
        laptop.tell("lunch is at noon", "the cat sleeps in the box")
        desktop.tell("the build takes an hour", session="s2")
        assert standing(pg_url) == (Static.load().name, (3, 0))
        assert desktop.found("when do we eat", "shop")[0] == "lunch is at noon"
        assert desktop.one("search", "when do we eat", "--project", "shop")[0]["ledger"] == "shared"


def test_a_worker_embeds_what_it_shares(pg_url: str, tmp_path: Path) -> None:
    with machine(tmp_path / "laptop", pg_url) as laptop:
        with laptop.memory() as memory:
            memory.record(agent="claude-code", session="s1", role="user", text="lunch is at noon", project="shop")
        laptop.installed().cli("daemon", "start")
        until(lambda: standing(pg_url)[1] == (1, 0), "the vector in the shared ledger")
        assert laptop.one("status")["embedding"]["vectors"] == 1


def test_a_worker_of_another_model_leaves_the_shared_vectors_alone_and_says_so(pg_url: str, tmp_path: Path) -> None:
    with machine(tmp_path / "laptop", pg_url) as laptop, machine(tmp_path / "desktop", pg_url) as desktop, serving() as server:
        laptop.tell("lunch is at noon")
        configured(desktop, embedder="openai:small", embedder_url=server.url)
        desktop.tell("the build takes an hour", session="s2")
        assert standing(pg_url) == (Static.load().name, (1, 1))
        assert sorted(desktop.found("build hour lunch noon", "shop")) == ["lunch is at noon", "the build takes an hour"]
        desktop.installed().cli("daemon", "start")
        trouble = until(lambda: str(desktop.one("status")["embedding"]["trouble"]), "the trouble to be told")
        assert trouble == f"the shared ledger's vectors are made by {Static.load().name}, not by openai:small:8"
        laptop.tell("one thing more")
        assert standing(pg_url) == (Static.load().name, (3, 0))


@pytest.mark.slow
def test_two_that_embed_at_once_make_no_vector_twice(pg_url: str, tmp_path: Path) -> None:
    with machine(tmp_path / "laptop", pg_url) as laptop:
        with laptop.memory() as memory:
            for number in range(300):
                memory.record(agent="a", session="s1", role="user", text=f"statement {number}", project="shop", key=str(number))
            memory.settle_here()
            assert memory.share() == ""
        failed: list[BaseException] = []

        def embed() -> None:
            try:
                with shared_ledger(pg_url) as ledger:
                    adopt(ledger, Static.load())
                    embed_all(ledger, Static.load())
            except BaseException as error:  # noqa: BLE001  # told by the test's own thread
                failed.append(error)

        threads = [threading.Thread(target=embed) for _ in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert (failed, standing(pg_url)[1]) == ([], (300, 0))
        with shared_ledger(pg_url) as ledger, ledger.reading() as database:
            assert database.execute("SELECT count(DISTINCT turn) FROM vectors").fetchone()[0] == 300
