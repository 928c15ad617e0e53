"""The repository itself: what it may say, what it promises to ship, what each stage may import."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scripts import scan_words

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "hindbrain"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
STAGES = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())


def test_no_file_names_what_the_repository_must_not_speak_of() -> None:
    assert scan_words.findings() == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://" + "py" + "pi.org/simple", 1), ("registry.npm" + "js.org", 1), ("PY" + "PI.ORG", 1),
        ("cat /wo" + "rk/main", 1), ("`../sha" + "red/x`", 1), ("# R" + "7 holds", 1), ("(S" + "4)", 1),
        ("B" + "3.1 shows", 1), ("/home/ada/work/project", 0), ("../shared_code/x", 0), ("an S3 bucket", 0),
        ("P1 and P14", 0), ("R2D2 aR7 b+S4/", 0),
    ],
)  # fmt: skip
def test_the_scan_finds_what_it_should_and_no_more(tmp_path: Path, text: str, found: int) -> None:
    (tmp_path / "a.md").write_text(f"first\n{text}\n")
    findings = scan_words.findings(tmp_path)
    assert len(findings) == found
    assert all(line.startswith("a.md:2: ") for line in findings)


def test_the_licence_is_mit() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert text.startswith("MIT License\n\nCopyright (c) ")
    assert "Hindbrain contributors" in text.split("\n")[2]
    assert PROJECT["project"]["license"] == "MIT"


def test_the_public_face_is_there() -> None:
    face = ["README.md", "LICENSE", "CHANGELOG.md", "AGENTS.md", "Makefile", "constraints.txt", "pyproject.toml",
            ".ci/run", "docs/configuration.md", "docs/glossary.md", "src/hindbrain/py.typed"]  # fmt: skip
    assert [name for name in face if not (ROOT / name).is_file()] == []
    scripts = [ROOT / ".ci" / "run", *(p for p in (ROOT / "scripts").iterdir() if p.is_file() and not p.suffix)]
    assert [path.name for path in scripts if not os.access(path, os.X_OK)] == []


def test_every_version_is_pinned_exactly() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9.]+", line)] == []
    pinned = {re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in lines}
    project = PROJECT["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"], *PROJECT["build-system"]["requires"]]
    assert {re.split(r"[\[<>=~! ]", name)[0].lower() for name in wanted} - pinned == set()


def test_every_stage_has_a_layer_row_and_a_contract() -> None:
    rows = re.findall(r"^\| (\w+) \|", (ROOT / "AGENTS.md").read_text("utf-8"), re.MULTILINE)
    contracts = {contract["id"]: contract for contract in PROJECT["tool"]["importlinter"]["contracts"]}
    assert set(STAGES) <= set(rows)
    assert set(STAGES) <= set(contracts)
    below = {f"hindbrain.{stage}" for stage in STAGES if stage != "serve"}
    assert set(contracts["serve"]["source_modules"]) == below
    assert set(contracts["third-party"]["source_modules"]) == below


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    return names


# Search by meaning, in modules that no hook loads; fastembed, faiss and pydantic-ai are extras and asked for where they are used.
BESIDES = {
    "recall": {"numpy", "fastembed", "faiss"}, "reason": {"pydantic_ai", "httpx2"}, "wiki": {"yaml", "markdown_it"},
    "adapters": {"langgraph", "llama_index", "pydantic_ai"},
}  # fmt: skip


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage != "serve"])
def test_a_stage_below_serve_uses_the_standard_library_alone(stage: str) -> None:
    allowed = sys.stdlib_module_names | {"hindbrain"} | BESIDES.get(stage, set())
    paths = [path for path in (PACKAGE / stage).rglob("*.py") if PACKAGE / "ledger" / "postgres" not in path.parents]
    foreign = {path.name: _imported(path) - allowed for path in paths}
    assert {name: names for name, names in foreign.items() if names} == {}


def test_every_package_is_a_stage_and_every_module_says_what_it_is() -> None:
    paths = list(PACKAGE.rglob("*.py"))
    assert [str(p.relative_to(ROOT)) for p in paths if not ast.get_docstring(ast.parse(p.read_bytes()))] == []
    words = {"utils", "util", "common", "helper", "helpers", "manager"}
    assert [str(p.relative_to(ROOT)) for p in PACKAGE.rglob("*") if p.stem in words] == []


def test_help_is_the_default_target_and_names_every_public_one() -> None:
    make = ["make", "--no-print-directory", "-C", str(ROOT)]
    shown = subprocess.run(make, capture_output=True, text=True, check=True).stdout
    listed = set(re.findall(r"^  ([a-z-]+) ", shown, re.MULTILINE))
    phony = set(re.findall(r"^\.PHONY: ([a-z-]+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert listed == phony
    assert {"setup", "run", "test", "test-fast", "test-versions", "check", "bench-hook", "clean"} <= listed


def test_continuous_integration_runs_the_command_the_readme_names() -> None:
    assert "```console\n$ make test\n```" in (ROOT / "README.md").read_text("utf-8")
    assert "\nmake test\n" in (ROOT / ".ci" / "run").read_text("utf-8")
