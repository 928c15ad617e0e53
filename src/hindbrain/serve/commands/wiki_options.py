"""What every command of the wiki needs: which wiki is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindbrain.serve.invocation import Invocation
from hindbrain.serve.terminal import note, printable

if TYPE_CHECKING:
    from hindbrain.serve.wikis import Wiki

into_option = click.option(
    "--into", metavar="DIRECTORY", help="The wiki of one project in a folder of its repository, instead of the one in the home."
)


def of_invocation(invocation: Invocation, into: str | None) -> Wiki:
    """The wiki that is meant; an unknown time zone is told on stderr."""
    from hindbrain.serve.wikis import Wiki

    wiki = Wiki.of(invocation.config, into)
    if wiki.warning:
        note(f"warning: {printable(wiki.warning)}")
    return wiki
