"""The file of a history: one line of JSON for each campaign, only ever appended to."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, cast

import pydantic

from plimsoll.errors import StorageError
from plimsoll.history.kept import FORMAT, KeptCampaign

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1 << 30
"""The largest file that is read."""


def read(path: Path) -> tuple[KeptCampaign, ...]:
    """The campaigns of a history, the earliest first.

    Of the lines of one campaign on one machine that share a trial, or began at the same time, the
    last one counts: the campaign was enlarged, or trials of it were repeated.

    Args:
        path: The file.

    Raises:
        StorageError: It cannot be read, or a line is not one of a history.
    """
    found: dict[tuple[str, ...], KeptCampaign] = {}
    for number, line in enumerate(_content(path).split(b"\n"), 1):
        if line.strip():
            one = _line(path, number, line)
            keys = _keys(one)
            for earlier in {key for known in keys if known in found for key in _keys(found[known])}:
                found.pop(earlier, None)
            found.update(dict.fromkeys(keys, one))
    every = {id(one): one for one in found.values()}
    return tuple(sorted(every.values(), key=lambda one: one.measured_at))


def _keys(one: KeptCampaign) -> tuple[tuple[str, ...], ...]:
    """What another line of the same results has one of."""
    where = (one.campaign, one.machine.fingerprint)
    trials = ((*where, "trial", trial) for trial in one.trials)
    return ((*where, "measured_at", one.measured_at), *trials)


def append(path: Path, campaign: KeptCampaign) -> bool:
    """Appends a campaign unless it is there already.

    Args:
        path: The file; made with its folder when it is not there.
        campaign: The campaign.

    Returns:
        Whether it was appended.

    Raises:
        StorageError: The file cannot be read or written, or is not a history.
    """
    if path.exists() and any(one.results_id == campaign.results_id for one in read(path)):
        return False
    line = f"{campaign.model_dump_json()}\n".encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            file.write(b"\n" + line if _is_torn(path) else line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror}"
        raise StorageError(message, "name another file with `--history`") from error
    return True


def _is_torn(path: Path) -> bool:
    """Whether the last line has no end, as when an editor left it out."""
    content = path.read_bytes()
    return bool(content) and not content.endswith(b"\n")


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise StorageError(f"`{path}` is larger than 1 GiB", "name a history")
        return path.read_bytes()
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror}"
        hint = "`plimsoll history add RESULTS` begins a history; `--history` names another file"
        raise StorageError(message, hint) from error


def _line(path: Path, number: int, line: bytes) -> KeptCampaign:
    """A campaign from its line.

    Raises:
        StorageError: It is none.
    """
    where, hint = f"line {number} of `{path}`", "remove the line, or name another file"
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{where} is not JSON", hint) from error
    is_object = isinstance(document, dict)
    kind = cast("dict[str, object]", document).get("format") if is_object else None
    if isinstance(kind, int) and kind > FORMAT:
        message = f"{where} has format {kind}, this version reads {FORMAT}"
        raise StorageError(message, "use a newer version of Plimsoll")
    try:
        return KeptCampaign.model_validate_json(line)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        at = ".".join(map(str, first["loc"])) or "it"
        raise StorageError(f"{where} is not of a history: `{at}`: {first['msg']}", hint) from error
