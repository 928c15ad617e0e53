"""`hindbrain wiki search`, `open`, `export`, `lint`: the pages as they stand in the folder, for a person or a program."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindbrain.base.errors import StorageError, UsageError
from hindbrain.serve import exits
from hindbrain.serve.commands.options import json_option, limit_option, one_line
from hindbrain.serve.commands.wiki_options import into_option, of_invocation
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.wiki.search import LineHit, PageHit

_FORMATS = ("html", "markdown", "obsidian", "json")
_NAMES = {"html": "wiki.html", "json": "wiki.json", "markdown": "wiki-markdown", "obsidian": "wiki-vault"}


@click.command("search")
@click.argument("words", nargs=-1, required=True)
@limit_option(10, "pages")
@into_option
@json_option
@pass_invocation
def search(invocation: Invocation, words: tuple[str, ...], limit: int, into: str | None, as_json: bool) -> None:
    """Find the pages that speak of WORDS, and the lines that do.

    What stands in the folder is searched, people's own pages as well. Each line shows its number and the id of its memory.

    \b
    hindbrain wiki search postgres backup
    hindbrain wiki search "rotate keys" --json
    """
    from hindbrain.serve import wiki_files
    from hindbrain.wiki import search as searching

    question = " ".join(words)
    if not question.strip():
        raise UsageError("there is nothing to search for", hint="give some words")
    hits = searching.found(wiki_files.texts(of_invocation(invocation, into).folder), question, limit)
    if as_json:
        say_json([_as_data(hit) for hit in hits])
        return
    if not hits:
        note("no page speaks of that")
    for hit in hits:
        say(f"{printable(hit.path)}  {one_line(hit.title)}")
        for line in hit.lines:
            say(f"    {line.number:>4}  {_told(line)}")


def _told(line: LineHit) -> str:
    struck = " (no longer holds)" if line.struck else ""
    return f"{one_line(line.text)}{struck}{f'  [{line.memory}]' if line.memory else ''}"


def _as_data(hit: PageHit) -> dict[str, object]:
    return {
        "path": hit.path, "id": hit.id or None, "title": hit.title, "score": hit.score,
        "lines": [
            {"line": each.number, "memory": each.memory or None, "section": each.section or None, "text": each.text,
             "struck": each.struck, "score": each.score}
            for each in hit.lines
        ],
    }  # fmt: skip


@click.command("open")
@click.argument("page", required=False, default="index")
@click.option("--path", "path_only", is_flag=True, help="Print the path of the file and open nothing.")
@into_option
@json_option
@pass_invocation
def open_page(invocation: Invocation, page: str, path_only: bool, into: str | None, as_json: bool) -> None:
    """Open PAGE in your editor; without one the index.

    PAGE is a path, a title, an alias, a link or an id. The editor is $VISUAL or $EDITOR, else what the desktop opens Markdown
    with. Where the output is no terminal, the path is printed and nothing is opened. The next compile takes in what you change.

    \b
    hindbrain wiki open
    hindbrain wiki open PostgreSQL
    hindbrain wiki open daily/2026-11-16 --path
    """
    from hindbrain.serve import wiki_files

    folder = of_invocation(invocation, into).folder
    found = wiki_files.page_named(wiki_files.texts(folder), page)
    file = folder.root / found
    if as_json:
        say_json({"page": found, "path": str(file)})
    elif path_only or not sys.stdout.isatty():
        say(str(file))
    else:
        _show(file)


def _show(file: Path) -> None:
    """In the editor the user named; else with whatever opens such a file."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    argv = [*shlex.split(editor), str(file)] if editor else ["open" if sys.platform == "darwin" else "xdg-open", str(file)]
    try:
        ran = subprocess.run(argv, check=False)
    except OSError as error:
        raise StorageError(f"cannot run {argv[0]}: {error.strerror}", hint=f"set EDITOR; the page is {file}") from error
    if ran.returncode:
        raise StorageError(f"{argv[0]} ended with {ran.returncode}", hint=f"the page is {file}")


@click.command("export")
@click.argument("target", required=False)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="html", show_default=True, help="For which reader.")
@click.option("--title", default="Wiki", show_default=True, help="What the HTML document is called.")
@into_option
@json_option
@pass_invocation
def export(invocation: Invocation, target: str | None, form: str, title: str, into: str | None, as_json: bool) -> None:
    """Write the wiki to TARGET in another form.

    html: one file with a search of its own that needs nothing else, no network either. markdown: a folder of plain Markdown with
    relative links. obsidian: a folder that Obsidian opens as a vault. json: one file for programs. A folder has to be empty.

    \b
    hindbrain wiki export wiki.html
    hindbrain wiki export --format obsidian ~/vault
    hindbrain wiki export --format json wiki.json
    """
    from hindbrain.serve import wiki_files

    pages = wiki_files.texts(of_invocation(invocation, into).folder)
    place = Path(os.path.abspath(os.path.expanduser(target or _NAMES[form])))
    files = wiki_files.exported(pages, form, place, title)
    if as_json:
        say_json({"format": form, "target": str(place), "pages": len(pages), "files": len(files)})
    else:
        say(str(place))
        note(f"{len(pages)} pages as {form}")


@click.command("lint")
@click.option("--fix", is_flag=True, help="Put right what needs no decision; the rest is reported.")
@into_option
@json_option
@pass_invocation
def lint(invocation: Invocation, fix: bool, into: str | None, as_json: bool) -> int:
    """Look for what is wrong with the pages.

    Broken links, orphans, missing ways back, an index that is behind, days and pages that are not compiled, statements that were
    replaced, ended or contradicted, sources that are gone, duplicates, sparse pages, bad front matter. Exit code 7 where an error
    is among it.

    \b
    hindbrain wiki lint
    hindbrain wiki lint --fix
    hindbrain wiki lint --json
    """
    from hindbrain.wiki import lint as linting

    wiki = of_invocation(invocation, into)
    if fix:
        for path in wiki.fixed():
            note(f"fixed {printable(path)}")
    found = wiki.findings()
    if as_json:
        import json

        say_json(json.loads(linting.as_json(found)))
    else:
        say(linting.as_text(found).removesuffix("\n"))
    return exits.PROBLEMS if linting.exit_code(found) else exits.DONE
