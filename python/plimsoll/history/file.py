"""The file of a history: one line of JSON for each campaign, only ever appended to.

A line is there as a whole or not at all. What is left of one whose writing was killed is not read,
and the next line takes its place.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import pydantic

from plimsoll.errors import StorageError
from plimsoll.history.kept import FORMAT, KeptCampaign

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from pathlib import Path

MOST_BYTES = 1 << 30
"""The largest file that is read."""

_PART_BYTES = 1 << 20
_BEGIN = b'{"format":'
"""What a line begins with, as `append` writes it."""


def read(path: Path, note: Callable[[str], None] | None = None) -> tuple[KeptCampaign, ...]:
    """The campaigns of a history, the earliest first.

    Of the lines of one campaign on one machine that share a trial, or began at the same time, the
    last one counts: the campaign was enlarged, or trials of it were repeated.

    Args:
        path: The file.
        note: Gets a sentence where the last line was left out, as its writing was killed.

    Raises:
        StorageError: It cannot be read, or a line is not one of a history.
    """
    content = _content(path)
    torn = _torn_bytes(content)
    if torn and note is not None:
        note(
            f"the last line of `{path}` is left out: it is incomplete, as after an `add` that was "
            "killed; add its results again"
        )
    found: dict[tuple[str, ...], KeptCampaign] = {}
    for number, line in enumerate(content[: len(content) - torn].split(b"\n"), 1):
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


def append(path: Path, campaign: KeptCampaign, note: Callable[[str], None] | None = None) -> bool:
    """Appends a campaign unless it is there already.

    Args:
        path: The file; made with its folder when it is not there.
        campaign: The campaign.
        note: Gets a sentence where an incomplete last line was left out, and is replaced.

    Returns:
        Whether it was appended.

    Raises:
        StorageError: The file cannot be read or written, or is not a history. It is then what it
            was before.
    """
    is_new = not path.exists()
    if not is_new:
        if not path.is_file():
            message = f"`{path}` is not a file that can be appended to"
            raise StorageError(message, "name another file with `--history`")
        if any(one.results_id == campaign.results_id for one in read(path, note)):
            return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # another `add` may have begun to write
            _append(file, path, f"{campaign.model_dump_json()}\n".encode())
    except OSError as error:
        if is_new:
            _remove_empty(path)
        message = f"`{path}` cannot be written: {error.strerror}"
        raise StorageError(message, "name another file with `--history`") from error
    return True


def _append(file: FileIO, path: Path, line: bytes) -> None:
    """Appends a line as a whole: a file that has no room for all of it gets nothing."""
    size = file.seek(0, os.SEEK_END)
    if _is_unended(file, size):
        content = _bounded(file, path)
        torn = _torn_bytes(content)
        size = len(content) - torn
        file.truncate(size)
        line = line if torn else b"\n" + line
    try:
        left = memoryview(line)
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            file.truncate(size)
        raise


def _is_unended(file: FileIO, size: int) -> bool:
    """Whether the last line has no end: an editor left it out, or its writing was killed."""
    if not size:
        return False
    file.seek(size - 1)
    is_unended = file.read(1) != b"\n"
    file.seek(0)
    return is_unended


def _remove_empty(path: Path) -> None:
    """Removes a file that was made for a line that it could not take."""
    with suppress(OSError):
        if not path.stat().st_size:
            path.unlink()


def _torn_bytes(content: bytes) -> int:
    """The length of a last line whose writing was killed: it begins as one, and is not JSON."""
    last = content[content.rfind(b"\n") + 1 :]
    if not last or not (last.startswith(_BEGIN) or _BEGIN.startswith(last)):
        return 0
    try:
        json.loads(last)
    except (ValueError, RecursionError):
        return len(last)
    return 0


def _content(path: Path) -> bytes:
    try:
        with path.open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                raise _too_large(path)
            return _bounded(file, path)
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror}"
        hint = "`plimsoll history add RESULTS` begins a history; `--history` names another file"
        raise StorageError(message, hint) from error


def _bounded(file: FileIO, path: Path) -> bytes:
    """The rest of a file; a pipe or a device may have no end.

    Raises:
        StorageError: It is longer than a history is.
    """
    parts: list[bytes] = []
    size = 0
    while part := file.read(_PART_BYTES):
        size += len(part)
        if size > MOST_BYTES:
            raise _too_large(path)
        parts.append(part)
    return b"".join(parts)


def _too_large(path: Path) -> StorageError:
    return StorageError(f"`{path}` is larger than 1 GiB", "name a history")


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
