"""Where the power-cut suite cannot run it says "not run"; on a build machine a missing tool is a failure."""

from __future__ import annotations

import os

import pytest

from tests.powercut.disk import KINDS, NotHere, maker, require


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("powercut") is None:
        return
    tools = [maker(kind) for kind in KINDS] + ["strace"] * (item.get_closest_marker("strace") is not None)
    try:
        require(*tools)
    except NotHere as missing:
        on_build_machine = os.environ.get("CI") == "true" and os.geteuid() == 0
        demanded = on_build_machine or os.environ.get("TEST_REQUIRE_TOOLS")
        (pytest.fail if demanded else pytest.skip)(f"not run: {missing}")
