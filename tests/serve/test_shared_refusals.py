"""A shared database that cannot be used: one sentence and a hint wherever one looks, and everything goes on without it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.postgres import Cluster
from tests.serve.installed import prompt, until
from tests.serve.sharing import Machine, machine, shared_ledger, there

pytestmark = pytest.mark.slow

Spoil = Callable[[Cluster, str], str]


def wrong_password(cluster: Cluster, url: str) -> str:
    return url.replace("secret", "wrongword")


def newer_schema(cluster: Cluster, url: str) -> str:
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("INSERT INTO hindbrain.migrations (number, name, checksum, applied_at) VALUES (9999, 'later', 'x', 0)")
    return url


def read_only(cluster: Cluster, url: str) -> str:
    with cluster.admin() as admin:
        admin.execute(f'ALTER DATABASE "{url.rpartition("/")[2]}" SET default_transaction_read_only = on'.encode())
    return url


def without_vector(cluster: Cluster, url: str) -> str:
    plain = cluster.create(f"plain_{url.rpartition('/')[2]}")
    with cluster.admin() as admin:
        admin.execute(f'ALTER DATABASE "{plain.rpartition("/")[2]}" SET extension_control_path = \'/nowhere\''.encode())
    return plain


@pytest.fixture(
    params=[
        (wrong_password, "the password or the user name is wrong", False),
        (newer_schema, "the ledger has schema 9999", False),
        (read_only, "standby or set to read only", True),
        (without_vector, "the extension vector is not installed", False),
    ],
    ids=["wrong password", "newer schema", "read only", "without pgvector"],
)
def refused(
    request: pytest.FixtureRequest, tmp_path: Path, cluster: Cluster, pg_url: str
) -> Iterator[tuple[Machine, str, bool]]:
    spoil, sentence, readable = request.param
    with machine(tmp_path, spoil(cluster, pg_url)) as made:
        yield made, sentence, readable


def test_status_doctor_and_log_say_why_and_recall_goes_on(refused: tuple[Machine, str, bool]) -> None:
    laptop, sentence, readable = refused
    hook = laptop.installed()
    hook.fire(prompt("s1", 1, "use the blue-green rollout for billing"))
    hook.settled(1)
    until(lambda: "nothing is shared for now" in laptop.log() or None, "the worker to say so")

    complaints = [line for line in laptop.log().splitlines() if "nothing is shared for now" in line]
    assert len(complaints) == 1 and sentence in complaints[0] and "; hint: " in complaints[0]
    told = laptop.one("status")["shared"]
    if readable:  # it can be asked all the same, and what it lacks is known
        assert told["answers"] is True
    assert sentence in told["last_error"] and told["hint"] and told["lag"]["lines"] >= 1
    assert sentence in laptop.cli("status").stdout
    doctor = laptop.cli("doctor", "--no-hook", "--json")
    findings = [each for each in json.loads(doctor.stdout) if each["check"] == "shared"]
    assert any(sentence in each["found"] and each["hint"] for each in findings), findings
    search = laptop.cli("search", "rollout", "--all-projects", "--json")
    assert (search.returncode, [hit["ledger"] for hit in json.loads(search.stdout)]) == (0, ["local"])
    assert search.stderr.startswith("warning: the shared ledger does not answer: ") and search.stderr.count("\n") == 1
    said = laptop.log() + json.dumps(told) + doctor.stdout + search.stderr
    assert "secret" not in said and "wrongword" not in said


def test_a_database_that_becomes_usable_gets_everything(tmp_path: Path, cluster: Cluster, pg_url: str) -> None:
    with machine(tmp_path, read_only(cluster, pg_url)) as laptop:
        hook = laptop.installed()
        hook.fire(prompt("s1", 1, "said while it took no writes"))
        hook.settled(1)
        until(lambda: "nothing is shared for now" in laptop.log() or None, "the worker to say so")
        with cluster.admin() as admin:
            admin.execute(f'ALTER DATABASE "{pg_url.rpartition("/")[2]}" RESET default_transaction_read_only'.encode())

        def arrived() -> bool:
            with shared_ledger(pg_url) as ledger:
                return ledger.counts().turns == 1

        until(arrived, "the turn in the shared ledger", seconds=90)
        assert laptop.own() == there(pg_url)
        assert laptop.one("status")["shared"]["last_error"] is None
        assert "shared ledger" not in laptop.cli("search", "writes", "--all-projects").stderr
