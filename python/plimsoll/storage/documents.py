"""What every storage keeps as JSON: the plan of a campaign, and a recording."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from plimsoll.errors import StorageError
from plimsoll.recording import FORMAT, Recording

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from plimsoll.plan import Trial

    Planned = dict[str, Any]
    """A trial of a stored plan."""

TRIAL = "trial.json"
"""File of a recording, in the folder of its trial."""


def planned(trial: Trial) -> Planned:
    """A trial as a stored plan has it."""
    return {
        "id": trial.id,
        "order": trial.order,
        "framework": trial.framework.name,
        "variant": trial.framework.variant,
        "endpoint": trial.endpoint.name,
        "load": json.loads(json.dumps(asdict(trial.load))),
        "repetition": trial.repetition,
        "driver": trial.driver,
        "seed": trial.seed,
    }


def changed(plan: Sequence[Planned], earlier: Sequence[Planned]) -> str:
    """What differs in a trial that two plans have in common, but for its order; empty if nothing.

    Args:
        plan: The plan.
        earlier: An earlier plan of the same campaign.
    """
    before = {trial["id"]: trial for trial in earlier}
    for trial in plan:
        known = before.get(trial["id"], trial)
        for key in sorted(trial):
            if key != "order" and trial[key] != known.get(key):
                return f"`{key}` of trial `{trial['id']}`"
    return ""


def keep_recording(recording: Recording, folder: Path) -> None:
    """Writes a recording as the `trial.json` of a folder.

    Raises:
        OSError: It could not be written.
    """
    text = json.dumps(asdict(recording), indent=1, ensure_ascii=False)
    (folder / TRIAL).write_text(text + "\n", "utf-8")


def recording(content: Mapping[str, Any], where: str) -> Recording:
    """A recording from its JSON.

    Args:
        content: What was read.
        where: Where it was read, for errors.

    Raises:
        StorageError: It is none, or of a newer format.
    """
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - heavy

    written = content.get("format", 0)
    if written > FORMAT:
        message = f"`{where}` has format {written}, this Plimsoll reads up to {FORMAT}"
        raise StorageError(message, "update Plimsoll")
    try:
        return TypeAdapter(Recording).validate_python(content)
    except ValidationError as error:
        raise StorageError(f"`{where}` is no recording: {error}") from error
