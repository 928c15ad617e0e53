"""`hindbrain remember`, `correct`, `pin`: what a person says should be kept -> memories.

Each is durable in the journal first and taken in before the command returns, so the next one finds it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import NotFound, UsageError
from hindbrain.base.home import Home
from hindbrain.serve.commands.options import answered, json_option, one_line, own_folder
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.ledger.evidence import Evidence
    from hindbrain.serve.memory import Memory
    from hindbrain.serve.reading import Kept
    from hindbrain.serve.scoping import Chosen

# The same as ledger.memories.KINDS, which a test holds; that module loads the database.
KINDS = ("decision", "preference", "correction", "instruction", "fact", "lesson", "procedure", "task", "insight")


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--kind", type=click.Choice(KINDS), default="fact", show_default=True, help="What kind of statement it is.")
@click.option("-p", "--project", metavar="PROJECT", help="Where it holds; by default the project of the current directory.")
@click.option("--global", "everywhere", is_flag=True, help="It holds in all projects.")
@click.option("--pin", is_flag=True, help="Tell it at the start of every session.")
@json_option
@pass_invocation
def remember(
    invocation: Invocation, text: tuple[str, ...], kind: str, project: str | None, everywhere: bool, pin: bool, as_json: bool
) -> None:
    """Keep TEXT as a memory and print its id.

    Instructions, preferences and corrections are told to every session of their scope; other kinds where they fit.

    \b
    hindbrain remember the staging database is read-only
    hindbrain remember --kind preference --global "answer in British English"
    hindbrain remember --kind decision --project shop --pin "PostgreSQL for orders"
    """
    if everywhere and project is not None:
        raise UsageError("--project and --global exclude each other", hint="give one of them")
    words = _words(text)
    where = None if everywhere else project_named(invocation, project)
    with opened(invocation) as memory:
        made = memory.remember(words, kind=kind, project=where, pinned=pin)
        settle(memory)
    _told(invocation, made, as_json)


@click.command()
@click.argument("id")
@click.argument("text", nargs=-1, required=True)
@json_option
@pass_invocation
def correct(invocation: Invocation, id: str, text: tuple[str, ...], as_json: bool) -> None:
    """Replace the memory ID by TEXT and print the new id.

    The old one stays as history: `show` leads to it, and a search with --as-of finds it.

    \b
    hindbrain correct m_c0ffee11 the staging database takes writes since May
    """
    words = _words(text)
    with opened(invocation, there=True) as memory:
        memory.settle_here()
        old = named(invocation, id)
        made = memory.correct(old, words)
        settle(memory)
    _told(invocation, made, as_json)


@click.command()
@click.argument("id")
@click.option("--off", is_flag=True, help="Do not tell it at the start of sessions any longer.")
@json_option
@pass_invocation
def pin(invocation: Invocation, id: str, off: bool, as_json: bool) -> None:
    """Tell the memory ID at the start of every session.

    That is, every session of its project, or all if it holds everywhere.

    \b
    hindbrain pin m_c0ffee11
    hindbrain pin m_c0ffee11 --off
    """
    with opened(invocation, there=True) as memory:
        memory.settle_here()
        found = named(invocation, id)
        memory.pin(found, not off)
        settle(memory)
    _told(invocation, found, as_json)
    if not off:
        _say_withheld(invocation, found)


def _say_withheld(invocation: Invocation, identifier: str) -> None:
    """A pin is no acceptance: what is held back stays so."""
    from hindbrain.serve import reading as stored

    def ask(ledger: Evidence | None) -> str:
        return stored.memory(ledger, identifier).held if ledger is not None else ""

    held = answered(invocation, ask)
    if held:
        state = "rejected" if held == "rejected" else "quarantined"
        note(f"it is {state}, and told to no session: accept it with `hindbrain review accept {identifier}`")


def _words(text: tuple[str, ...]) -> str:
    words = " ".join(text)
    if not words.strip():
        raise UsageError("there is nothing to remember", hint="give it some words")
    return words


@contextlib.contextmanager
def opened(invocation: Invocation, *, there: bool = False) -> Iterator[Memory]:
    """The home as a library; with `there`, one that has something in it already."""
    from hindbrain.serve.engines import shared_of
    from hindbrain.serve.memory import Memory

    home = Home(invocation.config.home)
    if there and not home.journal.is_dir():
        raise NotFound("nothing is stored yet", hint="keep something with `hindbrain remember`")
    with Memory(home.root, shared=shared_of(invocation.config, SystemClock())) as memory:
        yield memory


def settle(memory: Memory) -> None:
    """What was written down is in the ledger, and in the shared one if it answers."""
    memory.settle_here()
    if why := memory.share():
        note(f"warning: kept on this machine; the shared ledger gets it when it answers: {printable(why)}")


def project_named(invocation: Invocation, project: str | None) -> str:
    """A project as the library takes it. One that is known is named by its identity, or a second would be made of its name."""
    from hindbrain.serve.scoping import choose

    def ask(ledger: Evidence | None) -> tuple[Chosen, str | None]:
        chosen = choose(ledger, project, False, lambda folder: own_folder(invocation, ledger, folder))
        return chosen, _identity(ledger, chosen.project)

    chosen, identity = answered(invocation, ask)
    if identity is None and project is not None and not chosen.folder:
        note(f"a new project begins: {printable(chosen.named)}")
    return identity or chosen.folder or chosen.named


def _identity(ledger: Evidence | None, project: str | None) -> str | None:
    if ledger is None or project is None:
        return None
    with ledger.reading() as connection:
        row = connection.execute("SELECT identity FROM projects WHERE id = ?", (project,)).fetchone()
    return None if row is None else str(row[0])


def named(invocation: Invocation, identifier: str, *, replaced: bool = False) -> str:
    """The memory meant, still standing, unless one that was `replaced` is welcome too."""
    from hindbrain.serve import reading as stored
    from hindbrain.serve.lookup import look_up

    def ask(ledger: Evidence | None) -> tuple[str, str | None]:
        found = look_up(ledger, identifier, "memory").id
        return found, stored.memory(ledger, found).superseded_by if ledger is not None else None

    found, newer = answered(invocation, ask)
    if newer is not None and not replaced:
        raise UsageError(f"{found} was replaced by {newer}", hint=f"name {newer} instead")
    return found


def _told(invocation: Invocation, identifier: str, as_json: bool) -> None:
    """What is stored now, read back."""
    from hindbrain.serve import reading as stored

    def ask(ledger: Evidence | None) -> Kept:
        if ledger is None:
            raise NotFound(f"{identifier} was written down, but the ledger is gone", hint="run `hindbrain doctor`")
        return stored.memory(ledger, identifier)

    found = answered(invocation, ask)
    if as_json:
        say_json({
            "id": found.id, "kind": found.kind, "scope": found.scope, "project": found.project, "project_id": found.project_id,
            "pinned": found.pinned, "text": found.text, "supersedes": list(found.supersedes), **invocation.answered,
        })  # fmt: skip
        return
    where = "everywhere" if found.scope == "global" else f"project {found.project}"
    say(f"{found.id}  {found.kind}, {printable(where)}{', pinned' if found.pinned else ''}  {one_line(found.text)}")
