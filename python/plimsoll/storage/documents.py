"""JSON documents of every storage: the plan of a campaign, and recordings."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, TypedDict, cast

from plimsoll import wording
from plimsoll.campaign import as_run
from plimsoll.errors import StorageError
from plimsoll.recording import FORMAT, Recording

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pydantic import TypeAdapter

    from plimsoll.campaign.as_run import Document
    from plimsoll.campaign.ladder_settings import LadderSettings
    from plimsoll.campaign.line_settings import LineSettings
    from plimsoll.campaign.load import Load
    from plimsoll.plan import Trial

    _Followed = LineSettings | LadderSettings | None

TRIAL = "trial.json"
"""File of a recording, in the folder of its trial."""

FREE = ("repetitions", "until", "budget", "published", "compliance")
"""Keys of a campaign file that may change between two runs, since recorded trials do not depend on
them.

More repetitions append blocks to the existing ones, with the same order and seeds.
"""


REPEAT_TRIAL = (
    "restore it from a copy, or delete the folder of the trial and run the campaign again"
)
"""What to do about a damaged file of a trial."""

GONE = "restore its folder from a copy, or run the campaign again"
"""What to do about a trial that was removed."""

FREE_OF_LINES = ("budget", "within")
"""Keys of its `[line]` that may change: tries that were recorded stay, and the search goes on."""


class PlannedStage(TypedDict):
    """What is read of a stage of a stored plan."""

    kind: str
    duration_s: float


class PlannedLoad(TypedDict):
    """What is read of a load of a stored plan."""

    name: str
    stages: list[PlannedStage]


class PlannedTrial(TypedDict):
    """A trial of a stored plan."""

    id: str
    order: int
    framework: str
    variant: str
    endpoint: str
    load: PlannedLoad
    repetition: int
    driver: str
    seed: int


@dataclass(frozen=True)
class CampaignFiles:
    """The stored files of a campaign.

    Attributes:
        toml: The campaign file as given; None if there was none.
        published_toml: Its file of published figures as given; None if it has none.
        resolved: `campaign.resolved`: the campaign with the settings of the command line and all
            defaults applied; None if it is unknown.
    """

    toml: str | None
    published_toml: str | None = None
    resolved: Document | None = None

    @property
    def resolved_text(self) -> str | None:
        """The resolved campaign as JSON; None if it is unknown."""
        return None if self.resolved is None else as_text(valid(self.resolved))


def planned_trials(trials: Iterable[Trial]) -> list[PlannedTrial]:
    """Trials in a stored plan; those of one load share what is said of it."""
    loads: dict[Load, PlannedLoad] = {}
    return [planned(one, loads) for one in trials]


def planned(trial: Trial, loads: dict[Load, PlannedLoad] | None = None) -> PlannedTrial:
    """A trial in a stored plan.

    Args:
        trial: The trial.
        loads: Loads that were described before; this one is added.
    """
    known = {} if loads is None else loads
    if trial.load not in known:
        known[trial.load] = json.loads(json.dumps(asdict(trial.load)))
    return {
        "id": trial.id,
        "order": trial.order,
        "framework": trial.framework.name,
        "variant": trial.framework.variant,
        "endpoint": trial.endpoint.name,
        "load": known[trial.load],
        "repetition": trial.repetition,
        "driver": trial.driver,
        "seed": trial.seed,
    }


def plan(content: object) -> list[PlannedTrial]:
    """The trials of a stored plan.

    Raises:
        ValueError: It is no plan.
        KeyError: The same; a name is missing.
    """
    trials = _object(content, "it")["trials"]
    if not isinstance(trials, list):
        raise ValueError("`trials` is not a list")  # noqa: TRY004 - the file is wrong
    for trial in cast("list[object]", trials):
        values = _object(trial, "a trial")
        if not isinstance(values["id"], str):
            raise ValueError("the `id` of a trial is not text")  # noqa: TRY004 - the same
        _object(values.get("load", {}), "the `load` of a trial")
    return cast("list[PlannedTrial]", trials)


def resolved(content: object) -> Document:
    """A stored campaign with all settings and defaults.

    Raises:
        ValueError: It is none.
    """
    document = _object(content, "it")
    try:
        as_run.read(document)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a campaign: {damage(error)}") from error
    return document


def _object(content: object, what: str) -> dict[str, object]:
    """A JSON object.

    Raises:
        ValueError: It is another kind of value.
    """
    if not isinstance(content, dict):
        raise ValueError(f"{what} is not a JSON object")  # noqa: TRY004 - the file is wrong
    return cast("dict[str, object]", content)


def as_text(content: object) -> str:
    """A document as JSON with a line feed; values such as paths as texts."""
    return json.dumps(content, indent=1, ensure_ascii=False, default=str) + "\n"


def valid(value: object) -> object:
    """The same value without infinite numbers, which JSON does not have.

    Limits of checks may be infinite. They become texts, which are read as numbers.
    """
    if isinstance(value, dict):
        return {key: valid(one) for key, one in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [valid(one) for one in cast("Sequence[object]", value)]
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def other_campaign(
    campaign_toml: str,
    plan: Sequence[PlannedTrial],
    earlier_toml: str,
    earlier: Sequence[PlannedTrial],
) -> str:
    """Why results belong to another campaign, as the end of a sentence; empty if they do not.

    More repetitions, or other comments, do not make another campaign.

    Args:
        campaign_toml: The campaign file.
        plan: Its plan, with settings applied.
        earlier_toml: The campaign file of the results.
        earlier: The plan of the results.
    """
    if differing := _different_keys(campaign_toml, earlier_toml):
        keys = ", ".join(f"`{key}`" for key in differing)
        return f"has results of another campaign: {keys} differ{'' if differing[1:] else 's'}"
    if found := _changed(plan, earlier):
        return f"was run with other settings: {found} differs"
    return ""


def _different_keys(campaign_toml: str, earlier_toml: str) -> list[str]:
    """Keys of two campaign files that differ, without those that do not affect trials."""
    if campaign_toml == earlier_toml:
        return []
    now, before = (
        _without_line_ends(tomllib.loads(text)) for text in (campaign_toml, earlier_toml)
    )
    return sorted(
        key for key in {*now, *before} if key not in FREE and now.get(key) != before.get(key)
    )


def _without_line_ends(table: Mapping[str, object]) -> Mapping[str, object]:
    """A campaign file whose `[line]` does not say when its search ends."""
    line = cast("Mapping[str, object]", table.get("line", {}))
    return {**table, "line": {key: line[key] for key in line if key not in FREE_OF_LINES}}


def _changed(plan: Sequence[PlannedTrial], earlier: Sequence[PlannedTrial]) -> str:
    """How a trial in both plans differs, apart from its order; empty if it does not.

    Args:
        plan: The plan.
        earlier: An earlier plan of the same campaign.
    """
    before = {trial["id"]: trial for trial in earlier}
    for trial in plan:
        known = before.get(trial["id"], trial)
        for key, value in sorted(trial.items()):
            if key != "order" and value != known.get(key):
                return f"`{key}` of trial `{trial['id']}`"
    return ""


def other_settings(campaign: Document | None, earlier: Document | None) -> str:
    """Why results were made with other settings, as the end of a sentence; empty if they were not.

    A setting can rename a campaign whose file is the same, or change a limit of its search or the
    warm-up of its servers, which no load shows.

    Args:
        campaign: The campaign with its settings.
        earlier: That of the results.
    """
    now, before = as_run.read(campaign), as_run.read(earlier)
    if now is None or before is None:
        return ""
    if now.name and before.name and now.name != before.name:
        return f"has results of the campaign `{before.name}`, not of `{now.name}`"
    differing = [
        *_different_fields("line", now.line, before.line),
        *_different_fields("ladder", now.ladder, before.ladder),
    ]
    if not differing:
        return ""
    verb = "differ" if differing[1:] else "differs"
    return f"was run with other settings: {', '.join(differing)} {verb}"


def _different_fields(kind: str, now: _Followed, before: _Followed) -> Iterator[str]:
    """Keys of `[line]` or `[ladder]` that differ, without those that may change."""
    if now is None or before is None:
        return
    known = asdict(before)
    for name, value in asdict(now).items():
        key = name.removesuffix("_s")
        if key not in FREE_OF_LINES and value != known.get(name):
            yield f"`{kind}.{key}`"


def damage(error: Exception) -> str:
    """What is wrong with a stored file, in a clause.

    Args:
        error: What its reader raised: of the operating system, of JSON, or of pydantic.
    """
    if isinstance(error, json.JSONDecodeError):
        said = error.msg.removesuffix(" starting at")
        return f"not JSON at line {error.lineno}, column {error.colno}: {said}"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    if isinstance(error, KeyError):
        return f"`{error.args[0]}` is missing"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return _first_mistake(error) or str(error).partition("\n")[0]


def _first_mistake(error: Exception) -> str:
    """The first of the mistakes that pydantic found, and how many there are; empty for others."""
    from pydantic import ValidationError  # noqa: PLC0415 - heavy

    if not isinstance(error, ValidationError):
        return ""
    first, *others = error.errors(include_url=False)
    place = ".".join(map(str, first["loc"]))
    more = f", and {wording.several(len(others), 'further mistake')}" if others else ""
    return f"`{place}`: {first['msg'][:1].lower()}{first['msg'][1:]}{more}"


def keep_recording(recording: Recording, folder: Path) -> None:
    """Writes a recording as the `trial.json` of a folder.

    Raises:
        OSError: It could not be written.
    """
    text = json.dumps(valid(asdict(recording)), indent=1, ensure_ascii=False)
    (folder / TRIAL).write_text(text + "\n", "utf-8")


def recording_of_text(text: bytes, where: str) -> Recording:
    """A recording from the text of its file.

    Args:
        text: JSON. pydantic reads it in half the time that `json` and `recording` take.
        where: Its source, for errors.

    Raises:
        ValueError: It is not JSON.
        StorageError: It is not a recording, or has a newer format.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - heavy

    try:
        found = _adapter().validate_json(text)
    except ValidationError:
        return recording(json.loads(text), where)  # says what is wrong
    return _readable(found, where)


def recording(content: object, where: str) -> Recording:
    """A recording from its JSON.

    Args:
        content: The JSON.
        where: Its source, for errors.

    Raises:
        StorageError: It is not a recording, or has a newer format.
    """
    document = cast("dict[str, object]", content) if isinstance(content, dict) else {"format": None}
    written = document.get("format", 0)
    if not isinstance(written, int):
        raise StorageError(f"`{where}` is not a recording", REPEAT_TRIAL)
    if written > FORMAT:
        raise _newer(written, where)
    try:
        found = _adapter().validate_python(content)
    except ValueError as error:  # a `ValidationError` is one
        raise _no_recording(error, where) from error
    return _readable(found, where)


def _readable(found: Recording, where: str) -> Recording:
    """The same recording, as this version can read it.

    Raises:
        StorageError: It has a newer format, or its date is none.
    """
    if found.format > FORMAT:
        raise _newer(found.format, where)
    try:
        if found.zero_utc:
            datetime.fromisoformat(found.zero_utc)
    except ValueError as error:
        raise _no_recording(error, where) from error
    return found


def _newer(written: int, where: str) -> StorageError:
    message = f"`{where}` has format {written}, this version of Plimsoll reads up to {FORMAT}"
    return StorageError(message, "update Plimsoll")


def _no_recording(error: Exception, where: str) -> StorageError:
    return StorageError(f"`{where}` is not a recording: {damage(error)}", REPEAT_TRIAL)


@cache
def _adapter() -> TypeAdapter[Recording]:
    """What reads recordings; to make it takes longer than to read a hundred of them."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - heavy

    return TypeAdapter(Recording)
