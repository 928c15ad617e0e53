"""This installation -> the one file an agent's hook runs, and the command line to run it with.

The command is `<absolute interpreter> -I -S -c <BOOT> <home>/hook.py <agent> <event>`: isolated from the user's
variables and site-packages, no shell, no PATH. The file lives in the data directory, so the command stays the same
across upgrades of the package (some agents ask for trust again when it changes). It knows where the package is and
which home it serves.
"""

from __future__ import annotations

import os
import py_compile
import sys
from pathlib import Path
from typing import Final

from hindbrain.base.errors import StorageError
from hindbrain.base.files import ensure_private_dir, replace_file
from hindbrain.journal import losses

LAUNCHER: Final = "hook.py"
# Python exits with 2 when its script is missing, and 2 is how a hook tells Claude Code to block the prompt. Whoever deletes the
# data directory by hand would be locked out of the agent, so a missing launcher has to be a quiet success.
BOOT: Final = "import sys,posix;sys.argv.pop(0);exec(open(sys.argv[0]).read()if posix.access(sys.argv[0],4)else'')"
# What the launcher puts together: this stage, which keeps events, and the module that answers some of them.
ANSWERS: Final = "hindbrain.serve.answer"

# What the hook loads on an ordinary call, and what it loads when there is a secret, a loss or no worker.
HOT_MODULES: Final = (
    "__init__", "base/__init__", "base/prefilter", "journal/__init__", "journal/append", "journal/line", "capture/__init__",
    "capture/hook", "capture/start", "journal/losses", "serve/__init__", "serve/answer", "recall/__init__", "recall/block",
    "recall/context", "recall/rank", "recall/tokens", "recall/words", "base/redact", "base/redact_assignments",
    "base/redact_blocks", "base/redact_rules",
)  # fmt: skip

_SOURCE = """\
# Hindbrain's hook. Written by Hindbrain {version}; changes are overwritten.
import sys
sys.path.append({package!r})
try:
    from hindbrain.capture.hook import main
    main({home!r}, {answers!r})
except BaseException:
    # the package is gone, being replaced or of another version: the agent must not notice, and status shows the count
    import posix
    if b"HINDBRAIN_GUARD" not in posix.environ:
        home = posix.environ.get(b"HINDBRAIN_HOME", b"")
        home = home if home[:1] == b"/" else {home!r}
        flags = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_NONBLOCK
        try:
            file = posix.open(home + {unloaded!r}, flags, 0o600)
            if posix.fstat(file).st_nlink != 1:
                raise OSError
            posix.write(file, b".")
        except OSError:
            try:
                posix.write(2, b"hindbrain: an event was not kept and could not be counted: the package is gone\\n")
            except OSError:
                pass
    posix._exit(0)
"""


def launcher_source(home: Path, package: Path, version: str) -> str:
    """The text of the launcher; its paths are literals, so no path can be read as code."""
    raw = os.fsencode(home)
    return _SOURCE.format(version=version, package=str(package), unloaded=b"/" + losses.UNLOADED, home=raw, answers=ANSWERS)


def launcher_command(home: Path) -> list[str]:
    """The command that runs the launcher of home; nothing is written."""
    if not sys.executable or not os.path.isabs(sys.executable):
        raise StorageError("the interpreter's own path is not known", hint="start hindbrain by its full path")
    return [sys.executable, "-I", "-S", "-c", BOOT, str(home / LAUNCHER)]


def install_launcher(home: Path) -> list[str]:
    """Write the launcher into home and return the command an agent runs, to which the agent's name is added."""
    import hindbrain

    command = launcher_command(home)
    ensure_private_dir(home)
    losses.prepare(os.fsencode(home))
    package = Path(hindbrain.__file__).resolve().parent
    _compile(package)
    source = launcher_source(home, package.parent, hindbrain.__version__)
    replace_file(home / LAUNCHER, source.encode("utf-8", "surrogateescape"))
    return command


def _compile(package: Path) -> None:
    """Leave bytecode beside the sources, so that the first hook call is as fast as the others."""
    for name in HOT_MODULES:
        source = package / f"{name}.py"
        try:
            py_compile.compile(str(source), doraise=True)
        except OSError:
            return  # a read-only installation: it brought its bytecode along, or does without
        except py_compile.PyCompileError as error:
            raise StorageError(f"{source} does not compile: {error.msg}", hint="install the package again") from error
