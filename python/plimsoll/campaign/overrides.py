"""Settings from the command line, applied to the table of a campaign file.

`repetitions=1` sets a key, `load.climb.timeout=5s` one of the load `climb`,
`load.climb.hold.duration=5s` one of its stages of that kind, and `limits.backlog.…` a limit.
`scale_time=0.1` and `scale_connections=0.1` multiply the values of the file.
"""

from __future__ import annotations

import copy
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from plimsoll.campaign.documents import near
from plimsoll.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.campaign.documents import Table, TomlDocument
    from plimsoll.campaign.lines import KeyPath

STAGE_KINDS = ("warm_up", "ramp", "hold")
"""Kinds of stages, which identify them in settings."""

_LISTS = ("frameworks", "endpoints", "driver")
_HINT = "write each as KEY=VALUE, such as `repetitions=1` or `load.NAME.timeout=5s`"
_SCALE_HINT = "write a number above 0, such as `0.1`"


@dataclass(frozen=True)
class Scales:
    """The factors of `scale_time` and `scale_connections`.

    Attributes:
        time: Factor on the duration of every stage.
        connections: Factor on the connections of every load.
    """

    time: float = 1.0
    connections: float = 1.0


@dataclass(frozen=True)
class _Setting:
    """One setting.

    Attributes:
        key: Its key, with dots.
        text: Its value as given.
    """

    key: str
    text: str

    @property
    def where(self) -> str:
        """Its place for messages."""
        return f"settings {self.key}"


def laid_over(
    document: TomlDocument, settings: Sequence[str]
) -> tuple[TomlDocument, Scales, list[Problem]]:
    """Applies settings to the table of a document.

    Args:
        document: A campaign file.
        settings: Settings in the order given, each `KEY=VALUE`; a later one wins.

    Returns:
        The document, the scale factors, and problems of the settings themselves. Whether a value
        fits its key is checked with the table.
    """
    table = copy.deepcopy(document.table)
    origins = dict(document.origins)
    scales = Scales()
    problems: list[Problem] = []
    for text in settings:
        setting = _parsed(text)
        if isinstance(setting, Problem):
            problems.append(setting)
        elif setting.key in ("scale_time", "scale_connections"):
            scales, wrong = _scaled(scales, setting)
            problems += wrong
        else:
            problems += _set(table, origins, setting)
    return replace(document, table=table, origins=origins), scales, problems


def _parsed(text: str) -> _Setting | Problem:
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals:
        return Problem(f"settings {text}", "has no `=`", _HINT)
    if not all(key.split(".")):
        return Problem(f"settings {text}", "has no key before the `=`", _HINT)
    return _Setting(key, value.strip())


def _scaled(scales: Scales, setting: _Setting) -> tuple[Scales, list[Problem]]:
    try:
        factor = float(setting.text)
    except ValueError:
        factor = 0.0
    if not 0 < factor < float("inf"):
        message = f"`{setting.text}` is not a number above 0"
        return scales, [Problem(setting.where, message, _SCALE_HINT)]
    if setting.key == "scale_time":
        return replace(scales, time=factor), []
    return replace(scales, connections=factor), []


def _set(table: Table, origins: dict[KeyPath, str], setting: _Setting) -> list[Problem]:
    steps = tuple(setting.key.split("."))
    paths: list[KeyPath] = [steps]
    if steps[0] == "load":
        paths, problems = _load_paths(table, steps, setting.where)
        if problems:
            return problems
    for path in paths:
        if not _put(table, path, _value(setting, path)):
            message = f"`{setting.key}` goes through a value that is not a table"
            return [Problem(setting.where, message, _HINT)]
        origins[path] = setting.where
    return []


def _load_paths(
    table: Table, steps: tuple[str, ...], where: str
) -> tuple[list[KeyPath], list[Problem]]:
    """The paths that a setting of a load sets: the load by its name, stages by their kind."""
    _, name, *keys = (*steps, "") if len(steps) == 1 else steps
    loads = _tables(table.get("load"))
    names = [str(load.get("name", "")) for load in loads]
    if name not in names:
        return [], [Problem(where, f"unknown load `{name}`", near(name, names, "loads"))]
    if not keys or (keys[0] in STAGE_KINDS and len(keys) == 1):
        return [], [Problem(where, "does not name a key", _HINT)]
    at: KeyPath = ("load", names.index(name))
    if keys[0] not in STAGE_KINDS:
        return [(*at, *keys)], []
    kinds = [stage.get("kind") for stage in _tables(loads[names.index(name)].get("stages"))]
    paths: list[KeyPath] = [
        (*at, "stages", index, *keys[1:]) for index, kind in enumerate(kinds) if kind == keys[0]
    ]
    message = f"the load `{name}` has no stage `{keys[0]}`"
    return paths, [] if paths else [Problem(where, message)]


def _tables(value: object) -> list[Table]:
    """A list of tables; other items become empty tables, so that indices stay."""
    if not isinstance(value, list):
        return []
    items = cast("list[object]", value)
    return [cast("Table", item) if isinstance(item, dict) else {} for item in items]


def _put(table: Table, path: KeyPath, value: object) -> bool:
    """Sets a value and creates missing tables; False if something on the path is not a table."""
    holder: Any = table
    for step in path[:-1]:
        if isinstance(holder, dict):
            holder = cast("Table", holder).setdefault(str(step), {})
        elif isinstance(holder, list) and isinstance(step, int):
            holder = cast("list[object]", holder)[step]
        else:
            return False
    if not isinstance(holder, dict):
        return False
    holder[path[-1]] = value
    return True


def _value(setting: _Setting, path: KeyPath) -> object:
    """A value as TOML would have it, or as text; lists need no brackets and no quotes."""
    if path[-1] in _LISTS and not setting.text.startswith("["):
        return [part.strip() for part in setting.text.split(",")]
    try:
        parsed = tomllib.loads(f"value = {setting.text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return setting.text
    return parsed["value"] if len(parsed) == 1 else setting.text
