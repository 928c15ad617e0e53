"""Defaults, config.toml, HINDBRAIN_* variables and flags -> one frozen configuration that knows its sources.

Later sources win in that order. Everything is checked here, once, at the edge; what is passed down is a value, and
nothing further down reads the environment. A bad value is an error that names setting, value, source and what is
allowed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, cast

from hindbrain.base import config_file
from hindbrain.base.errors import ConfigError
from hindbrain.base.settings import BY_NAME, MASK, SETTINGS, Setting, Value

FILE_NAME: Final = "config.toml"
# Set by ourselves around our own child processes; not a setting.
INTERNAL_VARIABLES: Final = frozenset({"HINDBRAIN_GUARD"})

# A wrong value is shown to recognise it by, not in full.
SHOWN_CHARS: Final = 200

_NO_FLAGS: Final[Mapping[str, object]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value was found."""

    kind: Literal["default", "file", "environment", "flag", "command"]
    place: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.place}".rstrip()


_Given = tuple[Setting, object, Source]


@dataclass(frozen=True, slots=True, repr=False)
class Config:
    """Every setting, checked."""

    home: Path
    values: Mapping[str, Value]
    sources: Mapping[str, Source]
    unused: tuple[str, ...] = ()  # HINDBRAIN_* variables that set nothing

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={self.shown(name)!r}' for name in self.values)})"

    def source_of(self, name: str) -> Source:
        return self.sources[name]

    def shown(self, name: str) -> Value:
        """A value as it may be shown: secrets masked."""
        return BY_NAME[name].shown(self.values[name])

    @property
    def database(self) -> str:
        return cast(str, self.values["database"])

    @property
    def is_shared(self) -> bool:
        """Whether there is a shared ledger besides the one in the home."""
        return self.database != "sqlite"

    @property
    def tenant(self) -> str:
        return cast(str, self.values["tenant"])

    @property
    def embedder(self) -> str:
        return cast(str, self.values["embedder"])

    @property
    def embedder_url(self) -> str:
        return cast(str, self.values["embedder_url"])

    @property
    def embedder_key(self) -> str:
        return cast(str, self.values["embedder_key"])

    @property
    def embedder_timeout(self) -> float:
        return cast(float, self.values["embedder_timeout"])

    @property
    def model(self) -> tuple[str, ...]:
        """The models in the order they are tried; none by default."""
        named = cast(str, self.values["model"])
        return () if named == "none" else tuple(named.split(","))

    @property
    def model_urls(self) -> tuple[str, ...]:
        """One for each model, "" where its maker's address is meant."""
        return self._for_each_model("model_url")

    @property
    def model_keys(self) -> tuple[str, ...]:
        """One for each model: a key goes to the one whose place it stands in and to no other."""
        return self._for_each_model("model_key")

    def _for_each_model(self, name: str) -> tuple[str, ...]:
        given = str(self.values[name]).split(",")
        if len(given) > max(len(self.model), 1):
            raise ConfigError(
                f"bad value for {name}: {len(given)} entries for {len(self.model)} models (from {self.sources[name]})",
                hint="give one entry for each model, in the order of the setting model",
            )
        return tuple([*given, *[""] * len(self.model)][: len(self.model)])

    @property
    def model_timeout(self) -> float:
        return cast(float, self.values["model_timeout"])

    @property
    def model_night(self) -> bool:
        return cast(bool, self.values["model_night"])

    def model_price(self, name: str, way: Literal["input", "output"]) -> float | None:
        """US dollars for a million tokens of one of the models; None where the table is to be asked."""
        if name not in self.model:
            return None
        price = self._for_each_model(f"model_price_{way}")[self.model.index(name)]
        return float(price) if price and float(price) >= 0 else None

    def model_cap(self, part: Literal["", "project", "kind"], what: Literal["tokens", "cost"]) -> float:
        """What may be used a day: in all, for one project, for one kind of job; 0 for no limit of its own."""
        return cast(float, self.values[f"model_{part + '_' if part else ''}daily_{what}"])

    @property
    def worker_idle_seconds(self) -> float:
        return cast(float, self.values["worker.idle_seconds"])

    @property
    def transcript_roots(self) -> tuple[Path, ...]:
        return tuple(Path(root) for root in cast("tuple[str, ...]", self.values["capture.transcript_roots"]))

    @property
    def catch_up(self) -> bool:
        return cast(bool, self.values["capture.catch_up"])

    @property
    def keep_segments(self) -> int:
        return cast(int, self.values["journal.keep_segments"])

    @property
    def keep_jobs_days(self) -> float:
        return cast(float, self.values["jobs.keep_days"])

    @property
    def timezone(self) -> str:
        return cast(str, self.values["timezone"])

    @property
    def wiki_enabled(self) -> bool:
        return cast(bool, self.values["wiki.enabled"])

    @property
    def wiki_every_seconds(self) -> float:
        return 60.0 * cast(float, self.values["wiki.every"])

    @property
    def log_level(self) -> str:
        return cast(str, self.values["log.level"])


def load(
    home_flag: str | None = None, flags: Mapping[str, object] = _NO_FLAGS, environ: Mapping[str, str] = os.environ
) -> Config:
    """The configuration of this process. Raises ConfigError for the first bad value."""
    home, home_source = find_home(home_flag, environ)
    values: dict[str, Value] = {setting.name: setting.default for setting in SETTINGS} | {"home": str(home)}
    sources = {setting.name: Source("default") for setting in SETTINGS} | {"home": home_source}
    for layer in (_from_file(home / FILE_NAME), _from_environment(environ), _from_flags(flags)):
        for setting, raw, source in layer:
            values[setting.name] = checked(setting, raw, source, environ)
            sources[setting.name] = source
    return Config(home, MappingProxyType(values), MappingProxyType(sources), _unused(environ))


def _from_file(path: Path) -> Iterator[_Given]:
    text = config_file.read_text(path)
    for name, raw in config_file.parse(path, text).items():
        line = config_file.line_of(text, name)
        source = Source("file", f"{path}, line {line}" if line else str(path))
        yield file_setting(name, source), raw, source


def _from_environment(environ: Mapping[str, str]) -> Iterator[_Given]:
    for setting in SETTINGS:
        given = environ.get(setting.variable, "")
        if given and setting.name != "home":  # an empty variable is as good as none
            source = Source("environment", setting.variable)
            yield setting, from_text(setting, given, source), source


def _from_flags(flags: Mapping[str, object]) -> Iterator[_Given]:
    for name, raw in flags.items():
        source = Source("flag", "--" + name.replace(".", "-").replace("_", "-"))
        setting = file_setting(name, source)
        yield setting, from_text(setting, raw, source) if isinstance(raw, str) else raw, source


def find_home(home_flag: str | None = None, environ: Mapping[str, str] = os.environ) -> tuple[Path, Source]:
    """The data directory and who chose it; reads no file, so it works when everything else is broken."""
    setting = BY_NAME["home"]
    if home_flag is not None:
        source = Source("flag", "--home")
        # A person types a flag in a directory and means it from there; a variable is read in many directories.
        relative = home_flag and not home_flag.startswith("~")
        given = os.path.abspath(home_flag) if relative else home_flag
    elif given := environ.get(setting.variable, ""):
        source = Source("environment", setting.variable)
    else:
        return _default_home(environ), Source("default")
    return Path(cast(str, checked(setting, given, source, environ))), source


def _default_home(environ: Mapping[str, str]) -> Path:
    user = Path(user_home(environ))
    if sys.platform == "darwin":
        return user / "Library" / "Application Support" / "hindbrain"
    data = environ.get("XDG_DATA_HOME", "")
    # The XDG rules say that a relative path is to be ignored.
    return (Path(data) if os.path.isabs(data) else user / ".local" / "share") / "hindbrain"


def user_home(environ: Mapping[str, str]) -> str:
    """The user's own directory, by variable or by the user database."""
    if os.path.isabs(environ.get("HOME", "")):
        return environ["HOME"]
    import pwd  # only a stripped environment comes here

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError as error:
        raise ConfigError(
            f"cannot find a data directory: HOME is not set and user {os.getuid()} is unknown",
            hint="set HINDBRAIN_HOME to an absolute path",
        ) from error


def file_setting(name: str, source: Source) -> Setting:
    """The setting a name in the file stands for. Raises ConfigError for a name there is none for."""
    setting = BY_NAME.get(name)
    if setting is None:
        raise ConfigError(f"unknown setting {name!r} (from {source})", hint=suggestion(name))
    if not setting.in_file:
        raise ConfigError(
            f"{name} cannot be set in the file that is looked for in it (from {source})",
            hint=f"use --{name} or the variable {setting.variable}",
        )
    return setting


def suggestion(name: str) -> str:
    """A hint with the nearest setting, or all of them."""
    import difflib  # needed on the way to an error only

    within = [known for known in BY_NAME if known.startswith(name + ".")]
    close = within or difflib.get_close_matches(name, BY_NAME, n=1)
    return f"did you mean {close[0]}?" if close else f"settings: {', '.join(BY_NAME)}"


def from_text(setting: Setting, text: str, source: Source) -> object:
    """What a variable, a flag or `config set` says, as the file would hold it; still to be checked."""
    try:
        return setting.read_text(text)
    except ValueError:
        raise _bad(setting, text, source) from None  # the cause would repeat a secret


def checked(setting: Setting, raw: object, source: Source, environ: Mapping[str, str]) -> Value:
    """The value, if it is allowed, with ~ resolved."""
    try:
        return setting.check(_expanded(raw, environ))
    except (ValueError, OverflowError):
        raise _bad(setting, raw, source) from None


def _expanded(raw: object, environ: Mapping[str, str]) -> object:
    if isinstance(raw, list):
        return [_expanded(item, environ) for item in raw]
    if isinstance(raw, str) and (raw == "~" or raw.startswith("~/")):
        return user_home(environ) + raw[1:]
    return raw


def _bad(setting: Setting, raw: object, source: Source) -> ConfigError:
    try:
        shown = MASK if setting.secret else repr(raw)
    except ValueError:  # Python does not print a whole number of thousands of digits
        shown = "a very large number"
    if len(shown) > SHOWN_CHARS:
        shown = shown[:SHOWN_CHARS] + "..."
    return ConfigError(f"bad value for {setting.name}: {shown} (from {source})", hint=f"allowed: {setting.allowed}")


def _unused(environ: Mapping[str, str]) -> tuple[str, ...]:
    known = {setting.variable for setting in SETTINGS} | INTERNAL_VARIABLES
    return tuple(sorted(name for name in environ if name.startswith("HINDBRAIN_") and name not in known))
