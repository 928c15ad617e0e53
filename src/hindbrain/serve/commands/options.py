"""Options that several commands share, and what every one of them does first: ask the ledger."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.serve.invocation import Invocation
from hindbrain.serve.terminal import note, printable

if TYPE_CHECKING:
    from hindbrain.ledger.evidence import Evidence
    from hindbrain.ledger.store import Ledger
    from hindbrain.serve.scoping import Chosen

Command = TypeVar("Command", bound=Callable[..., Any])
Answer = TypeVar("Answer")

LINE_CHARS = 200

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")


def project_options(command: Command) -> Command:
    """--project and --all-projects."""
    everywhere = click.option("--all-projects", is_flag=True, help="Look in all projects.")
    one = click.option(
        "-p", "--project", metavar="PROJECT",
        help="Name, folder or id of a project; by default the one of the current directory.",
    )  # fmt: skip
    return one(everywhere(command))


def limit_option(default: int, what: str) -> Callable[[Command], Command]:
    """-k, --limit."""
    return click.option(
        "-k", "--limit", default=default, show_default=True, type=click.IntRange(1, 100_000), help=f"How many {what} at most."
    )


def date_option(name: str, text: str, *, end_of_day: bool = False) -> Callable[[Command], Command]:
    """An option that takes a date and hands on milliseconds."""

    def parsed(context: click.Context, param: click.Parameter, value: str | None) -> int | None:
        from hindbrain.serve.moments import typed

        return None if value is None else typed(value, end_of_day=end_of_day)

    return click.option(name, metavar="DATE", callback=parsed, help=text)


@contextlib.contextmanager
def reading(invocation: Invocation) -> Iterator[Ledger | None]:
    """The ledger in this home; None before anything was stored."""
    from hindbrain.serve.status import opened

    ledger = opened(Home(invocation.config.home), SystemClock())
    if ledger is None:
        yield None
        return
    with ledger:
        yield ledger


def answered(invocation: Invocation, question: Callable[[Evidence | None], Answer]) -> Answer:
    """What the shared ledger answers, else the one in this home, which is told on stderr. None is one without anything."""
    from hindbrain.serve import shared_state
    from hindbrain.serve.engines import asked, shared_of

    home, clock = Home(invocation.config.home), SystemClock()
    shared = shared_of(invocation.config, clock)
    if shared is None:
        return asked(None, home, clock, question)
    ready = shared_state.read(home, shared.name).complete or not home.ledger.exists()
    invocation.answered_by = "shared"

    def fall_back(why: str) -> None:
        note(f"warning: the shared ledger does not answer: {printable(why)}; these are this machine's own memories")
        invocation.answered_by = "local"

    return asked(shared, home, clock, question, ready=ready, fall_back=fall_back)


def own_folder(invocation: Invocation, ledger: Evidence | None, folder: str) -> str | None:
    """The project this machine knows a folder to belong to."""
    from hindbrain.serve.scoping import known_folder

    if invocation.answered_by != "shared":
        return known_folder(ledger, folder)
    with reading(invocation) as own:
        return known_folder(own, folder)


def chosen_project(invocation: Invocation, ledger: Evidence | None, project: str | None, all_projects: bool) -> Chosen:
    """The project meant; says on stderr when there is nothing to find."""
    from hindbrain.serve.scoping import choose

    chosen = choose(ledger, project, all_projects, lambda folder: own_folder(invocation, ledger, folder))
    if ledger is None:
        note("nothing is stored yet\nhint: see `hindbrain status`, or bring in what is there with `hindbrain import claude-code`")
    elif chosen.unknown:
        note(f"nothing is stored of the project {printable(chosen.named)}\nhint: --all-projects looks everywhere")
    return chosen


def one_line(text: str, limit: int = LINE_CHARS) -> str:
    """The beginning of a text on one line that only shows."""
    start = " ".join(text[: limit * 8].split())
    cut = len(start) > limit or len(text) > limit * 8
    return printable(f"{start[: limit - 1].rstrip()}…" if cut else start)
