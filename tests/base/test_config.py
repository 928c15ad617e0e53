"""Settings from four places, checked once, each with its source."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base import config_file
from hindbrain.base.config import Config, Source, find_home, load
from hindbrain.base.errors import ConfigError, StorageError, UnsafePath
from hindbrain.base.settings import BY_NAME, SETTINGS, Value, mask_database

PASSWORD = "hunter" + "2x"


def home_with(tmp_path: Path, text: str | bytes) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return home


def loaded(home: Path, flags: dict[str, object] | None = None, /, **environ: str) -> Config:
    return load(flags=flags or {}, environ={"HOME": "/home/ada", "HINDBRAIN_HOME": str(home), **environ})


def refusal(home: Path, flags: dict[str, object] | None = None, /, **environ: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        loaded(home, flags, **environ)
    return caught.value


def test_without_any_source_every_value_is_its_default(tmp_path: Path) -> None:
    config = loaded(tmp_path)
    assert dict(config.values) == {
        "home": str(tmp_path), "database": "sqlite", "tenant": "main", "embedder": "static", "embedder_url": "",
        "embedder_key": "", "embedder_timeout": 30, "worker.idle_seconds": 300, "capture.transcript_roots": (),
        "capture.catch_up": True, "journal.keep_segments": 2, "jobs.keep_days": 14, "log.level": "info",
        "model": "none", "model_url": "", "model_key": "", "model_timeout": 120, "model_night": False,
        "model_price_input": -1, "model_price_output": -1, "model_daily_tokens": 500_000, "model_daily_cost": 0.5,
        "model_project_daily_tokens": 0, "model_project_daily_cost": 0, "model_kind_daily_tokens": 0, "model_kind_daily_cost": 0,
        "timezone": "UTC", "wiki.enabled": True, "wiki.every": 60,
    }  # fmt: skip
    assert {str(config.source_of(s.name)) for s in SETTINGS[1:]} == {"default"}
    assert config.source_of("home") == Source("environment", "HINDBRAIN_HOME")


def test_later_sources_win_one_by_one(tmp_path: Path) -> None:
    home = home_with(tmp_path, "[journal]\nkeep_segments = 3\n")
    in_file = loaded(home)
    in_environment = loaded(home, HINDBRAIN_JOURNAL_KEEP_SEGMENTS="4")
    in_flag = loaded(home, {"journal.keep_segments": "5"}, HINDBRAIN_JOURNAL_KEEP_SEGMENTS="4")
    found = [(c.keep_segments, str(c.source_of("journal.keep_segments"))) for c in (in_file, in_environment, in_flag)]
    assert found == [
        (3, f"file {home}/config.toml, line 2"),
        (4, "environment HINDBRAIN_JOURNAL_KEEP_SEGMENTS"),
        (5, "flag --journal-keep-segments"),
    ]


def test_every_setting_can_be_set_in_the_file(tmp_path: Path) -> None:
    home = home_with(
        tmp_path,
        'database = "postgresql://ada@db/memory"\ntenant = "shop"\nworker.idle_seconds = 0.5\njobs.keep_days = 2\n'
        'embedder = "openai:org/m-1"\nembedder_url = "https://models.example/base/"\nembedder_key = "k"\nembedder_timeout = 2.5\n'
        'model = "anthropic:claude-haiku-4-5,openai:m"\nmodel_url = ",http://127.0.0.1:8080/v1/"\nmodel_key = "k1,k2"\n'
        'model_timeout = 9.5\nmodel_night = true\nmodel_price_input = 0.1\nmodel_price_output = 0\nmodel_daily_tokens = 1\n'
        'model_daily_cost = 2\nmodel_project_daily_tokens = 3\nmodel_project_daily_cost = 4\nmodel_kind_daily_tokens = 5\n'
        'model_kind_daily_cost = 6.5\ntimezone = "Europe/Madrid"\n[wiki]\nenabled = false\nevery = 5\n'
        '[capture]\ntranscript_roots = ["/srv/a", "~/b"]\ncatch_up = false\n'
        '[journal]\nkeep_segments = 0\n[log]\nlevel = "debug"\n',
    )
    assert dict(loaded(home).values) == {
        "home": str(home), "database": "postgresql://ada@db/memory", "tenant": "shop", "worker.idle_seconds": 0.5,
        "capture.transcript_roots": ("/srv/a", "/home/ada/b"), "capture.catch_up": False, "journal.keep_segments": 0,
        "jobs.keep_days": 2, "log.level": "debug", "embedder": "openai:org/m-1", "embedder_url": "https://models.example/base",
        "embedder_key": "k", "embedder_timeout": 2.5,
        "model": "anthropic:claude-haiku-4-5,openai:m", "model_url": ",http://127.0.0.1:8080/v1", "model_key": "k1,k2",
        "model_timeout": 9.5, "model_night": True, "model_price_input": 0.1, "model_price_output": 0, "model_daily_tokens": 1,
        "model_daily_cost": 2, "model_project_daily_tokens": 3, "model_project_daily_cost": 4, "model_kind_daily_tokens": 5,
        "model_kind_daily_cost": 6.5, "timezone": "Europe/Madrid", "wiki.enabled": False, "wiki.every": 5,
    }  # fmt: skip


def test_every_setting_can_be_set_by_a_variable(tmp_path: Path) -> None:
    config = loaded(
        tmp_path, HINDBRAIN_DATABASE="postgres://db/x", HINDBRAIN_WORKER_IDLE_SECONDS="60",
        HINDBRAIN_LOG_LEVEL="WARNING", HINDBRAIN_CAPTURE_TRANSCRIPT_ROOTS="/a:~/b:",
        HINDBRAIN_CAPTURE_CATCH_UP="no", HINDBRAIN_JOURNAL_KEEP_SEGMENTS="1",
    )  # fmt: skip
    assert (config.database, config.worker_idle_seconds, config.log_level) == ("postgres://db/x", 60, "warning")
    assert (config.transcript_roots, config.catch_up) == ((Path("/a"), Path("/home/ada/b")), False)
    assert config.keep_segments == 1


def test_an_empty_variable_is_as_good_as_none(tmp_path: Path) -> None:
    assert loaded(tmp_path, **{s.variable: "" for s in SETTINGS[1:]}).values == loaded(tmp_path).values


BAD: list[tuple[str, str, str]] = [
    ("worker.idle_seconds", "soon", "'soon'"), ("worker.idle_seconds", "-1", "-1"),
    ("worker.idle_seconds", "nan", "nan"), ("worker.idle_seconds", "inf", "inf"),
    ("worker.idle_seconds", "86401", "86401"), ("journal.keep_segments", "1.5", "'1.5'"),
    ("journal.keep_segments", "-1", "-1"), ("journal.keep_segments", "9" * 5000, "'999"),
    ("capture.catch_up", "maybe", "'maybe'"), ("capture.transcript_roots", "a:/b", "['a', '/b']"),
    ("capture.transcript_roots", "/a\x1b[31m", r"['/a\x1b[31m']"),
    ("log.level", "loud", "'loud'"), ("database", "mysql", "****"), ("database", "sqlite3", "****"),
    ("database", "postgresql://", "****"), ("database", "postgresql://host:port/x", "****"),
    ("embedder", "dynamic", "'dynamic'"), ("embedder", "openai", "'openai'"), ("embedder", "openai:", "'openai:'"),
    ("embedder", "ollama:a b", "'ollama:a b'"), ("embedder", "openai:m\r\nx: y", r"'openai:m\r\nx: y'"),
    ("embedder_url", "models.example", "****"), ("embedder_url", "ftp://models.example", "****"),
    ("embedder_url", f"https://ada:{PASSWORD}@m.example", "****"), ("embedder_url", f"https://m.example/?k={PASSWORD}", "****"),
    ("embedder_url", "http://m.example:99999", "****"), ("embedder_url", "http://m.example/a b", "****"),
    ("embedder_key", "two words", "****"), ("embedder_key", "line\r\nX-Other: 1", "****"), ("embedder_key", "k" * 2001, "****"),
    ("embedder_timeout", "0", "0"), ("embedder_timeout", "601", "601"),
    ("model", "gpt", "'gpt'"), ("model", "openai:a,openai:a", "'openai:a,openai:a'"), ("model", "openai:a,", "'openai:a,'"),
    ("model", "none,openai:a", "'none,openai:a'"), ("model", "claude-cli:a --tools", "'claude-cli:a --tools'"),
    ("model", ",".join(f"ollama:{n}" for n in range(9)), "'ollama:0"), ("model_url", f"http://a,https://u:{PASSWORD}@b", "****"),
    ("model_key", f"{PASSWORD} x", "****"), ("model_daily_tokens", "-1", "-1"), ("model_daily_cost", "nan", "nan"),
    ("timezone", "../etc/passwd", "'../etc/passwd'"), ("timezone", "/etc/localtime", "'/etc/localtime'"),
    ("timezone", "a b", "'a b'"), ("wiki.every", "0", "0"), ("wiki.enabled", "perhaps", "'perhaps'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "shown"), BAD)
def test_a_bad_variable_names_setting_value_source_and_what_is_allowed(
    tmp_path: Path, name: str, text: str, shown: str
) -> None:
    variable = BY_NAME[name].variable
    error = refusal(tmp_path, **{variable: text})
    assert error.message.startswith(f"bad value for {name}: {shown}")
    assert error.message.endswith(f"(from environment {variable})")
    assert (error.hint, error.exit_code) == (f"allowed: {BY_NAME[name].allowed}", 2)
    assert len(error.message) < 400


BAD_IN_FILE: list[tuple[str, str]] = [
    ("worker.idle_seconds", '"60"'), ("worker.idle_seconds", "true"), ("worker.idle_seconds", "nan"),
    ("worker.idle_seconds", "1979-05-27"), ("journal.keep_segments", "2.0"), ("journal.keep_segments", "false"),
    ("journal.keep_segments", "0x" + "f" * 5000), ("capture.catch_up", "1"), ("capture.catch_up", '"yes"'),
    ("capture.transcript_roots", '"/a"'), ("capture.transcript_roots", '["a"]'), ("capture.transcript_roots", "[1]"),
    ("capture.transcript_roots", r'["/a\u0000"]'), ("log.level", "7"), ("log.level", '"INFO"'), ("database", "[]"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "toml"), BAD_IN_FILE)
def test_a_bad_value_in_the_file_is_named_with_its_line(tmp_path: Path, name: str, toml: str) -> None:
    home = home_with(tmp_path, f"# mine\n{name} = {toml}\n")
    error = refusal(home)
    assert error.message.startswith(f"bad value for {name}: ")
    assert error.message.endswith(f"(from file {home}/config.toml, line 2)")
    assert len(error.message) < 400 + len(str(home))


def test_a_bad_flag_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path, {"log.level": "x"}).message == "bad value for log.level: 'x' (from flag --log-level)"


@pytest.mark.parametrize(
    ("toml", "name", "hint"),
    [
        ("[worker]\nidle_second = 1", "worker.idle_second", "did you mean worker.idle_seconds?"),
        ("worker = 3", "worker", "did you mean worker.idle_seconds?"),
        ("databse = 'sqlite'", "databse", "did you mean database?"),
        ("[zzz.q]\nx = 1", "zzz", "settings: " + ", ".join(BY_NAME)),
        ("[log.level]\nx = 1", "log.level", "allowed: debug, info, warning or error"),
    ],
)
def test_an_unknown_name_in_the_file_is_an_error_with_a_suggestion(
    tmp_path: Path, toml: str, name: str, hint: str
) -> None:
    error = refusal(home_with(tmp_path, toml))
    assert name in error.message
    assert error.hint == hint


def test_the_home_cannot_be_set_in_the_file_that_is_found_through_it(tmp_path: Path) -> None:
    error = refusal(home_with(tmp_path, 'home = "/elsewhere"'))
    assert error.hint == "use --home or the variable HINDBRAIN_HOME"


@pytest.mark.parametrize(
    ("data", "position"),
    [
        (b"[worker\n", "line 1"),
        (b"a = 1\n\nb = = 2\n", "line 3, column 5"),
        (b"a = 1\na = 2\n", "line 2"),
        (b"# fine\n# \xff\n", "line 2: byte 9 is not UTF-8"),
        (b"x = " + b"9" * 5000, "5000 digits"),
        (b"x = " + b"[" * 100_000, ""),
        (b"\x00", "line 1"),
    ],
)
def test_broken_toml_names_file_and_position(tmp_path: Path, data: bytes, position: str) -> None:
    home = home_with(tmp_path, data)
    error = refusal(home)
    assert error.message.startswith(f"cannot read {home}/config.toml")
    assert position in error.message


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    assert loaded(home_with(tmp_path, b"\xef\xbb\xbf[log]\nlevel = 'error'\n")).log_level == "error"


def test_a_link_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    home = home_with(tmp_path, "")
    (tmp_path / "target").write_text("[log]\nlevel = 'debug'\n")
    (home / "config.toml").unlink()
    (home / "config.toml").symlink_to(tmp_path / "target")
    with pytest.raises(UnsafePath):
        loaded(home)


def test_a_pipe_in_place_of_the_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.toml")
    with pytest.raises(UnsafePath):
        loaded(tmp_path)


def test_a_file_too_large_to_be_ours_is_refused(tmp_path: Path) -> None:
    home = home_with(tmp_path, b"#" * (config_file.LIMIT + 1))
    with pytest.raises(StorageError):
        loaded(home)


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has its own place")
@pytest.mark.parametrize(
    ("environ", "home"),
    [
        ({"HOME": "/home/ada"}, "/home/ada/.local/share/hindbrain"),
        ({"HOME": "/home/ada", "XDG_DATA_HOME": "/data"}, "/data/hindbrain"),
        ({"HOME": "/home/ada", "XDG_DATA_HOME": "relative"}, "/home/ada/.local/share/hindbrain"),
        ({"HOME": "/home/ada", "HINDBRAIN_HOME": "~/memory"}, "/home/ada/memory"),
        ({"HOME": "/home/ada", "HINDBRAIN_HOME": "/a/../b"}, "/b"),
    ],
)
def test_the_home_is_found_by_the_rules_of_the_platform(environ: dict[str, str], home: str) -> None:
    assert find_home(environ=environ)[0] == Path(home)


def test_a_relative_home_is_refused_in_a_variable_and_resolved_in_a_flag() -> None:
    with pytest.raises(ConfigError, match="bad value for home: 'here'"):
        find_home(environ={"HOME": "/home/ada", "HINDBRAIN_HOME": "here"})
    assert find_home("here", {"HOME": "/home/ada"})[0] == Path.cwd() / "here"
    with pytest.raises(ConfigError, match="bad value for home: ''"):
        find_home("", {"HOME": "/home/ada"})


def test_without_home_variable_the_user_database_is_asked() -> None:
    assert find_home(environ={})[0].is_absolute()


def test_a_postgresql_database_is_shown_masked(tmp_path: Path) -> None:
    config = loaded(tmp_path, HINDBRAIN_DATABASE=f"postgresql://ada:{PASSWORD}@db:5432/memory?sslpassword={PASSWORD}")
    assert config.shown("database") == "postgresql://ada:****@db:5432/memory?****"
    assert PASSWORD not in repr(config)
    assert (config.is_shared, loaded(tmp_path).is_shared) == (True, False)


def test_the_key_of_an_embedder_is_never_shown(tmp_path: Path) -> None:
    config = loaded(tmp_path, HINDBRAIN_EMBEDDER_KEY=PASSWORD, HINDBRAIN_EMBEDDER_URL="https://models.example")
    assert (config.embedder_key, config.shown("embedder_key")) == (PASSWORD, "****")
    assert (config.shown("embedder_url"), loaded(tmp_path).shown("embedder_key")) == ("https://models.example", "")
    assert PASSWORD not in repr(config)


@pytest.mark.parametrize("name", ["", "two words", "a" * 65, "a/b", "caf\u00e9", "a\n"])
def test_a_tenant_has_a_plain_name(tmp_path: Path, name: str) -> None:
    assert loaded(tmp_path).tenant == "main"
    assert loaded(tmp_path, HINDBRAIN_TENANT="team-7.dev_x").tenant == "team-7.dev_x"
    (tmp_path / "config.toml").write_text(f"tenant = {json.dumps(name)}\n")
    (tmp_path / "config.toml").chmod(0o600)
    with pytest.raises(ConfigError, match="bad value for tenant"):
        loaded(tmp_path)


@pytest.mark.parametrize(
    "text", [f"mysql://ada:{PASSWORD}@db/x", f"postgresql://ada:{PASSWORD}", f"host=db password={PASSWORD}", PASSWORD]
)
def test_a_password_in_a_bad_value_is_not_shown(tmp_path: Path, text: str) -> None:
    error = refusal(tmp_path, HINDBRAIN_DATABASE=text)
    assert PASSWORD not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=6), st.sampled_from(["", "?a=b"]))
def test_no_password_survives_the_mask(password: str, query: str) -> None:
    masked = mask_database(f"postgresql://u:{password}@h/d{query}")
    plain = "postgresql://u:****@h/d" + ("?****" if query else "")
    assert masked == ("postgresql://****" if set(password) & set("@/?#") else plain)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sqlite", "sqlite"),
        ("postgresql://h:5432/d", "postgresql://h:5432/d"),
        ("postgres://u@h/d", "postgres://u@h/d"),
        ("postgresql://u:12/a@h/d", "postgresql://****"),
        ("postgresql://u@h/d?password=a@b", "postgresql://****"),
        ("postgresql://h/d?password=ab", "postgresql://h/d?****"),
    ],
)
def test_the_mask_shows_what_is_certainly_no_secret(text: str, shown: str) -> None:
    assert mask_database(text) == shown


def test_unknown_variables_are_listed_and_the_internal_one_is_not(tmp_path: Path) -> None:
    config = loaded(tmp_path, HINDBRAIN_COLOUR="x", HINDBRAIN_A="", HINDBRAIN_GUARD="1", HINDBRAINS="y")
    assert config.unused == ("HINDBRAIN_A", "HINDBRAIN_COLOUR")


def test_a_configuration_cannot_be_changed(tmp_path: Path) -> None:
    config = loaded(tmp_path)
    with pytest.raises(FrozenInstanceError):
        config.home = Path("/")  # type: ignore[misc]
    with pytest.raises(TypeError):
        config.values["log.level"] = "x"  # type: ignore[index]


def test_the_defaults_pass_their_own_checks() -> None:
    for setting in SETTINGS[1:]:
        assert setting.check(setting.default) == setting.default


PLACE = Path("config.toml")
COMMENTED = """# top
database = "sqlite" # db # really

[worker]  # the worker
  idle_seconds=300# five minutes

[log]
"""


@pytest.mark.parametrize(
    ("name", "value", "old", "new"),
    [
        ("log.level", "debug", "", '[log]\nlevel = "debug"\n'),
        ("database", "sqlite", "", 'database = "sqlite"\n'),
        ("database", "sqlite", "[log]\n", 'database = "sqlite"\n[log]\n'),
        ("worker.idle_seconds", 1.5, COMMENTED, COMMENTED.replace("idle_seconds=300#", "idle_seconds = 1.5#")),
        ("database", "postgresql://h/d", COMMENTED, COMMENTED.replace('"sqlite"', '"postgresql://h/d"')),
        ("log.level", "error", COMMENTED, COMMENTED + 'level = "error"\n'),
        ("capture.transcript_roots", ("/a b", '/"\\'), "", '[capture]\ntranscript_roots = ["/a b", "/\\"\\\\"]\n'),
        ("capture.catch_up", False, "capture.catch_up = true\r\n", "capture.catch_up = false\n"),
    ],
)
def test_a_change_touches_one_line(name: str, value: Value, old: str, new: str) -> None:
    assert config_file.with_value(PLACE, old, name, value) == new


@pytest.mark.parametrize(
    ("name", "value", "old"),
    [
        ("capture.transcript_roots", ("/b",), '[capture]\ntranscript_roots = [\n  "/a",\n]\n'),
        ("log.level", "debug", 'log = { level = "info" }\n'),
        ("log.level", "debug", '"log"."level" = "info"\n'),
        ("worker.idle_seconds", 5, 'x = """\nworker.idle_seconds = 1\n"""\n'),
    ],
)
def test_a_layout_that_cannot_be_edited_safely_is_refused(name: str, value: Value, old: str) -> None:
    with pytest.raises(ConfigError, match="not safe to edit"):
        config_file.with_value(PLACE, old, name, value)


@given(
    st.permutations(["database = 'sqlite'", "worker.idle_seconds = 3", "#", "", "[log]\nlevel = 'info'", "[capture]"]),
    st.sampled_from([("database", "postgresql://h/d"), ("worker.idle_seconds", 9), ("log.level", "debug"),
                     ("capture.catch_up", False), ("journal.keep_segments", 7)]),
)  # fmt: skip
def test_a_change_keeps_everything_else_or_is_refused(lines: list[str], change: tuple[str, Value]) -> None:
    old, (name, value) = "\n".join(lines), change
    before = config_file.parse(PLACE, old)
    try:
        new = config_file.with_value(PLACE, old, name, value)
    except ConfigError as error:
        assert "not safe to edit" in error.message
    else:
        assert config_file.parse(PLACE, new) == before | {name: value}


def test_the_keys_and_addresses_of_several_models_belong_to_them_in_their_order(tmp_path: Path) -> None:
    chain = {"HINDBRAIN_MODEL": "anthropic:a,openai:b,ollama:c", "HINDBRAIN_MODEL_KEY": "k1", "HINDBRAIN_MODEL_URL": ",http://b"}
    config = loaded(tmp_path, **chain)
    assert config.model == ("anthropic:a", "openai:b", "ollama:c")
    assert (config.model_keys, config.model_urls) == (("k1", "", ""), ("", "http://b", ""))
    assert (loaded(tmp_path).model, loaded(tmp_path).model_keys) == ((), ())


def test_more_keys_than_models_are_refused_without_showing_them(tmp_path: Path) -> None:
    config = loaded(tmp_path, HINDBRAIN_MODEL="openai:a", HINDBRAIN_MODEL_KEY=f"k1,{PASSWORD}")
    with pytest.raises(ConfigError) as refused:
        _ = config.model_keys
    assert refused.value.message == "bad value for model_key: 2 entries for 1 models (from environment HINDBRAIN_MODEL_KEY)"
