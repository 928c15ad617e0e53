"""Command line -> one command run, one exit code.

Commands are loaded when they are named, so `hindbrain --version` costs no database and no drawing library. This is the
process boundary: the one place that catches everything, says it in two lines, and never shows a traceback.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Final

import click

from hindbrain import __version__
from hindbrain.base.errors import HindbrainError
from hindbrain.serve import exits
from hindbrain.serve.ending import on_signals
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import flush, note, printable, silence

# Set by a shell that wants to complete a command line; `hindbrain completion` prints the script that does.
COMPLETE: Final = "_HINDBRAIN_COMPLETE"

# name -> "module:attribute"
COMMANDS: Final[dict[str, str]] = {
    "ask": "hindbrain.serve.commands.ask:ask",
    "backup": "hindbrain.serve.commands.backup:backup",
    "calls": "hindbrain.serve.commands.calls:calls",
    "completion": "hindbrain.serve.commands.completion:completion",
    "config": "hindbrain.serve.commands.config:config",
    "context": "hindbrain.serve.commands.context:context",
    "correct": "hindbrain.serve.commands.remember:correct",
    "daemon": "hindbrain.serve.commands.daemon:daemon",
    "demo": "hindbrain.serve.commands.demo:demo",
    "doctor": "hindbrain.serve.commands.doctor:doctor",
    "dream": "hindbrain.serve.commands.dream:dream",
    "forget": "hindbrain.serve.commands.forget:forget",
    "import": "hindbrain.serve.commands.transcripts:transcripts",
    "install": "hindbrain.serve.commands.install:install",
    "jobs": "hindbrain.serve.commands.jobs:jobs",
    "migrate": "hindbrain.serve.commands.migrate:migrate",
    "pin": "hindbrain.serve.commands.remember:pin",
    "remember": "hindbrain.serve.commands.remember:remember",
    "review": "hindbrain.serve.commands.review:review",
    "search": "hindbrain.serve.commands.search:search",
    "sessions": "hindbrain.serve.commands.lists:sessions",
    "show": "hindbrain.serve.commands.show:show",
    "status": "hindbrain.serve.commands.status:status",
    "talk": "hindbrain.serve.commands.talk:talk",
    "timeline": "hindbrain.serve.commands.lists:timeline",
    "uninstall": "hindbrain.serve.commands.uninstall:uninstall",
    "web": "hindbrain.serve.commands.web:web",
    "wiki": "hindbrain.serve.commands.wiki:wiki",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{COMMANDS[cmd_name]} is not a command")
        return command

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in exits.EXITS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="hindbrain %(version)s")
@click.option("--home", metavar="DIRECTORY", help="Use this data directory instead of the configured one.")
@pass_invocation
def cli(invocation: Invocation, home: str | None) -> None:
    """Always-on memory for coding agents."""
    invocation.home_flag = home


def main(args: Sequence[str] | None = None) -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what the terminal cannot show must not end the command
    on_signals()
    code = run(sys.argv[1:] if args is None else args)
    try:
        flush()
    except (HindbrainError, BrokenPipeError):
        silence(sys.stdout)  # only after an error that was told already; its code is the one to give
    sys.exit(code)


def run(args: Sequence[str]) -> int:
    """Run one command and give its exit code; nothing is raised."""
    invocation = Invocation()
    try:
        code = _invoke(args, invocation)
        flush()
    except HindbrainError as error:
        return _told(error.message, error.hint, error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return exits.USAGE
    except click.ClickException as error:
        return _usage(error)
    except (KeyboardInterrupt, click.Abort):
        return _told("interrupted", "", exits.INTERRUPTED)
    except BrokenPipeError:
        silence(sys.stdout)
        return exits.READER_GONE
    except Exception as error:  # noqa: BLE001  # process boundary: the work in hand failed and the report says where
        return _internal(invocation, error)
    return code


def _invoke(args: Sequence[str], invocation: Invocation) -> int:
    # Not cli.main(): it has its own ideas of what to do about a closed pipe.
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, "hindbrain", COMPLETE, instruction)
    try:
        with cli.make_context("hindbrain", list(args), obj=invocation) as context:
            result = cli.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return result if isinstance(result, int) and not isinstance(result, bool) else exits.DONE


def _usage(error: click.ClickException) -> int:
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context is not None else "hindbrain"
    return _told(" ".join(error.format_message().split()).removesuffix("."), f"see `{command} --help`", exits.USAGE)


def _internal(invocation: Invocation, error: Exception) -> int:
    try:
        from hindbrain.serve.report import write_report  # needed on the worst day only

        hint = f"the report is in {write_report(invocation.home, error)}"
    except Exception as second:  # noqa: BLE001  # process boundary: the report is lost, and the hint says why
        hint = f"no report could be written: {str(second).splitlines()[0] if str(second) else type(second).__name__}"
    return _told(f"internal error: {type(error).__name__}", hint, exits.INTERNAL)


def _told(message: str, hint: str, code: int) -> int:
    text = f"error: {printable(message)}\nhint: {printable(hint)}" if hint else printable(message)
    try:
        note(text)
    except OSError:
        silence(sys.stderr)  # nobody listens; the exit code still tells
    return code
