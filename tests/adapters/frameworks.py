"""The frameworks the adapters are for; they live in an environment of their own (`make test-adapters`)."""

from __future__ import annotations

import importlib
import os

import pytest


def need(module: str) -> None:
    """Leave the file out where a framework is not installed; where it must be, that is a failure."""
    if os.environ.get("TEST_ADAPTERS"):
        importlib.import_module(module)
    else:
        pytest.importorskip(module, reason=f"not run: {module} is not installed here; see make test-adapters")
