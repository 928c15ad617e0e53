"""A tool's input and response -> one readable, searchable text each, and a trace of what was touched.

The trace is what a later session asks first: which files, which commands, what failed, who was sent to do what. It says
only what the tool's name and fields say; no command line is interpreted beyond a plain `rm`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hindbrain.capture.event import Json
from hindbrain.capture.loose import compact, fields, short, text_of, words

IMAGE: Final = "[image]"

# The field that says most about a call stands first in its text.
_LEADING: Final = ("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "skill", "description")
_SHELL_SIGNS: Final = frozenset(";|&<>$*?`'\"\\(){}\n")


def call_text(tool: str, tool_input: Json) -> str:
    """`Bash: ls -l`, then the other fields of the input as JSON."""
    given = fields(tool_input)
    leading = next((field for field in _LEADING if words(given.get(field))), "")
    rest = {field: value for field, value in given.items() if field != leading}
    if not leading:
        return f"{tool or 'tool'}: {text_of(tool_input) if tool_input != {} else ''}".strip()
    first = f"{tool or 'tool'}: {words(given[leading])}"
    return f"{first}\n{compact(rest)}" if rest else first


def result_text(response: Json) -> str:
    """What a person would call the output: stdout and stderr, text blocks, file content, else the response as JSON."""
    if isinstance(response, list):
        return blocks_text(response)
    if not isinstance(response, dict):
        return text_of(response)
    if response.get("isImage") is True or response.get("type") == "image":
        return IMAGE
    if isinstance(response.get("stdout"), str) or isinstance(response.get("stderr"), str):
        return "\n".join(part for part in (words(response.get("stdout")), words(response.get("stderr"))) if part)
    content = response.get("content")
    if isinstance(content, list):
        return blocks_text(content)
    file_content = fields(response.get("file")).get("content")
    if isinstance(file_content, str):
        return file_content
    return compact(response)


def blocks_text(blocks: list[Json]) -> str:
    """The texts of content blocks, images as a mark, anything else as JSON."""
    return "\n".join(part for part in map(_block_text, blocks) if part)


def _block_text(block: Json) -> str:
    given = fields(block)
    if isinstance(given.get("text"), str):
        return words(given["text"])
    return IMAGE if given.get("type") == "image" else text_of(block)


def trace(tool: str, tool_input: Json, response: Json = None) -> dict[str, Json]:
    """Files, command, subagent and task of a call, as far as its name and fields tell."""
    given = fields(tool_input)
    if tool in ("Write", "Edit", "MultiEdit", "NotebookEdit", "Read"):
        return _file_trace(tool, given, fields(response))
    if tool == "Bash":
        return short(command=words(given.get("command"))) | _removed(words(given.get("command")))
    if tool in ("Agent", "Task"):
        return short(subagent=words(given.get("subagent_type")), task=words(given.get("description")))
    if tool == "TodoWrite":
        return short(task=_todos(given.get("todos")))
    return {}


def _file_trace(tool: str, given: Mapping[str, Json], response: Mapping[str, Json]) -> dict[str, Json]:
    path = words(given.get("file_path")) or words(given.get("notebook_path"))
    if not path:
        return {}
    return short(file=path, action=_action(tool, response), lines=_lines(tool, given))


def _action(tool: str, response: Mapping[str, Json]) -> str:
    if tool == "Read":
        return "read"
    return "created" if tool == "Write" and response.get("type") != "update" else "modified"


def _lines(tool: str, given: Mapping[str, Json]) -> int | None:
    """How many lines were written, or asked for."""
    if tool == "Read":
        limit = given.get("limit")
        return limit if isinstance(limit, int) and not isinstance(limit, bool) else None
    edits = given.get("edits")
    parts = [fields(edit).get("new_string") for edit in edits] if isinstance(edits, list) else []
    parts += [given.get(field) for field in ("content", "new_string", "new_source")]
    written = [words(part) for part in parts if words(part)]
    return sum(part.count("\n") + (not part.endswith("\n")) for part in written) if written else None


def _removed(command: str) -> dict[str, Json]:
    parts = command.split()
    paths = [part for part in parts[1:] if not part.startswith("-")]
    if parts[:1] != ["rm"] or len(paths) != 1 or not _SHELL_SIGNS.isdisjoint(command):
        return {}
    return short(file=paths[0], action="deleted")


def _todos(todos: Json) -> list[Json]:
    items = [fields(todo) for todo in todos] if isinstance(todos, list) else []
    named = [item for item in items if words(item.get("content"))]
    return [f"{words(item.get('status')) or 'open'}: {words(item['content'])}" for item in named]
