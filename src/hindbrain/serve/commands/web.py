"""`hindbrain web`: how things stand, in a browser on this machine."""

from __future__ import annotations

import contextlib

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.config import load
from hindbrain.serve.commands.options import json_option
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import flush, note, printable, say, say_json


@click.command()
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port to listen on; by default any that is free.")
@json_option
@pass_invocation
def web(invocation: Invocation, port: int, as_json: bool) -> None:
    """Show how things stand in a browser, until Ctrl-C.

    Prints a link that lets one browser in, once; when it was used, the next one. Only this machine is listened to, and
    the pages are for reading: what is kept, what waits, what models cost and every call of them.

    \b
    hindbrain web
    hindbrain web --port 8765
    """
    from hindbrain.serve.web.serving import Web  # loads the web server

    home = invocation.config.home  # a wrong setting is told now, not to a browser
    made = Web(lambda: load(invocation.home_flag), SystemClock(), port, _renewed)
    if as_json:
        say_json({"link": made.link, "port": made.port})
    else:
        say(made.link)
    flush()
    note(f"shows {printable(str(home))}; Ctrl-C ends it")
    made.run()


def _renewed(link: str) -> None:
    with contextlib.suppress(OSError):  # the terminal was closed: nobody is left to be told
        note(f"for another browser: {link}")
