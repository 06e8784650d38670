"""Imports files of another tool as one recording, which is complete or absent."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from plimsoll import texts, wording
from plimsoll.campaign.load import UnknownLoad
from plimsoll.errors import InputError, Problem, StorageError
from plimsoll.intake import (
    READERS,
    limits,
    named,
    recorded,
    runs,
    stages,
    summer_time,
    unpacked,
    zabbix,
)
from plimsoll.intake.ahead import taken_ahead
from plimsoll.intake.rows import ImportStats
from plimsoll.intake.set_back import LogOrder
from plimsoll.recording import (
    HOST,
    ClockSetBack,
    Driver,
    Ending,
    RecordedServer,
    RecordedStage,
    Recording,
)
from plimsoll.recording.writing import write_usage
from plimsoll.storage import documents
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from plimsoll.intake.recorded import Written
    from plimsoll.intake.rows import Reader, ReadOptions
    from plimsoll.intake.runs import ImportedRun
    from plimsoll.intake.summer_time import ClockChange
    from plimsoll.intake.unpacked import Packed, Unpacked
    from plimsoll.recording.readings import Reading
    from plimsoll.storage.results import Results

_NAME_IT = "give the tool's per-request log"
_COLUMNS = (
    "any other log of columns is read as `jmeter`, with `columns='timeStamp,elapsed,responseCode'` "
    "and `separator=','`"
)

_IN_MS = "jmeter.save.saveservice.timestamp_format=ms"

BATCHES_AHEAD = 2
"""Batches of each file that are read while those before are written."""

OTHERS = "requests of other labels"
OF_OTHER_RUNS = "requests of other runs"
LOAD = "imported"

_SECOND_NS = 1_000_000_000
_YEAR_2000_NS = 946_684_800 * _SECOND_NS
_NO_SIGN = re.compile(r"[^A-Za-z0-9_-]+")
_MARK_DIGITS = 8


@dataclass(frozen=True)
class About:
    """Facts about the trial that the files do not contain.

    Attributes:
        framework: Name of the framework.
        endpoint: Name of the endpoint; empty for that of the requests.
        labels: Only requests with these labels are imported; empty for all.
        warm_up_s: Length of the warm-up, which is not summarised, in seconds; None to derive it
            from the users.
        cores: Cores of the server; None if unknown.
        partial: Whether to import the readable part of a damaged file.
        run: Number of the run to import, from 1; `runs.ALL` for all as one; None if there is only
            one.
        is_named_by_file: Whether `framework` is the name of the file, since no other was given.
    """

    framework: str
    endpoint: str = ""
    labels: tuple[str, ...] = ()
    warm_up_s: float | None = None
    cores: int | None = None
    partial: bool = False
    run: int | None = None
    is_named_by_file: bool = False

    @property
    def only_run(self) -> int | None:
        """Number of the run to import; None for the only one, and for all as one."""
        return None if self.run == runs.ALL else self.run

    @property
    def remark(self) -> str:
        """Where the name of the framework comes from, if it was not given; else empty."""
        if not self.is_named_by_file:
            return ""
        return f"`{self.framework}` is the name of the file; `--framework NAME` names the server"


@dataclass(frozen=True)
class Cpu:
    """Readings of the server's CPU.

    Attributes:
        file: The file.
        options: How to read it.
    """

    file: Path
    options: zabbix.CpuOptions


@dataclass(frozen=True)
class Imported:
    """An imported recording.

    Attributes:
        recording: The recording.
        tallies: Row counts of each file.
    """

    recording: Recording
    tallies: tuple[ImportStats, ...] = field(default=())


def reader_of(files: Sequence[Path], name: str, *, partial: bool) -> Reader:
    """The reader of a tool.

    Args:
        files: The files; the beginning of the first one identifies the tool if it is not named.
        name: Name of the tool; empty to recognise it.
        partial: Whether to import the readable part of a damaged file.

    Raises:
        InputError: There is no such tool, or no reader recognises the file.
    """
    if name:
        return named(name)
    packed = unpacked.streams(files[0], partial=partial)[0]
    with unpacked.opened(packed, partial=partial) as (stream, _):
        beginning = stream.read(unpacked.BEGINNING_BYTES)
    found = next((reader for reader in READERS if reader.recognises(beginning)), None)
    if found is None:
        known = ", ".join(f"`{reader.NAME}`" for reader in READERS)
        message = "is empty" if not beginning else "is not in a known format"
        hint = f"give the tool before the file: {known}; {_COLUMNS}" if beginning else _NAME_IT
        raise InputError([Problem(packed.name, message, hint)])
    return found


def rows(
    reader: Reader, files: Sequence[Path], options: ReadOptions, about: About, cpu: Cpu | None,
    results: Results,
) -> Imported:  # fmt: skip
    """Imports request logs of a tool, one per host of the load generator.

    Args:
        reader: Reads them.
        files: The files.
        options: How to read them.
        about: Facts that they do not contain.
        cpu: Readings of the server's CPU; None if there are none.
        results: Storage of the recording; an earlier one of the same import is replaced.

    Raises:
        InputError: Something cannot be read, or nothing is left; nothing is kept.
        StorageError: The recording could not be written; nothing is kept.
    """
    sources = {
        name: _Source(reader, packed, options, about)
        for name, packed in _hosts(files, about).items()
    }
    trial = _trial_id(about, reader.NAME)
    with _trial(results, trial) as into:
        seen = runs.Runs(_name(files))
        if about.only_run is not None:
            run = runs.of(sources.values(), _name(files)).numbered(about.only_run)
            sources = {name: replace(one, run=run) for name, one in sources.items()}
        written = recorded.merge(sources, into, None, watch=seen.add)
        tallies = [one.tally for one in sources.values()]
        _require_rows(written, tallies)
        _require_used(options, tallies, _name(files))
        changes = {host: change for host, one in sources.items() if (change := one.change())}
        if about.run is None:
            _require_no_skipped_hour(changes, sources)
            seen.require_one()
        seen.require_short()
        derived = stages.derived(written.readings, written.last_ns, about.warm_up_s, written.begun)
        readings, read = _cpu(cpu, written.zero_utc_ns, written.last_ns, about)
        write_usage([*written.readings, *readings], into / "usage.parquet")
        _remark_local_dates(tallies, with_cpu=cpu is not None)
        for host, change in changes.items():
            sources[host].tally.remarks.append(_of_summer_time(change))
        recording = _recording(trial, reader.NAME, about, written, derived, (tallies, read))
        recording = _with_set_back(recording, sources, changes, written.zero_utc_ns)
        tallies += read
        documents.keep_recording(recording, into)
    return Imported(recording, tuple(tallies))


def readings(cpu: Cpu, about: About, results: Results) -> Imported:
    """Imports readings of a server's CPU alone.

    Args:
        cpu: The readings.
        about: Facts that they do not contain.
        results: Storage of the recording; an earlier one of the same import is replaced.

    Raises:
        InputError: They cannot be read; nothing is kept.
        StorageError: The recording could not be written; nothing is kept.
    """
    trial = _trial_id(about, zabbix.NAME)
    found, tally = _busy(cpu, about)
    if found[-1].clock_ns - found[0].clock_ns > limits.RUN_NS.most:
        raise limits.RUN_NS.refused(tally.file)
    zero_ns = found[0].clock_ns // _SECOND_NS * _SECOND_NS
    end_ns = found[-1].clock_ns // _SECOND_NS * _SECOND_NS + _SECOND_NS - zero_ns
    derived = stages.derived((), end_ns - 1, about.warm_up_s)
    with _trial(results, trial) as into:
        rows = zabbix.readings(found, zero_ns, end_ns, tally)
        write_usage(rows, into / "usage.parquet")
        recording = replace(
            _of_readings(trial, about, zero_ns, derived.stages),
            notes=tuple(filter(None, (*_remarks(tally), about.remark))),
        )
        documents.keep_recording(recording, into)
    return Imported(recording, (tally,))


@contextmanager
def _trial(results: Results, trial: str) -> Generator[Path]:
    """The folder of a trial, which appears if the block succeeds.

    Raises:
        StorageError: It cannot be written, or its place contains something else.
    """
    if results.campaign_toml() is not None:
        message = f"`{results.place}` contains the results of a campaign"
        raise StorageError(message, "choose another folder with `into=`")
    with results.locked(), results.trial(trial) as into, writing(results.folder):
        yield into


def _hosts(files: Sequence[Path], about: About) -> dict[str, Packed]:
    """The files to read, by the name of the host that wrote them."""
    found: list[Packed] = []
    for file in files:
        found += unpacked.streams(file, partial=about.partial)
        if len(found) > limits.FILES.most:
            raise limits.FILES.refused(str(file))
    if len(found) == 1:
        return {HOST: found[0]}
    names = [texts.line(one.member or unpacked.stem(one.path)) for one in found]
    several = len(set(names)) < len(names)
    return {
        f"{name} {place}" if several else name: one
        for place, (name, one) in enumerate(zip(names, found, strict=True), 1)
    }


def _name(files: Sequence[Path]) -> str:
    """A common name of files for messages."""
    return str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


@dataclass
class _Source:
    """One file, whose requests can be read more than once; it is opened for each reading.

    Attributes:
        reader: Reads it.
        packed: The file.
        options: How to read it.
        about: Which requests to import.
        run: The run to import; None for all requests.
        tally: Row counts of the last reading.
        order: Timestamps of the last reading, in the order of the file.
    """

    reader: Reader
    packed: Packed
    options: ReadOptions
    about: About
    run: ImportedRun | None = None
    tally: ImportStats = field(init=False)
    order: LogOrder = field(init=False)

    def __post_init__(self) -> None:
        self.tally = ImportStats(self.packed.name)
        self.order = LogOrder()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        self.tally = ImportStats(self.packed.name)
        self.order = LogOrder()
        with taken_ahead(self._batches(self.tally), BATCHES_AHEAD) as batches:
            for batch in batches:
                self.order.add(batch)
                yield batch

    def change(self) -> ClockChange | None:
        """The hour that summer time skips or repeats in the last reading; None if there is none."""
        return summer_time.change(self.order) if self.tally.has_local_dates else None

    def _batches(self, tally: ImportStats) -> Generator[pa.RecordBatch]:
        """The requests to import."""
        with unpacked.opened(self.packed, partial=self.about.partial) as (stream, raw):
            for batch in self.reader.read(stream, self.options, tally):
                found = _labelled(batch, self.about.labels, tally) if self.about.labels else batch
                yield _of_run(found, self.run, tally) if self.run else found
            tally.never_sent = round(tally.never_sent * _chosen_ratio(tally))
            _remark_damage(raw, tally)


def _require_no_skipped_hour(
    changes: Mapping[str, ClockChange], sources: Mapping[str, _Source]
) -> None:
    """Requires that no log skips an hour, since the zone of its clock tells the instants.

    Raises:
        InputError: One does.
    """
    problems = [
        Problem(
            sources[host].tally.file,
            f"has no row in the hour from {change.hour} on, as where summer time begins",
            "give the zone of its clock, such as `time_zone='Europe/Berlin'`, or log milliseconds "
            f"(`{_IN_MS}`); if it was a pause, `run='all'`",
        )
        for host, change in changes.items()
        if change.is_skipped
    ]
    if problems:
        raise InputError(problems)


def _of_summer_time(change: ClockChange) -> str:
    """A note on an hour that is skipped or repeated."""
    if change.is_skipped:
        return (
            f"it has no row in the hour from {change.hour} on, as where summer time begins: its "
            "dates have no zone and are taken as UTC (`--time-zone Europe/Berlin` names another)"
        )
    return (
        f"it goes back by an hour, to {change.hour}, as where summer time ends: its dates have no "
        f"zone, so rates are wrong; `{_IN_MS}` logs milliseconds"
    )


def _remark_local_dates(tallies: Sequence[ImportStats], *, with_cpu: bool) -> None:
    """Notes that dates have no zone, where other instants must fit them."""
    if not with_cpu and len(tallies) == 1:
        return
    fit = "CPU readings" if with_cpu else "those of the other files"
    for tally in tallies:
        if tally.has_local_dates and tally.kept:
            tally.remarks.append(
                f"its dates have no zone and are taken as UTC, so {fit} fit them only if they are; "
                "`--time-zone Europe/Berlin` names another"
            )


def _remark_damage(raw: Unpacked, tally: ImportStats) -> None:
    if raw.damage:
        tally.remarks.append(f"the file is damaged or truncated ({raw.damage}); the rest is lost")


def _chosen_ratio(tally: ImportStats) -> float:
    """Share of the requests of a file that are of the chosen run and labels."""
    others = tally.left_out[OTHERS] + tally.left_out[OF_OTHER_RUNS]
    return tally.kept / (tally.kept + others) if others else 1.0


def _of_run(batch: pa.RecordBatch, run: ImportedRun, tally: ImportStats) -> pa.RecordBatch:
    found = runs.within(batch, run)
    left = len(batch) - len(found)
    tally.kept -= left
    tally.leave_out(OF_OTHER_RUNS, left)
    return found


def _labelled(batch: pa.RecordBatch, labels: Sequence[str], tally: ImportStats) -> pa.RecordBatch:
    kinds = batch.column("kind").cast(pa.string())
    wanted = pc.is_in(kinds, value_set=pa.array(labels, pa.string()))
    found = batch.filter(wanted)
    left = len(batch) - len(found)
    tally.kept -= left
    tally.leave_out(OTHERS, left)
    return found


def _require_rows(written: Written, tallies: Sequence[ImportStats]) -> None:
    """Requires at least one request.

    Raises:
        InputError: There is none; the message names what was found instead.
    """
    if written.rows:
        return
    raise InputError(
        [
            Problem(tally.file, f"contains no request{tally.instead}", _hint(tally))
            for tally in tallies
        ]
    )


def _require_used(options: ReadOptions, tallies: Sequence[ImportStats], name: str) -> None:
    """Requires that each option decided how at least one file was read.

    Raises:
        InputError: One had no effect.
    """
    used = {argument for tally in tallies for argument in tally.used}
    problems = [
        Problem(argument, f"has no effect on `{name}`", f"{purpose}: remove `{argument}=`")
        for argument, purpose in options.given.items()
        if argument not in used
    ]
    if problems:
        raise InputError(problems)


def _hint(tally: ImportStats) -> str:
    if tally.left_out[OTHERS]:
        return "give a label of the file with `labels=`"
    if tally.left_out:
        return "configure the tool to log each request, not only totals"
    return tally.remedy or _NAME_IT


def _cpu(
    cpu: Cpu | None, zero_ns: int, end_ns: int, about: About
) -> tuple[list[Reading], tuple[ImportStats, ...]]:
    if cpu is None:
        return [], ()
    found, tally = _busy(cpu, about)
    return zabbix.readings(found, zero_ns, end_ns, tally), (tally,)


def _busy(cpu: Cpu, about: About) -> tuple[tuple[zabbix.Busy, ...], ImportStats]:
    """The readings of the first file in a file."""
    packed = unpacked.streams(cpu.file, partial=about.partial)[0]
    tally = ImportStats(packed.name)
    with unpacked.opened(packed, partial=about.partial) as (stream, raw):
        found = zabbix.read(stream, cpu.options, tally)
        _remark_damage(raw, tally)
    return found, tally


def _trial_id(about: About, tool: str) -> str:
    """The same for the same names, and never that of others: it replaces what has it.

    Other labels of a file are another recording, and so is another of its runs.
    """
    run = "" if about.only_run is None else f"run-{about.only_run}"
    parts = (about.framework, about.endpoint, "+".join(sorted(about.labels)), run, tool)
    return ".".join(_signs(part) for part in parts if part)


def _signs(name: str) -> str:
    """A name in signs of every file system, with a mark of what they leave out."""
    found = _NO_SIGN.sub("-", name).strip("-")
    if found == name:
        return name
    mark = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:_MARK_DIGITS]
    return f"{found}-{mark}" if found else mark


def _recording(
    trial: str,
    tool: str,
    about: About,
    written: Written,
    derived: stages.DerivedStages,
    tallies: tuple[Sequence[ImportStats], Sequence[ImportStats]],
) -> Recording:
    """The recording of requests; row counts are those of logs, then those of CPU readings."""
    of_logs, of_cpu = tallies
    users = round(max((stage.end for stage in derived.stages), default=0.0))
    users = max(users, sum(tally.users for tally in of_logs))
    driver = Driver(
        name=tool,
        version="",
        cores=(),
        threads=users,
        ended_by="",
        notes=tuple(filter(None, (*_notes(derived, written, (*of_logs, *of_cpu)), about.remark))),
    )
    hosts = list(written.first_ns)
    recording = _of_readings(trial, about, written.zero_utc_ns, derived.stages)
    return replace(
        recording,
        driver_name=tool,
        driver=recorded.with_capabilities(driver, written, of_logs),
        endpoint=about.endpoint or _endpoint(written.kinds),
        requests=written.kinds,
        machines={host: {} for host in hosts},
        clock_offsets_ns={hosts[0]: 0},
    )


def _with_set_back(
    recording: Recording,
    sources: Mapping[str, _Source],
    changes: Mapping[str, ClockChange],
    zero_ns: int,
) -> Recording:
    """The recording with where the clock of a log was set back by most, if one was."""
    found = [
        replace(one, host=host if len(sources) > 1 else "")
        for host, source in sources.items()
        if (one := _set_back(source, changes.get(host), zero_ns))
    ]
    if not found or recording.driver is None:
        return recording
    most = max(found, key=lambda one: one.by_ns)
    return replace(recording, driver=replace(recording.driver, clock_set_back=most))


def _set_back(source: _Source, change: ClockChange | None, zero_ns: int) -> ClockSetBack | None:
    """Where the clock of a log was set back; at the end of summer time even near its ends."""
    if change is None or change.is_skipped:
        return source.order.set_back(zero_ns, source.tally.instants_step_s)
    return ClockSetBack(
        by_ns=limits.HOUR_NS,
        after_rows=change.after_rows,
        at_ns=change.hour_ns + limits.HOUR_NS - zero_ns,
        is_summer_time=True,
    )


def _endpoint(kinds: Sequence[str]) -> str:
    return kinds[0] if len(kinds) == 1 else f"{len(kinds)} request types"


def _of_readings(
    trial: str, about: About, zero_ns: int, derived: tuple[RecordedStage, ...]
) -> Recording:
    """A recording of which only the time is known."""
    return Recording(
        trial=trial,
        order=0,
        framework=about.framework,
        variant="",
        language="",
        endpoint=about.endpoint,
        load=UnknownLoad(LOAD),
        repetition=about.only_run or 1,
        driver_name=zabbix.NAME,
        seed=0,
        zero_utc=_utc(zero_ns),
        stages=derived,
        requests=(),
        machines={},
        versions={},
        clock_offsets_ns={},
        ending=Ending(),
        server=RecordedServer(address="", workers=about.cores or 0),
        driver=None,
    )


def _utc(instant_ns: int) -> str:
    """A timestamp in ISO 8601; empty if the tool's timestamps are not since 1970."""
    if instant_ns < _YEAR_2000_NS:
        return ""
    return datetime.fromtimestamp(instant_ns / _SECOND_NS, UTC).isoformat()


def _notes(
    derived: stages.DerivedStages, written: Written, tallies: Sequence[ImportStats]
) -> Iterator[str]:
    """Notes for readers of the results."""
    if derived.sentence:
        yield derived.sentence
    for tally in tallies:
        yield from _remarks(tally)
    if len(written.first_ns) > 1:
        yield _apart(written)


def _remarks(tally: ImportStats) -> Iterator[str]:
    """Notes on what was excluded from a file, and on what it lacks."""
    name = Path(tally.file).name
    if not tally.kept:
        yield f"`{name}`: contributed no request"
    for reason, count in tally.left_out.items():
        yield f"`{name}`: excluded {reason} ({count})"
    if tally.broken:
        yield f"`{name}`: malformed lines were skipped ({tally.broken})"
    for remark in tally.remarks:
        yield f"`{name}`: {remark}"


def _apart(written: Written) -> str:
    """How far the load generators are apart, by their first and last requests."""
    firsts, lasts = written.first_ns, written.ends_ns
    late = max(firsts, key=lambda host: firsts[host])
    apart_s = firsts[late] / _SECOND_NS
    together_s = (min(lasts.values()) - max(firsts.values())) / _SECOND_NS
    overlap = (
        f"all sent for {wording.decimals(together_s, 1)} s"
        if together_s > 0
        else "they never overlapped"
    )
    return (
        f"{len(firsts)} engines: `{late}` sent its first request {wording.decimals(apart_s, 3)} s "
        "after the first"
        f" of all, and {overlap}; the offset of their clocks is unknown"
    )
