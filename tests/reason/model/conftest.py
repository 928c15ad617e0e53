"""An empty ledger for each test, copied from one that is migrated."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.store import Ledger
from hindbrain.reason.model.asked import Limits
from tests.reason.model.asking import Asking, configured


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "ledger.db"
    Ledger.open(path, ManualClock()).close()
    return path


@pytest.fixture
def ledger(empty_ledger: Path, tmp_path: Path) -> Iterator[Evidence]:
    with Ledger.open(Path(shutil.copyfile(empty_ledger, tmp_path / "ledger.db")), ManualClock()) as opened:
        yield opened


@pytest.fixture
def asking(ledger: Evidence, tmp_path: Path) -> Callable[..., Asking]:
    """Asks a server by one or more models, with settings of a test."""

    def make(url: str, *models: str, limits: Limits | None = None, **settings: str) -> Asking:
        made = Asking(ledger, configured(tmp_path, **{"model": ",".join(models), **settings}), url, models)
        made.limits = limits or made.limits
        return made

    return make
