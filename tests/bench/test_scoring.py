"""The figures of the benches: what counts as found, and what a table looks like."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from bench import scoring
from bench.conversations import LongMemEval, Question
from bench.peers import report


def figures(name: str, question: Question, ranked: list[str]) -> dict[str, float]:
    scores = scoring.new_scores()
    scoring.judge(scores, name, question, ranked)
    return {key: values[0] for key, values in scores.items()}


def test_the_first_two_ranks_are_not_discounted() -> None:
    assert scoring.ndcg(["a", "x"], ["a"], 10) == scoring.ndcg(["x", "a"], ["a"], 10) == 1.0
    assert scoring.ndcg(["x", "y", "a"], ["a"], 10) == 1 / math.log2(3)
    assert scoring.ndcg(["a", "b", "x", "c"], ["a", "b", "c"], 10) == (2 + 1 / math.log2(4)) / (2 + 1 / math.log2(3))
    assert scoring.ndcg(["x"] * 10 + ["a"], ["a"], 10) == 0.0


def test_turns_are_judged_by_the_share_that_is_found() -> None:
    ranked = ["D1:1", "D9:9", "D1:2", "D2:2", "D2:3", "D1:3"]
    found = figures("locomo", Question("q", "?", frozenset({"D1:1", "D1:2", "D1:3", "D5:5"})), ranked)
    ideal = 2 + 1 / math.log2(3) + 1 / math.log2(4)
    assert found == {"r1": 0.25, "r5": 0.5, "r10": 0.75, "ndcg10": (1 + 1 / math.log2(3) + 1 / math.log2(6)) / ideal}


def test_a_session_stands_where_its_first_hit_stands() -> None:
    question = Question("q", "?", frozenset({"old#2", "new#0"}), newest="new")
    found = figures("r48", question, ["other#1", "new#0", "other#2", "new#4", "old#2"])
    assert {name: found[name] for name in ("any1", "all1", "any5", "all5", "newest_first")} == {
        "any1": 0.0, "all1": 0.0, "any5": 1.0, "all5": 1.0, "newest_first": 1.0,
    }  # fmt: skip
    assert found["ndcg10"] == (1 + 1 / math.log2(3)) / 2
    assert figures("r48", question, ["old#2", "new#0"])["newest_first"] == 0.0
    assert figures("r48", question, [])["newest_first"] == 0.0


def test_a_figure_without_questions_is_none_and_parts_are_put_together() -> None:
    scores = scoring.merged([{"r1": [1.0, 0.0]}, {"r1": [1.0]}])
    scoring.judge_block(scores, Question("q", "?", frozenset({"a", "b"})), 1000, ["b", "c"])
    assert scoring.per_cent(scores, ["r1", "budget_recall_1000", "r5"]) == {"r1": 66.67, "budget_recall_1000": 50.0, "r5": None}


def test_questions_about_the_present_know_the_session_that_changed_the_answer_last() -> None:
    said = [{"role": "user", "content": text, "has_answer": True} for text in ("it is A", "it is B")]
    asked = {
        "question_id": "u1", "question_type": "knowledge-update", "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/01 (Mon) 10:00", "2023/06/01 (Thu) 10:00"], "haystack_sessions": [[said[0]], [said[1]]],
    }  # fmt: skip
    for text, newest in (("What is it?", "s2"), ("What was it before?", "")):
        [(question, evidence)] = LongMemEval([{**asked, "question": text}]).questions
        assert (question, evidence) == (Question("u1", text, frozenset({"s1#0", "s2#0"}), newest), {"s1", "s2"})


def test_the_table_of_peers_names_who_could_not_be_measured_and_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = tmp_path / "benchmarks.md"
    document.write_text("# B\n<!-- begin peers -->\nold\n<!-- end peers -->\nafter\n", "utf-8")
    monkeypatch.setattr(report, "DOCUMENT", document)
    told: dict[str, dict[str, Any]] = {
        "one": {
            "locomo": {"r10": 70.0, "ndcg10": 60.5}, "r48": {"all5": 90.0, "ndcg10": 91.0},
            "pool": {"all5": 71.0, "ndcg10": 79.0},
            "ingest_per_s": 1200, "query_ms_p50": 5.5, "query_ms_p95": 9.25, "memory_mb": 80, "disk_mb": 7.5,
            "hook": {"prompt answered": {"ms": 20.5, "ratio": 1.5}},
        },
        "two": {"not_measured": "cannot be installed: no such | package"},
    }  # fmt: skip
    report.write("peers", report.peers_table(told, 2600))
    lines = document.read_text("utf-8").splitlines()
    assert lines[:2] + lines[-2:] == ["# B", "<!-- begin peers -->", "<!-- end peers -->", "after"]
    assert lines[-4:-2] == [
        "| one | 70.0 / 60.5 | 90.0 / 91.0 | 71.0 / 79.0 | 1,200 | 5.5 / 9.25 | 80 | 7.5 | prompt answered 20.5 ms, x 1.5 |",
        "| two | not measured: cannot be installed: no such / package | | | | | | | |",
    ]
    with pytest.raises(ValueError, match="found 0 times"):
        report.write("others", "")
