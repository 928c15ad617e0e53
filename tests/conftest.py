"""What the marked suites need, looked for once; without it they report "not run".

With TEST_REQUIRE_TOOLS=1 a missing tool is a failure, so that a machine meant to run everything cannot pass by running
less.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says more about the machine than about us. Under CI the library's own profile does the same, and
# always tries the same examples.
settings.register_profile("unhurried", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
if not os.environ.get("CI"):
    settings.load_profile("unhurried")

# A shell starts what runs in its background with interrupts ignored, `nohup` has hang-ups ignored, and programs hand that down;
# some tests send them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

SBIN = os.pathsep.join([os.environ.get("PATH", ""), "/sbin", "/usr/sbin"])


@cache
def missing_for(marker: str) -> str:
    """Why a marked suite cannot run here; empty when it can."""
    if marker == "strace":
        if shutil.which("strace") is None:
            return "strace is not installed"
        tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
        return "" if tried.returncode == 0 else f"strace may not trace: {tried.stderr.strip()}"
    if marker == "browser":
        return "" if shutil.which("chromium") else "chromium is not installed"
    if os.geteuid() != 0:
        return "needs root"
    absent = [tool for tool in ("mkfs.ext4", "mkfs.xfs", "mount", "umount") if shutil.which(tool, path=SBIN) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in ("strace", "powercut", "browser"):
        if item.get_closest_marker(marker) is not None and (reason := missing_for(marker)):
            if os.environ.get("TEST_REQUIRE_TOOLS"):
                pytest.fail(f"not run: {reason}", pytrace=False)
            pytest.skip(f"not run: {reason}")
