"""The documents say what the program does: commands, options, targets, settings, exit codes and links are looked up."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hindbrain.base import errors
from hindbrain.serve.cli import COMMANDS, cli
from hindbrain.serve.exits import EXITS
from scripts import docs_tables

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def command_lines(text: str) -> list[str]:
    """What a reader would type: lines of code blocks and code in a sentence that begin with one of our commands."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", prose)
    return [line for line in lines if re.match(r"(\.venv/bin/)?hindbrain\s|make\s+[a-z-]+", line)]


def problem(line: str) -> str:
    """What is wrong with a command line of a document; empty when nothing is."""
    words = shlex.split(line, comments=True)
    if words[0] == "make":
        return "" if words[1] in TARGETS else f"no target {words[1]}"
    command: click.Command = cli
    context = click.Context(cli, info_name="hindbrain")
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            break  # what follows is the command line of another program
        options = {name: given for given in command.get_params(context) for name in given.opts + given.secondary_opts}
        if word.startswith("-"):
            option = options.get(word.split("=")[0])
            if option is None:
                return f"{context.command_path} has no option {word}"
            if "=" not in word and not getattr(option, "is_flag", False):
                next(rest, "")  # its value
        elif isinstance(command, click.Group):
            found = command.get_command(context, word)
            if found is None:
                return f"{context.command_path} has no command {word}"
            command, context = found, click.Context(found, info_name=word, parent=context)
    return ""


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_and_option_in_a_document_exists(document: Path) -> None:
    lines = command_lines(document.read_text("utf-8"))
    assert {line: found for line in lines if (found := problem(line))} == {}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("hindbrain config show --json", ""),
        (".venv/bin/hindbrain --help", ""),
        ("make test # all", ""),
        ("hindbrain --home /new config path", ""),
        ("hindbrain --home=/new config pth", "hindbrain config has no command pth"),
        ("hindbrain confg show", "hindbrain has no command confg"),
        ("hindbrain config show --xml", "hindbrain config show has no option --xml"),
        ("make tests", "no target tests"),
    ],
)
def test_a_wrong_command_in_a_document_would_be_found(line: str, found: str) -> None:
    assert command_lines(f"text\n```console\n$ {line}\n```\n") == command_lines(f"say `{line}`.") == [line]
    assert problem(line) == found


@pytest.mark.parametrize("document", sorted({place for place, _ in docs_tables.TABLES.values()}))
def test_the_tables_made_from_code_are_up_to_date(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    assert docs_tables.with_tables(document, text) == text, "run `make docs`"


def error_classes(base: type[errors.HindbrainError]) -> Iterator[type[errors.HindbrainError]]:
    yield base
    for derived in base.__subclasses__():
        yield from error_classes(derived)


def test_every_exit_code_an_error_has_is_in_the_table() -> None:
    assert {error.exit_code for error in error_classes(errors.HindbrainError)} <= set(EXITS)


def test_the_tree_at_the_top_of_the_errors_is_the_tree_of_classes() -> None:
    drawn = dict(re.findall(r"\+-- (\w+) +(\d+)", errors.__doc__ or ""))
    ours = [error for error in error_classes(errors.HindbrainError) if error.__module__ == errors.__name__]
    assert drawn == {error.__name__: str(error.exit_code) for error in ours[1:]}


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, f"{path} {name}")


def test_every_command_option_and_argument_explains_itself() -> None:
    silent = [path for path, command in commands(cli, "hindbrain") if not command.help]
    for path, command in commands(cli, "hindbrain"):
        options = [param for param in command.params if isinstance(param, click.Option)]
        silent += [f"{path} {option.opts[0]}" for option in options if not option.help]
    assert silent == []
    assert len(list(commands(cli, "hindbrain"))) > len(COMMANDS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_file_leads_to_one(document: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text("utf-8"))
    local = [link for link in links if "://" not in link and not link.startswith("mailto:")]
    assert [link for link in local if not (document.parent / link).exists()] == []
