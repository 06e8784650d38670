"""Files of another tool become one recording, complete or not at all."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from plimsoll.errors import CampaignError, Problem, StorageError
from plimsoll.intake import READERS, named, recorded, stages, unpacked, zabbix
from plimsoll.intake.ahead import taken_ahead
from plimsoll.intake.rows import Tally
from plimsoll.recording import HOST, Driver, Ending, RecordedStage, Recording, Server
from plimsoll.storage import documents
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from plimsoll.intake.recorded import Reading, Written
    from plimsoll.intake.rows import Asked, Reader
    from plimsoll.intake.unpacked import Packed, Unpacked
    from plimsoll.storage.results import Results

_NAME_IT = "name the file in which the tool wrote its requests"

BATCHES_AHEAD = 2
"""Batches of each file that are read while those before are written."""

OTHERS = "requests of other labels"
LOAD = "imported"

_SECOND_NS = 1_000_000_000
_YEAR_2000_NS = 946_684_800 * _SECOND_NS
_NO_SIGN = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True)
class About:
    """What the files do not say of the trial.

    Attributes:
        framework: Name of what was measured.
        endpoint: Name of what was asked of it; empty for that of the requests.
        labels: Only requests of these labels count; empty for all.
        warm_up_s: What is not summarised, in seconds; None to tell it from the users.
        cores: Cores of the server; None when not said.
        partial: Whether what can be read of a damaged file counts.
    """

    framework: str
    endpoint: str = ""
    labels: tuple[str, ...] = ()
    warm_up_s: float | None = None
    cores: int | None = None
    partial: bool = False


@dataclass(frozen=True)
class Cpu:
    """Readings of the server's CPU.

    Attributes:
        file: The file.
        asked: How it is to be understood.
    """

    file: Path
    asked: zabbix.Asked


@dataclass(frozen=True)
class Imported:
    """What was imported.

    Attributes:
        recording: What was made of it.
        tallies: The account of each file.
    """

    recording: Recording
    tallies: tuple[Tally, ...] = field(default=())


def reader_of(files: Sequence[Path], name: str, *, partial: bool) -> Reader:
    """The reader of a tool.

    Args:
        files: The files; what the first begins with tells the tool where it is not named.
        name: Name of the tool; empty to tell it from the file.
        partial: Whether what can be read of a damaged file counts.

    Raises:
        CampaignError: There is no such tool, or nobody recognises the file.
    """
    if name:
        return named(name)
    packed = unpacked.streams(files[0], partial=partial)[0]
    with unpacked.opened(packed, partial=partial) as (stream, _):
        beginning = stream.read(unpacked.BEGINNING_BYTES)
    found = next((reader for reader in READERS if reader.recognises(beginning)), None)
    if found is None:
        known = ", ".join(f"`{reader.NAME}`" for reader in READERS)
        message = "is empty" if not beginning else "is of no tool that is known by its beginning"
        hint = f"name the tool before the file: {known}" if beginning else _NAME_IT
        raise CampaignError([Problem(packed.name, message, hint)])
    return found


def rows(
    reader: Reader, files: Sequence[Path], asked: Asked, about: About, cpu: Cpu | None,
    results: Results,
) -> Imported:  # fmt: skip
    """Imports files in which a tool wrote each of its requests, one for each host of the driver.

    Args:
        reader: Reads them.
        files: The files.
        asked: How they are to be read.
        about: What they do not say.
        cpu: Readings of the server's CPU; None when there are none.
        results: Where the recording goes; an earlier one of the same import is replaced.

    Raises:
        CampaignError: Something cannot be read, or nothing is left; nothing is kept.
        StorageError: The recording could not be written; nothing is kept.
    """
    sources = {name: (packed, Tally(packed.name)) for name, packed in _hosts(files, about).items()}
    tallies = [tally for _, tally in sources.values()]
    trial = _trial_id(about, reader.NAME)
    with _trial(results, trial) as into, ExitStack() as reading:
        batches = {
            name: reading.enter_context(
                taken_ahead(_batches(reader, packed, asked, about, tally), BATCHES_AHEAD)
            )
            for name, (packed, tally) in sources.items()
        }
        written = recorded.merge(batches, into, None)
        _require_rows(written, tallies)
        told = stages.told(written.readings, written.last_ns, about.warm_up_s)
        readings, read = _cpu(cpu, written.zero_utc_ns, written.last_ns, about)
        tallies += read
        recorded.write_usage([*written.readings, *readings], into / "usage.parquet")
        recording = _recording(trial, reader.NAME, about, written, told, tallies)
        documents.keep_recording(recording, into)
    return Imported(recording, tuple(tallies))


def readings(cpu: Cpu, about: About, results: Results) -> Imported:
    """Imports readings of a server's CPU alone.

    Args:
        cpu: The readings.
        about: What they do not say.
        results: Where the recording goes; an earlier one of the same import is replaced.

    Raises:
        CampaignError: They cannot be read; nothing is kept.
        StorageError: The recording could not be written; nothing is kept.
    """
    trial = _trial_id(about, zabbix.NAME)
    found, tally = _busy(cpu, about)
    zero_ns = found[0].clock_ns // _SECOND_NS * _SECOND_NS
    end_ns = found[-1].clock_ns // _SECOND_NS * _SECOND_NS + _SECOND_NS - zero_ns
    told = stages.told((), end_ns - 1, about.warm_up_s)
    with _trial(results, trial) as into:
        rows = zabbix.readings(found, zero_ns, end_ns, tally)
        recorded.write_usage(rows, into / "usage.parquet")
        recording = replace(
            _of_readings(trial, about, zero_ns, told.stages), notes=tuple(_said(tally))
        )
        documents.keep_recording(recording, into)
    return Imported(recording, (tally,))


@contextmanager
def _trial(results: Results, trial: str) -> Generator[Path]:
    """The folder of a trial, which appears when the block has succeeded.

    Raises:
        StorageError: It cannot be written, or something else lies where it should go.
    """
    if results.campaign_toml() is not None:
        message = f"`{results.place}` holds the results of a campaign"
        raise StorageError(message, "name another folder with `--into`")
    with results.locked(), results.trial(trial) as into, writing(results.folder):
        yield into


def _hosts(files: Sequence[Path], about: About) -> dict[str, Packed]:
    """What is to be read by the name of the host that wrote it."""
    found = [one for file in files for one in unpacked.streams(file, partial=about.partial)]
    if len(found) == 1:
        return {HOST: found[0]}
    names = [one.member or unpacked.stem(one.path) for one in found]
    several = len(set(names)) < len(names)
    return {
        f"{name} {place}" if several else name: one
        for place, (name, one) in enumerate(zip(names, found, strict=True), 1)
    }


def _batches(
    reader: Reader, packed: Packed, asked: Asked, about: About, tally: Tally
) -> Generator[pa.RecordBatch]:
    """The requests of one file that are wanted."""
    with unpacked.opened(packed, partial=about.partial) as (stream, raw):
        for batch in reader.read(stream, asked, tally):
            yield _labelled(batch, about.labels, tally) if about.labels else batch
        _remark_damage(raw, tally)


def _remark_damage(raw: Unpacked, tally: Tally) -> None:
    if raw.damage:
        tally.remarks.append(f"the file is damaged or cut off ({raw.damage}): the rest is lost")


def _labelled(batch: pa.RecordBatch, labels: Sequence[str], tally: Tally) -> pa.RecordBatch:
    kinds = batch.column("kind").cast(pa.string())
    wanted = pc.is_in(kinds, value_set=pa.array(labels, pa.string()))
    found = batch.filter(wanted)
    left = len(batch) - len(found)
    tally.kept -= left
    tally.leave_out(OTHERS, left)
    return found


def _require_rows(written: Written, tallies: Sequence[Tally]) -> None:
    """Does nothing when there is a request.

    Raises:
        CampaignError: There is none; what there is instead is told.
    """
    if written.rows:
        return
    problems: list[Problem] = []
    for tally in tallies:
        others = [f"{reason} ({count})" for reason, count in tally.left_out.items()]
        if tally.broken:
            first = tally.broken_lines[0]
            others.append(
                f"broken lines ({tally.broken}), the first is {first.line}: {first.reason}"
            )
        but = f", but {'; '.join(others)}" if others else ""
        problems.append(Problem(tally.file, f"holds no request{but}", _hint(tally)))
    raise CampaignError(problems)


def _hint(tally: Tally) -> str:
    if tally.left_out[OTHERS]:
        return "name a label that is in the file with `--label`"
    if tally.left_out:
        return "have the tool save each request, not only what they make up together"
    return _NAME_IT


def _cpu(
    cpu: Cpu | None, zero_ns: int, end_ns: int, about: About
) -> tuple[list[Reading], tuple[Tally, ...]]:
    if cpu is None:
        return [], ()
    found, tally = _busy(cpu, about)
    return zabbix.readings(found, zero_ns, end_ns, tally), (tally,)


def _busy(cpu: Cpu, about: About) -> tuple[tuple[zabbix.Busy, ...], Tally]:
    """The readings of the first file in a file."""
    packed = unpacked.streams(cpu.file, partial=about.partial)[0]
    tally = Tally(packed.name)
    with unpacked.opened(packed, partial=about.partial) as (stream, raw):
        found = zabbix.read(stream, cpu.asked, tally)
        _remark_damage(raw, tally)
    return found, tally


def _trial_id(about: About, tool: str) -> str:
    parts = (about.framework, about.endpoint, tool)
    return ".".join(_NO_SIGN.sub("-", part).strip("-") or "x" for part in parts if part)


def _recording(
    trial: str,
    tool: str,
    about: About,
    written: Written,
    told: stages.Told,
    tallies: Sequence[Tally],
) -> Recording:
    users = round(max((stage.end for stage in told.stages), default=0.0))
    driver = Driver(
        name=tool,
        version="",
        cores=(),
        threads=users,
        ended_by="",
        notes=tuple(_notes(told, written, tallies)),
    )
    hosts = list(written.first_ns)
    recording = _of_readings(trial, about, written.zero_utc_ns, told.stages)
    return replace(
        recording,
        driver_name=tool,
        driver=recorded.told(driver, written, tallies),
        endpoint=about.endpoint or _endpoint(written.kinds),
        requests=written.kinds,
        machines={host: {} for host in hosts},
        clock_offsets_ns={hosts[0]: 0},
    )


def _endpoint(kinds: Sequence[str]) -> str:
    return kinds[0] if len(kinds) == 1 else f"{len(kinds)} kinds of request"


def _of_readings(
    trial: str, about: About, zero_ns: int, told: tuple[RecordedStage, ...]
) -> Recording:
    """A recording of which nobody knows more than when it was."""
    return Recording(
        trial=trial,
        order=0,
        framework=about.framework,
        variant="",
        language="",
        endpoint=about.endpoint,
        load={"name": LOAD, "model": "unknown"},
        repetition=1,
        driver_name=zabbix.NAME,
        seed=0,
        zero_utc=_utc(zero_ns),
        stages=told,
        requests=(),
        machines={},
        versions={},
        clock_offsets_ns={},
        ending=Ending(),
        server=Server(address="", workers=about.cores or 0),
        driver=None,
    )


def _utc(instant_ns: int) -> str:
    """An instant as ISO 8601; empty where a tool counts from a zero of its own, not from 1970."""
    if instant_ns < _YEAR_2000_NS:
        return ""
    return datetime.fromtimestamp(instant_ns / _SECOND_NS, UTC).isoformat()


def _notes(told: stages.Told, written: Written, tallies: Sequence[Tally]) -> Iterator[str]:
    """What a reader of the results must know, in sentences."""
    if told.sentence:
        yield told.sentence
    for tally in tallies:
        yield from _said(tally)
    if len(written.first_ns) > 1:
        yield _apart(written)


def _said(tally: Tally) -> Iterator[str]:
    """What a file holds that was not counted, and what it lacks."""
    name = Path(tally.file).name
    for reason, count in tally.left_out.items():
        yield f"`{name}`: not counted are {reason} ({count})"
    if tally.broken:
        yield f"`{name}`: broken lines are left out ({tally.broken})"
    for remark in tally.remarks:
        yield f"`{name}`: {remark}"


def _apart(written: Written) -> str:
    """How far engines are apart, of which only their first and last requests tell."""
    firsts, lasts = written.first_ns, written.ends_ns
    late = max(firsts, key=lambda host: firsts[host])
    apart_s = firsts[late] / _SECOND_NS
    together_s = (min(lasts.values()) - max(firsts.values())) / _SECOND_NS
    overlap = f"all sent for {together_s:.1f} s" if together_s > 0 else "they never sent together"
    return (
        f"{len(firsts)} engines: `{late}` sent its first request {apart_s:.3f} s after the first"
        f" of all, and {overlap}; how far their clocks differ is not recorded"
    )
