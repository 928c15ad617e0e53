"""Tool calls become text a person can read and search, and a trace of what was touched."""

from __future__ import annotations

import pytest

from hindbrain.capture.event import Json
from hindbrain.capture.tool_text import call_text, result_text, trace

CALLS: list[tuple[str, Json, str, dict[str, Json]]] = [
    ("Bash", {"command": "ls -l"}, "Bash: ls -l", {"command": "ls -l"}),
    ("Bash", {"command": "ls", "timeout": 5}, 'Bash: ls\n{"timeout":5}', {"command": "ls"}),
    ("Bash", {"command": "rm -f a.py"}, "Bash: rm -f a.py",
     {"command": "rm -f a.py", "file": "a.py", "action": "deleted"}),
    ("Bash", {"command": "rm a.py b.py"}, "Bash: rm a.py b.py", {"command": "rm a.py b.py"}),
    ("Bash", {"command": "rm a.py; ls"}, "Bash: rm a.py; ls", {"command": "rm a.py; ls"}),
    ("Edit", {"file_path": "/p/a.py", "old_string": "a", "new_string": "b\nc"},
     'Edit: /p/a.py\n{"old_string":"a","new_string":"b\\nc"}', {"file": "/p/a.py", "action": "modified", "lines": 2}),
    ("Write", {"file_path": "/p/é.py", "content": "x\ny\n"}, 'Write: /p/é.py\n{"content":"x\\ny\\n"}',
     {"file": "/p/é.py", "action": "created", "lines": 2}),
    ("MultiEdit", {"file_path": "/a", "edits": [{"new_string": "1"}, {"new_string": "2\n3"}]},
     'MultiEdit: /a\n{"edits":[{"new_string":"1"},{"new_string":"2\\n3"}]}',
     {"file": "/a", "action": "modified", "lines": 3}),
    ("NotebookEdit", {"notebook_path": "/n.ipynb", "new_source": "x"}, 'NotebookEdit: /n.ipynb\n{"new_source":"x"}',
     {"file": "/n.ipynb", "action": "modified", "lines": 1}),
    ("Read", {"file_path": "/a"}, "Read: /a", {"file": "/a", "action": "read"}),
    ("Read", {"file_path": "/a", "limit": 20}, 'Read: /a\n{"limit":20}', {"file": "/a", "action": "read", "lines": 20}),
    ("Agent", {"description": "look", "prompt": "p", "subagent_type": "Explore"},
     'Agent: look\n{"prompt":"p","subagent_type":"Explore"}', {"subagent": "Explore", "task": "look"}),
    ("Task", {"description": "look"}, "Task: look", {"task": "look"}),
    ("TodoWrite", {"todos": [{"content": "a", "status": "completed"}, {"content": "b"}, 7]},
     'TodoWrite: {"todos":[{"content":"a","status":"completed"},{"content":"b"},7]}',
     {"task": ["completed: a", "open: b"]}),
    ("mcp__x__y", {"query": "q"}, "mcp__x__y: q", {}),
    ("", {}, "tool:", {}),
    ("Bash", [1, 2], "Bash: [1,2]", {}),
    ("Bash", "ls", "Bash: ls", {}),
    ("Bash", None, "Bash:", {}),
    ("Bash", {"command": 7}, 'Bash: {"command":7}', {}),
    ("Edit", {"file_path": None, "edits": 3}, 'Edit: {"file_path":null,"edits":3}', {}),
    ("TodoWrite", {"todos": "x"}, 'TodoWrite: {"todos":"x"}', {}),
]  # fmt: skip

RESULTS: list[tuple[Json, str]] = [
    (None, ""),
    ("plain", "plain"),
    ({"stdout": "out", "stderr": "", "interrupted": False}, "out"),
    ({"stdout": "out", "stderr": "err"}, "out\nerr"),
    ({"stdout": "aGVsbG8=", "isImage": True}, "[image]"),
    ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
    ([{"type": "image", "source": {"data": "aGk="}}, "x", {"type": "odd", "n": 1}], '[image]\nx\n{"type":"odd","n":1}'),
    ({"content": [{"type": "text", "text": "a"}]}, "a"),
    ({"type": "text", "file": {"filePath": "/a", "content": "lines"}}, "lines"),
    ({"type": "image", "file": {"base64": "aGk="}}, "[image]"),
    ({"filePath": "/a", "ok": True}, '{"filePath":"/a","ok":true}'),
    (7, "7"),
    (True, "true"),
]


@pytest.mark.parametrize(("tool", "given", "text", "told"), CALLS)
def test_a_call_reads_well_and_tells_what_it_touches(tool: str, given: Json, text: str, told: dict[str, Json]) -> None:
    assert call_text(tool, given) == text
    assert trace(tool, given) == told


@pytest.mark.parametrize(("response", "text"), RESULTS)
def test_a_result_is_what_a_person_would_call_the_output(response: Json, text: str) -> None:
    assert result_text(response) == text


def test_a_write_over_a_file_that_was_there_is_no_creation() -> None:
    given: Json = {"file_path": "/a", "content": "x"}
    assert trace("Write", given, {"type": "update"})["action"] == "modified"
    assert trace("Write", given, {"type": "create"})["action"] == "created"
