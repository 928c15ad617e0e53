"""Editing a settings text: what is added is in the file's own style, and taking it away gives every byte back."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.serve.install import hooks, json_edit
from hindbrain.serve.install.agents import CLAUDE_CODE, entry
from hindbrain.serve.install.json_spans import BOM, JsonSyntaxError, parse
from tests.serve.settings_styles import REFUSED, STYLES

COMMAND = ["/opt/a b/python", "-I", "-S", "/home/ünï/data dir/hook.py"]
EVENTS = [event.name for event in CLAUDE_CODE.events]


def ours(launcher: str) -> bool:
    return launcher == COMMAND[-1]


def added(text: str) -> hooks.Added:
    return hooks.with_hooks(text, COMMAND, CLAUDE_CODE, ours)


def removed(text: str, traces: hooks.Traces | None) -> str:
    return hooks.without_hooks(text, CLAUDE_CODE, ours, traces)[0]


def meaning(text: str) -> Any:
    return {} if hooks.is_blank(text) else json.loads(text.removeprefix(BOM))


def expected(text: str) -> Any:
    """The old meaning with our groups behind the others."""
    document = meaning(text)
    for event in CLAUDE_CODE.events:
        groups = document.setdefault("hooks", {}).setdefault(event.name, [])
        groups.append({"hooks": [entry(COMMAND, CLAUDE_CODE, event)]})
    return document


@pytest.mark.parametrize("name", STYLES)
def test_everything_else_keeps_its_meaning_and_comes_back_byte_by_byte(name: str) -> None:
    text = STYLES[name].decode()
    done = added(text)
    assert meaning(done.text) == expected(text)
    assert done.added == tuple(EVENTS)
    again = added(done.text)
    assert (again.text, again.added, again.updated) == (done.text, (), ())
    if not hooks.is_blank(text):  # an emptied file gets its white space back from the backup
        assert removed(done.text, done.traces) == text


@pytest.mark.parametrize("name", [name for name, (_, message) in REFUSED.items() if "UTF-8" not in message])
def test_what_is_not_settings_is_refused_with_its_place(name: str) -> None:
    data, message = REFUSED[name]
    with pytest.raises((JsonSyntaxError, hooks.WrongShape)) as caught:
        added(data.decode())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ('{\n\t"a": 1\n}', '\n\t"hooks": {\n\t\t"SessionStart": [\n\t\t\t{\n\t\t\t\t"hooks": [\n'),
        ('{\r\n    "a": 1\r\n}', ',\r\n    "hooks": {\r\n        "SessionStart": [\r\n            {\r\n'),
        ('{"a":1}', '{"a":1,"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":'),
        ('{"a": 1, "b": 2}', '"b": 2, "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": '),
        ('{\n  "a" : 1\n}', ',\n  "hooks" : {\n    "SessionStart" : [\n'),
        ("{}", '{\n  "hooks": {\n    "SessionStart": [\n      {\n'),
        ('{\n    "a": 1\n  , "b": 2\n}', '\n  , "hooks": {\n'),
        ('{\n  "hooks": {"Stop": []}\n}', '{"Stop": [\n'),
    ],
)
def test_what_is_added_is_in_the_files_own_style(text: str, piece: str) -> None:
    assert piece in added(text).text


def test_a_hook_with_another_interpreter_is_updated_where_it_is_and_keeps_what_the_user_set() -> None:
    old = added('{\n  "model": "x"\n}\n').text.replace("/opt/a b/python", "/old/python").replace('"timeout": 15', '"timeout": 60')
    done = added(old)
    assert (done.added, done.updated) == ((), tuple(EVENTS))
    assert done.text == old.replace("/old/python", "/opt/a b/python")


def test_the_shell_form_is_known_as_ours_and_becomes_the_form_without_a_shell() -> None:
    line = "'/opt/a b/python' -I -S '/home/ünï/data dir/hook.py' claude-code Stop"
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line, "timeout": 9}]}]}})
    done = added(text)
    assert done.updated == ("Stop",) and "Stop" not in done.added
    [group] = meaning(done.text)["hooks"]["Stop"]
    args = [*COMMAND[1:], "claude-code", "Stop"]
    assert group == {"hooks": [{"type": "command", "command": COMMAND[0], "timeout": 9, "args": args}]}
    assert meaning(removed(text, None)) == {}


def test_doubles_of_one_hook_become_one() -> None:
    text = added("{}").text
    document = meaning(text)
    document["hooks"]["Stop"] *= 3
    doubled = json.dumps(document)
    assert meaning(added(doubled).text) == meaning(text)


def test_hooks_of_another_home_and_of_look_alikes_stay() -> None:
    other = hooks.with_hooks("{}", ["/p", "-I", "-S", "/other/hook.py"], CLAUDE_CODE, ours).text
    alike = json.dumps({"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": COMMAND[0], "args": [*COMMAND[1:], "another-agent", "Stop"]},
        {"type": "command", "command": "cat", "args": ["-I", COMMAND[-1] + ".bak", "claude-code"]},
        {"type": "command", "command": f"echo '{COMMAND[-1]} claude-code'"},
    ]}]}})  # fmt: skip
    for text in (other, alike):
        done = added(text)
        assert done.added == tuple(EVENTS)
        assert removed(done.text, done.traces) == text
        assert removed(text, None) == text


def test_our_hook_inside_a_group_of_somebody_else_is_taken_out_alone() -> None:
    mine = entry(COMMAND, CLAUDE_CODE, CLAUDE_CODE.events[0])
    theirs = {"type": "command", "command": "x"}
    text = json.dumps({"hooks": {"SessionStart": [{"matcher": "m", "hooks": [theirs, mine, theirs]}, {"hooks": [mine]}]}})
    assert meaning(removed(text, None)) == {"hooks": {"SessionStart": [{"matcher": "m", "hooks": [theirs, theirs]}]}}


def test_without_traces_containers_that_we_emptied_go_and_others_stay() -> None:
    text = '{\n  "a": 1,\n  "hooks": {\n    "Notification": []\n  }\n}\n'
    assert removed(added(text).text, None) == text
    assert removed(added('{\n  "a": 1\n}\n').text, None) == '{\n  "a": 1\n}\n'


# Random documents, written down in random ways.

_KEYS = st.sampled_from(["a", "hooks", "Stop", "args", "é", "", "x y", 'q"', "\\", "\u2028"])
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3), max_leaves=8
)
_GROUPS = st.lists(_VALUES | st.fixed_dictionaries({"hooks": st.lists(_VALUES, max_size=2)}), max_size=3)
_HOOKS = st.dictionaries(st.sampled_from([*EVENTS[:5], "Notification"]), _GROUPS, max_size=4)
_PLAIN = st.dictionaries(_KEYS.filter(lambda key: key != "hooks"), _VALUES, max_size=4)
_DOCUMENTS = _PLAIN | st.builds(
    lambda before, found, after: {**before, "hooks": found, **after}, _PLAIN, _HOOKS, _PLAIN
)


def written(value: Any, chance: random.Random, depth: int = 0) -> str:
    """A value as JSON with white space anywhere it may be, and letters escaped or not."""

    def gap() -> str:
        return "".join(chance.choices(["", "", " ", "\n", "\t", "\r\n", "\n" + "  " * depth], k=chance.choice([0, 1, 2])))

    def spaced(item: Any) -> str:
        return gap() + written(item, chance, depth + 1) + gap()

    if isinstance(value, dict):
        return "{" + (",".join(f"{spaced(key)}:{spaced(item)}" for key, item in value.items()) or gap()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(spaced(item) for item in value) or gap()) + "]"
    return json.dumps(value, ensure_ascii=chance.random() < 0.5)


@st.composite
def texts(draw: st.DrawFn) -> str:
    document = draw(_DOCUMENTS)
    if draw(st.booleans()):
        text = written(document, random.Random(draw(st.integers(0, 1 << 30))))
    else:
        indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
        separators = draw(st.sampled_from([None, (",", ":"), (", ", " : ")]))
        text = json.dumps(document, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
        text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", BOM])) + text + draw(st.sampled_from(["", "\n", "\r\n", " \n\n"]))


def check_identity(text: str) -> None:
    done = added(text)
    assert meaning(done.text) == expected(text)
    assert added(done.text).text == done.text
    assert removed(done.text, done.traces) == text


@settings(max_examples=30, deadline=None)
@given(texts())
def test_adding_and_removing_is_the_identity_on_any_document(text: str) -> None:
    check_identity(text)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(texts())
def test_adding_and_removing_is_the_identity_on_many_documents(text: str) -> None:
    check_identity(text)


@settings(max_examples=25, deadline=None)
@given(texts(), st.integers(0, 20))
def test_what_the_user_adds_afterwards_survives_the_removal(text: str, place: int) -> None:
    done = added(text)
    root = parse(done.text)
    style = json_edit.style_of(done.text, root)
    if place % 2:
        edited = json_edit.append(done.text, root, style, "added later", [1])
        assert meaning(removed(edited, done.traces)) == {**meaning(text), "added later": [1]}
        return
    event = EVENTS[place % len(EVENTS)]
    groups = root.members[root.index("hooks") or 0].value.get(event)
    assert groups is not None
    edited = json_edit.append(done.text, groups, style, None, {"hooks": ["later"]})
    left = meaning(text)
    left.setdefault("hooks", {}).setdefault(event, []).append({"hooks": ["later"]})
    assert meaning(removed(edited, done.traces)) == left


@settings(max_examples=50, deadline=None)
@given(texts())
def test_the_spans_hold_what_a_parser_of_the_standard_library_finds(text: str) -> None:
    root = parse(text)
    assert root.value(text) == meaning(text)
    for member in root.members:
        assert json.loads(text[member.key_start : member.key_end]) == member.key


@settings(max_examples=60, deadline=None)
@given(texts(), st.integers(0, 10_000), st.sampled_from(["", ",", "}", '"', "//", "\x00", "nul"]))
def test_a_spoiled_text_is_refused_exactly_when_the_standard_library_refuses_it(text: str, place: int, piece: str) -> None:
    text = text.removeprefix(BOM)
    at = place % (len(text) + 1)
    spoiled = text[:at] + piece + text[at + 1 :]
    try:
        json.loads(spoiled, parse_constant=_refuse)
        sound = True
    except ValueError:
        sound = False
    try:
        parse(spoiled)
    except JsonSyntaxError:
        assert not sound
    else:
        assert sound


def _refuse(name: str) -> None:
    raise ValueError(name)
