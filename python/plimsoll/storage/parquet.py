"""A folder of Parquet files.

```
results/<campaign>/
├── campaign.toml             as given
├── campaign.json             the campaign with settings of the command line and defaults applied
├── published.toml            the campaign's file of published figures, as given
├── plan.json                 trials in order
├── .lock                     held while a campaign is conducted
├── .outlines.json            what is known of each trial without reading it
├── .verified.json            folders whose files were compared with their digests
├── trials/<trial id>/        trial.json and the recorded tables, and their digests in SHA256SUMS;
│                             complete or absent
├── trials/.<trial id>.partial/   a trial that is being conducted
├── fetched/<trial id>/<host>/    rows of other hosts that are being copied here
├── superseded/1/             results of trials that were repeated after a change
├── derived/                  comparisons, verdicts on the campaign: can be computed again
│   ├── <trial id>/           derived tables and verdicts of one trial; complete or absent
│   └── .<trial id>.pid<process>.partial/   the same, that a process is writing
└── report/
```
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll import texts, wording
from plimsoll.errors import StorageError
from plimsoll.events import Listener, Step, ignore
from plimsoll.recording import FORMAT, Recording
from plimsoll.storage import digests, documents, door, outlines, verified
from plimsoll.storage.results import DerivedTrial, StoredState
from plimsoll.storage.verified import VerifiedFolders

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

    from plimsoll.campaign.as_run import Document
    from plimsoll.plan import Trial
    from plimsoll.storage.documents import CampaignFiles, PlannedTrial
    from plimsoll.storage.outlines import Outline

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_THERE = (errno.ENOTEMPTY, errno.EEXIST)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)


def results(folder: Path) -> ParquetResults:
    """The results in a folder, which need not exist yet."""
    return ParquetResults(folder.absolute(), given=str(folder))


def serves(storage: str) -> bool:
    """Whether this is the selected storage: no other was named."""
    return not storage


@contextmanager
def opened(folder: Path, _storage: str = "") -> Generator[ParquetResults]:
    """The results in a folder, which need not exist yet."""
    yield results(folder)


@dataclass(frozen=True)
class ParquetResults:
    """The results of one campaign.

    Attributes:
        folder: Their folder.
        given: How the folder was named, relative to the current folder of then; empty for as it is.
    """

    folder: Path
    given: str = field(default="", kw_only=True, compare=False)
    _known: dict[str, tuple[digests.State, Recording]] = field(
        default_factory=dict[str, "tuple[digests.State, Recording]"],
        init=False,
        repr=False,
        compare=False,
    )
    """Recordings that were read, each with the state of its file then: a run, its verdicts and its
    report ask for the same ones."""

    @property
    def trials(self) -> Path:
        """Folder of the recorded trials."""
        return self.folder / "trials"

    @property
    def derived(self) -> Path:
        """Folder of everything that can be computed again."""
        return self.folder / "derived"

    @property
    def superseded(self) -> Path:
        """Folder of the trials that were repeated after a change."""
        return self.folder / "superseded"

    @property
    def report(self) -> Path:
        """Folder of the report."""
        return self.folder / "report"

    @property
    def place(self) -> str:
        """Where the results are, for messages: as they were named, as long as that leads there."""
        leads_there = self.given and Path(self.given).absolute() == self.folder
        return self.given if leads_there else str(self.folder)

    @property
    def is_shared(self) -> bool:
        """Other processes of this host can open the folder and add to it meanwhile."""
        return True

    @property
    def logs_place(self) -> str:
        """Where logs are, for messages."""
        return texts.shown(self.trials)

    def trial_ids(self) -> tuple[str, ...]:
        """Ids of the trials that are complete, in the order of the plan."""
        planned = {planned["id"]: order for order, planned in enumerate(self.plan())}
        found = [path.parent.name for path in self.trials.glob(f"[!.]*/{documents.TRIAL}")]
        return tuple(sorted(found, key=lambda name: (planned.get(name, len(planned)), name)))

    def planned_ids(self) -> tuple[str, ...]:
        """Ids of the trials of the plan, in order; empty if there is no plan."""
        return tuple(planned["id"] for planned in self.plan())

    def plan(self) -> list[PlannedTrial]:
        """The trials of the plan in the format of `documents.planned`; empty without a plan.

        Raises:
            StorageError: The plan is damaged.
        """
        path = self.folder / _PLAN
        try:
            return documents.plan(json.loads(path.read_bytes()))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValueError, KeyError) as error:
            raise _damaged(path, error, _WRITE_AGAIN) from error

    def campaign_toml(self) -> str | None:
        """The campaign file as given; None if there was none.

        Raises:
            StorageError: It cannot be read.
        """
        return self._given("campaign.toml")

    def published_toml(self) -> str | None:
        """The campaign's file of published figures as given; None if it has none.

        Raises:
            StorageError: They cannot be read.
        """
        return self._given("published.toml")

    def campaign_resolved(self) -> Document | None:
        """The campaign with all settings and defaults applied; None if unknown.

        Raises:
            StorageError: It cannot be read.
        """
        text = self._given("campaign.json")
        try:
            return None if text is None else documents.resolved(json.loads(text))
        except ValueError as error:
            raise _damaged(self.folder / "campaign.json", error, _WRITE_AGAIN) from error

    @cached_property
    def _verified(self) -> VerifiedFolders:
        """The folders that were verified."""
        return VerifiedFolders(self.folder)

    def state(self, on_event: Listener = ignore) -> StoredState | None:
        """Digests of all that is stored: of trials, those that were written with them.

        They are verified where a file has changed since they were, which is kept if possible.

        Args:
            on_event: Called with a `Step` for each folder.

        Raises:
            StorageError: A file cannot be read.
        """
        given = [(name, self._given(name)) for name in _GIVEN]
        with writing(self.folder, None):
            recorded = digests.of_parts(
                [*given, *self._contents(self.trials, "recordings", on_event)]
            )
            derived = digests.of_parts(self._contents(self.derived, "derived tables", on_event))
        self._keep_verified()
        return StoredState(recorded, derived)

    def _contents(self, folder: Path, what: str, on_event: Listener) -> Iterator[tuple[str, str]]:
        """Name and digest of what is in a folder; without digests, of the states of its files."""
        found = digests.entries(folder)
        for number, one in enumerate(found, 1):
            on_event(Step(f"verifying {what}: {wording.progress(number, len(found))}"))
            path = Path(one.path)
            if one.is_dir():
                yield one.name, self._verified.content(path) or digests.states(path)
            else:
                yield one.name, digests.of_file(path)

    def _keep_verified(self) -> None:
        if self._verified.has_new:
            path = self.folder / verified.FILE
            with suppress(StorageError), self._replacing(path) as partial:
                partial.write_text(self._verified.text(), "utf-8")
                self._verified.has_new = False

    def endings(self) -> dict[str, str]:
        """How each trial ended, by its id: `completed`, or the kind of its error.

        Raises:
            StorageError: A recording cannot be read.
        """
        return {trial_id: one.ending for trial_id, one in self.outlines().items()}

    def outlines(self) -> dict[str, Outline]:
        """The outline of each recording; those that are new are read, and kept if possible.

        Raises:
            StorageError: A recording cannot be read.
        """
        path = self.folder / outlines.FILE
        known = outlines.read(path)
        found = {key: self._outlined(key, known.get(key)) for key in self.trial_ids()}
        if found != known:
            with suppress(StorageError), self._replacing(path) as partial:
                partial.write_text(outlines.text(found), "utf-8")
        return {trial_id: outline for trial_id, (_, outline) in found.items()}

    def _outlined(self, trial_id: str, known: outlines.Known | None) -> outlines.Known:
        """An outline with the state of its file; the known one where that is the same."""
        try:
            state = digests.state(self.trials / trial_id / documents.TRIAL)
        except OSError as error:
            raise self._no_trial(trial_id) from error
        if known is not None and known[0] == state:
            return known
        return state, outlines.of(self.recording(trial_id))

    def require(self, trial_id: str) -> None:
        """Does nothing as long as the folder of a trial is there.

        Raises:
            StorageError: It is not.
        """
        if not (self.trials / trial_id).is_dir():
            raise self._no_trial(trial_id)

    def recording(self, trial_id: str) -> Recording:
        """The recording of a trial.

        Raises:
            StorageError: The trial does not exist, or this version cannot read it.
        """
        path = self.trials / trial_id / documents.TRIAL
        try:
            state = digests.state(path)
            before, found = self._known.get(trial_id, (None, None))
            if found is not None and before == state:
                return found
            found = documents.recording_of_text(path.read_bytes(), str(path))
        except FileNotFoundError as error:
            raise self._no_trial(trial_id) from error
        except (OSError, ValueError) as error:
            raise _damaged(path, error, documents.REPEAT_TRIAL) from error
        self._require_unchanged([path], documents.REPEAT_TRIAL)
        self._known[trial_id] = (state, found)
        return found

    def _no_trial(self, trial_id: str) -> StorageError:
        return StorageError(f"`{self.place}` has no trial `{trial_id}`", documents.GONE)

    def table(self, trial_id: str, name: str) -> ds.Dataset | pa.Table:
        """A recorded table of a trial, read lazily; empty if the trial has none.

        Args:
            trial_id: Id of the trial.
            name: `requests`, `connections` or `usage`.

        Raises:
            StorageError: The file is damaged, or it or the trial was removed.
        """
        path = self.trials / trial_id / f"{name}.parquet"
        if not path.exists():
            self._require_none_written(trial_id, path)
        try:
            found = door.rows.dataset(path, name)
        except (OSError, ValueError) as error:
            raise _damaged(path, error, documents.REPEAT_TRIAL) from error
        if path.exists():
            self._require_unchanged([path], documents.REPEAT_TRIAL)
        return found

    def _require_unchanged(self, files: Sequence[Path], hint: str) -> None:
        """Does nothing where files of one folder are what was written.

        Raises:
            StorageError: One is not, or cannot be read.
        """
        folder = files[0].parent
        try:
            changed = digests.changed(files, digests.kept(folder))
        except OSError as error:
            raise _damaged(folder, error, hint) from error
        if changed is not None and not changed.exists():
            raise StorageError(f"`{changed}` is missing", hint)
        if changed is not None:
            message = f"`{changed}` is damaged: its digest in `{digests.FILE}` is another one"
            raise StorageError(message, hint)

    def verify(self, trial_id: str) -> None:
        """Verifies what is recorded of a trial, if a file has changed since it was verified.

        Raises:
            StorageError: A file is missing, damaged, or cannot be read.
        """
        self._verify([self.trials / trial_id / documents.TRIAL], documents.REPEAT_TRIAL)

    def _verify(self, needed: Sequence[Path], hint: str) -> None:
        """Verifies a folder, if a file has changed since it was verified.

        Args:
            needed: Files of the folder that must be there and have digests, where it has any.
            hint: What to do about a file that is damaged.

        Raises:
            StorageError: A file is missing, damaged, or cannot be read.
        """
        folder = needed[0].parent
        try:
            if self._verified.content(folder) is not None:
                return
            listed = digests.listed(folder, digests.kept(folder))
        except OSError as error:
            raise _damaged(folder, error, hint) from error
        self._require_unchanged([*needed, *listed], hint)

    def _require_none_written(self, trial_id: str, path: Path) -> None:
        """Does nothing where a trial may have none: of another driver, or failed.

        Raises:
            StorageError: Its load generator wrote them.
        """
        self.require(trial_id)
        if not path.with_name(documents.TRIAL).exists():
            return  # a copy of its tables
        recording = self.recording(trial_id)
        driver = recording.driver
        has_own_rows = driver is not None and driver.name == "plimsoll" and not recording.hosts
        if has_own_rows and recording.ending.kind == "completed":
            hint = "restore the file, or run the trial again"
            raise StorageError(f"`{texts.shown(path)}` is missing", hint)

    def logs(self, trial_id: str) -> Mapping[str, str]:
        """Output of server and driver by file name: `server.log`.

        Raises:
            StorageError: A log cannot be read.
        """
        with writing(self.folder, None):
            found = sorted((self.trials / trial_id).glob("*.log"))
            return {path.name: path.read_text("utf-8", "replace") for path in found}

    def write_derived_trial(self, trial_id: str, derived: DerivedTrial) -> None:
        """Stores everything derived from a trial; replaces an earlier version as a whole.

        Raises:
            StorageError: It could not be written; the earlier version is unchanged.
        """
        partial = self.derived / f".{trial_id}.pid{os.getpid()}{_PARTIAL}"  # of one of two writers
        try:
            with writing(self.folder, None):
                shutil.rmtree(partial, ignore_errors=True)
                partial.mkdir(parents=True)
                for name, table in derived.tables.items():
                    door.rows.write(table, partial / f"{name}.parquet")
                (partial / _JUDGED).write_text(documents.as_text(derived.judged), "utf-8")
                digests.keep(partial)
                publish(partial, self.derived / trial_id)
                self._verified.content(self.derived / trial_id)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def read_derived_trial(self, trial_id: str) -> DerivedTrial | None:
        """Everything derived from a trial; None if it has not been computed.

        Raises:
            StorageError: A file is damaged: of these, or of those that they were derived from.
        """
        folder = self.derived / trial_id
        while (number := _number_of(folder)) is not None:
            self.verify(trial_id)
            try:
                return self._read_derived_trial(folder)
            except StorageError:
                if _number_of(folder) == number:
                    raise  # it is damaged: no other process has replaced it meanwhile
        return None

    def _read_derived_trial(self, folder: Path) -> DerivedTrial:
        tables = sorted(folder.glob("*.parquet"))
        try:
            judged = json.loads((folder / _JUDGED).read_bytes())
            found = {path.stem: door.rows.read(path) for path in tables}
        except (OSError, ValueError) as error:
            raise _damaged(folder, error, _JUDGE_AGAIN) from error
        self._verify([folder / _JUDGED, *tables], _JUDGE_AGAIN)
        return DerivedTrial(found, judged)

    def prune_derived(self) -> None:
        """Removes everything derived from trials that no longer exist, and what killed writers had.

        Raises:
            StorageError: It could not be removed.
        """
        with suppress(OSError):  # nobody needs it, and whoever may only read does
            remove_remains(self.derived)
        derived = [path for path in self.derived.glob("[!.]*") if path.is_dir()]
        there = set(self.trial_ids()) if derived else set[str]()
        with writing(self.folder, None):
            for path in derived:
                if path.name not in there:
                    with suppress(FileNotFoundError):  # of another process that removes it
                        shutil.rmtree(path)

    def derived_tables(self) -> tuple[str, ...]:
        """Names of the derived tables of the campaign."""
        return _stems(self.derived, ".parquet")

    def derived_documents(self) -> tuple[str, ...]:
        """Names of the derived documents of the campaign."""
        return _stems(self.derived, ".json")

    def write_derived(self, name: str, table: pa.Table) -> None:
        """Stores a derived table of the campaign; replaces an earlier one.

        Args:
            name: Name of the table.
            table: Its content.

        Raises:
            StorageError: It could not be written.
        """
        path = self.derived / f"{name}.parquet"
        if path.exists() and (earlier := self._earlier(name)) is not None and earlier.equals(table):
            return  # whoever may only read does
        with self._replacing(path, None) as partial:
            door.rows.write(table, partial)

    def _earlier(self, name: str) -> pa.Table | None:
        with suppress(StorageError):
            return self.read_derived(name)
        return None

    def read_derived(self, name: str) -> pa.Table | None:
        """A derived table of the campaign; None if it has not been computed.

        Raises:
            StorageError: The file is damaged.
        """
        path = self.derived / f"{name}.parquet"
        try:
            return door.rows.read(path) if path.exists() else None
        except (OSError, ValueError) as error:
            raise _damaged(path, error, _JUDGE_AGAIN) from error

    def write_derived_json(self, name: str, content: object) -> None:
        """Stores a derived document: `campaign_verdicts`.

        Raises:
            StorageError: It could not be written.
        """
        path = self.derived / f"{name}.json"
        text = (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
        with suppress(OSError):
            if path.read_bytes() == text:
                return
        with self._replacing(path, None) as partial:
            partial.write_bytes(text)

    def read_derived_json(self, name: str) -> Any:
        """A derived document; None if it has not been computed.

        Raises:
            StorageError: The file is damaged.
        """
        path = self.derived / f"{name}.json"
        try:
            return json.loads(path.read_bytes()) if path.exists() else None
        except (OSError, ValueError) as error:
            raise _damaged(path, error, _JUDGE_AGAIN) from error

    def prepare(self, campaign: CampaignFiles, trials: Sequence[Trial]) -> None:
        """Prepares the folder for a new or resumed campaign; call under `locked`.

        Removes the remains of a killed run.

        Args:
            campaign: The campaign.
            trials: Its trials in order.

        Raises:
            StorageError: The folder cannot be written, or contains something else.
        """
        plan = documents.planned_trials(trials)
        self._require_same_campaign(campaign, plan)
        with writing(self.folder):
            self.trials.mkdir(parents=True, exist_ok=True)
            remove_remains(self.trials)
            remove_remains(self.derived)
        for name, text in _texts(campaign, plan).items():
            with self._replacing(self.folder / name) as partial:
                partial.write_text(text, "utf-8")

    def holds(self, campaign: CampaignFiles, trials: Sequence[Trial]) -> bool:
        """Whether `prepare` was called with the same, so that it has nothing to write.

        Args:
            campaign: The campaign.
            trials: Its trials in order.

        Raises:
            StorageError: What is there cannot be read.
        """
        texts = _texts(campaign, [])
        del texts[_PLAN]
        return (
            all(self._given(name) == text for name, text in texts.items())
            and documents.planned_trials(trials) == self.plan()
        )

    def set_aside(self, trial_ids: Sequence[str]) -> str:
        """Moves trials into a new folder of results, `superseded/1`; call under `locked`.

        Args:
            trial_ids: Existing trials.

        Returns:
            The new folder.

        Raises:
            StorageError: It could not be written; trials that were not moved are unchanged.
        """
        with writing(self.folder):
            used = [path.name for path in self.superseded.glob("*")]
            # One that was deleted leaves a gap: the count may be a number that is used.
            number = max((int(name) for name in used if name.isdecimal()), default=0) + 1
            aside = ParquetResults(self.superseded / str(number))
            aside.trials.mkdir(parents=True)
            for name in _GIVEN:
                if (self.folder / name).exists():
                    shutil.copyfile(self.folder / name, aside.folder / name)
            for trial_id in trial_ids:
                self._set_aside(trial_id, aside)
            _sync(self.trials)
        return texts.shown(aside.folder)

    @contextmanager
    def locked(self, option: str | None = "into") -> Generator[None]:
        """Excludes other runs from the folder during the block.

        Args:
            option: The argument that selects another folder, for hints; None where none does.

        Raises:
            StorageError: Another run is using it, or it cannot be written.
        """
        with locked(self.folder, option):
            yield

    @contextmanager
    def trial(self, trial_id: str) -> Generator[Path]:
        """A folder for a trial that gets its final name only if the block succeeds.

        Args:
            trial_id: Id of the trial; an earlier recording of it is replaced.

        Yields:
            The folder to write to; it is removed if the block raises.

        Raises:
            StorageError: It could not be written.
        """
        partial = self.trials / f".{trial_id}{_PARTIAL}"
        try:
            with writing(self.folder):
                shutil.rmtree(partial, ignore_errors=True)
                partial.mkdir(parents=True)
            yield partial
            with writing(self.folder):
                digests.keep(partial)
                with suppress(FileNotFoundError):
                    shutil.rmtree(self.derived / trial_id)
                publish(partial, self.trials / trial_id)
                self._verified.content(self.trials / trial_id)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def _set_aside(self, trial_id: str, aside: ParquetResults) -> None:
        """Moves a trial, after everything derived from it, which can be derived again."""
        if (derived := self.derived / trial_id).exists():
            aside.derived.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):  # another process replaces it
                derived.rename(aside.derived / trial_id)
        (self.trials / trial_id).rename(aside.trials / trial_id)

    def _given(self, name: str) -> str | None:
        """A file given with the campaign; None if there was none."""
        given = self.folder / name
        if not given.exists():
            return None
        with writing(self.folder, None):
            return given.read_text("utf-8", "replace")

    def _require_same_campaign(self, campaign: CampaignFiles, plan: list[PlannedTrial]) -> None:
        given = self.campaign_toml()
        if given is None:
            self._require_empty()
            return
        other = documents.other_campaign(campaign.toml or "", plan, given, self.plan())
        other = other or documents.other_settings(campaign.resolved, self.campaign_resolved())
        if other:
            raise StorageError(f"`{self.place}` {other}", _ELSEWHERE)

    def _require_empty(self) -> None:
        with writing(self.folder):
            others = [path.name for path in self.folder.glob("*") if path.name != ".lock"]
        if others:
            message = f"`{self.place}` contains files that are not results (`{min(others)}`)"
            raise StorageError(message, _ELSEWHERE)

    @contextmanager
    def _replacing(self, path: Path, option: str | None = "into") -> Generator[Path]:
        """A file that replaces another one only when it is complete."""
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")  # of one of two readers
        try:
            with writing(self.folder, option):
                path.parent.mkdir(parents=True, exist_ok=True)
                yield partial
                _sync(partial)
                partial.replace(path)
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


def _stems(folder: Path, suffix: str) -> tuple[str, ...]:
    """Names of the files in a folder with a suffix, without it, in order."""
    found = folder.glob(f"[!.]*{suffix}")
    return tuple(sorted(path.stem for path in found if path.is_file()))


def _texts(campaign: CampaignFiles, plan: list[PlannedTrial]) -> dict[str, str]:
    """The stored files of a campaign by name; the plan is written last."""
    texts = (
        campaign.toml or "",
        campaign.resolved_text,
        campaign.published_toml,
        documents.as_text({"format": FORMAT, "trials": plan}),
    )
    return {name: text for name, text in zip(_GIVEN, texts, strict=True) if text is not None}


_PLAN = "plan.json"

_GIVEN = ("campaign.toml", "campaign.json", "published.toml", _PLAN)
"""Files of a campaign, in the order in which they are written."""

_PARTIAL, _EARLIER = ".partial", ".earlier"
_REMAINS = (_PARTIAL, _EARLIER)
"""Endings of hidden folders: of one that is being written, and of one that is being replaced."""

_WRITER = re.compile(r"\.pid(\d+)\.[a-z]+$")
"""The process that writes such a folder where there may be several, whom no lock excludes."""

_JUDGED = "verdicts.json"
"""File of the verdicts on a trial, in its folder of derived tables."""

_ELSEWHERE = "choose another folder with `into=`, or move this one"
_MAKE_WRITABLE = "make this folder writable, or use a copy of it that is"
_JUDGE_AGAIN = "run `plimsoll judge` to recompute it"
_WRITE_AGAIN = "restore it from a copy, or delete it and run the campaign again"


@contextmanager
def locked(folder: Path, option: str | None = "into") -> Generator[None]:
    """Excludes other runs from a folder during the block.

    Args:
        folder: The folder; created if necessary.
        option: The argument that selects another one, for hints; None where none does.

    Raises:
        StorageError: Another run is using it, or it cannot be written.
    """
    made = _missing(folder)
    with writing(folder, option):
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("a+")
    with lock:
        _take(lock.fileno(), folder, option)
        try:
            yield
        except BaseException:
            _take_away(folder, made)
            raise


@contextmanager
def writing(folder: Path, option: str | None = "into") -> Generator[None]:
    """Turns errors of the operating system while results are written into errors with a hint.

    Args:
        folder: The results that are written.
        option: The argument that selects another folder, for hints; None where none does, as
            results that are read have their place.

    Raises:
        StorageError: The block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        raise storage_error(folder, error, option) from error


def keep(path: Path, content: bytes) -> Path:
    """Writes a file, and creates its folder.

    Args:
        path: The file; an earlier one is overwritten.
        content: Its content.

    Returns:
        The path.

    Raises:
        StorageError: It could not be written.
    """
    with writing(path.parent, None):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return path


def storage_error(folder: Path, error: OSError, option: str | None = "into") -> StorageError:
    """The error for a failure in a folder of results, with a hint.

    Args:
        folder: The results.
        error: The error of the operating system, or of Arrow.
        option: The argument that selects another folder, for hints; None where none does.
    """
    reason = error.strerror or str(error)
    number = error.errno or _number_in(str(error))
    if number in _FULL:
        elsewhere = f" or choose another folder with `{option}=`" if option else ""
        hint = f"free disk space{elsewhere}, then run again"
        return StorageError(f"no space left for results in `{texts.shown(folder)}`", hint)
    if number in _FORBIDDEN:
        hint = f"choose a writable folder with `{option}=`" if option else _MAKE_WRITABLE
        return StorageError(f"cannot write results to `{texts.shown(folder)}`: {reason}", hint)
    elsewhere = f", or choose another one with `{option}=`" if option else ""
    hint = f"check the disk of this folder{elsewhere}"
    return StorageError(f"cannot store results in `{texts.shown(folder)}`: {reason}", hint)


def _damaged(path: Path, error: Exception, hint: str) -> StorageError:
    """The error for a stored file that cannot be read."""
    return StorageError(f"`{texts.shown(path)}` cannot be read: {documents.damage(error)}", hint)


def _number_in(text: str) -> int | None:
    """The error number in a message of Arrow, if it is one of those used here."""
    known = {os.strerror(number): number for number in (*_FULL, *_FORBIDDEN)}
    return next((number for words, number in known.items() if words in text), None)


def _missing(folder: Path) -> list[Path]:
    """The folder and its parents that do not exist yet, the innermost first."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def _take_away(folder: Path, made: Sequence[Path]) -> None:
    """Removes empty folders that were created for results."""
    if folder not in made:
        return
    with suppress(OSError):
        (folder / "trials").rmdir()
    with suppress(OSError):
        if [path.name for path in folder.iterdir()] == [".lock"]:
            (folder / ".lock").unlink()
        for path in made:
            path.rmdir()


def _take(lock: int, folder: Path, option: str | None) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        message = f"another run is using `{texts.shown(folder)}`"
        elsewhere = f", or choose another folder with `{option}=`" if option else ""
        hint = f"wait until it has finished{elsewhere}"
        raise StorageError(message, hint) from error


def publish(partial: Path, final: Path) -> None:
    """Gives a complete folder its final name, so that it is complete or absent after a crash.

    Args:
        partial: The folder.
        final: Its name; an existing folder of this name is replaced, also by several processes.

    Raises:
        OSError: It could not be written.
    """
    for path in partial.iterdir():
        _sync(path)
    _sync(partial)
    earlier = partial.with_suffix(_EARLIER)
    while True:
        shutil.rmtree(earlier, ignore_errors=True)
        with suppress(FileNotFoundError):
            final.rename(earlier)
        try:
            partial.rename(final)
            break
        except OSError as error:
            if error.errno not in _THERE:
                raise  # it is not that another process has put its own there meanwhile
    _sync(final.parent)
    shutil.rmtree(earlier, ignore_errors=True)


def remove_remains(folder: Path) -> None:
    """Removes what a killed run left of folders that it was replacing; nothing else is Plimsoll's.

    A folder of a process that runs stays.

    Args:
        folder: The folder that they are in, such as that of the trials.

    Raises:
        OSError: One could not be removed.
    """
    for ending in _REMAINS:
        for path in folder.glob(f".*{ending}"):
            if path.is_dir() and not path.is_symlink() and not _is_at_work(path):
                shutil.rmtree(path)


def _is_at_work(partial: Path) -> bool:
    """Whether the process that a folder is named after runs."""
    writer = _WRITER.search(partial.name)
    return writer is not None and Path("/proc", writer[1]).exists()


def _number_of(folder: Path) -> int | None:
    """The number of a folder, which another one of its name does not have; None for none."""
    try:
        return folder.stat().st_ino
    except (FileNotFoundError, NotADirectoryError):
        return None


def _sync(path: Path) -> None:
    """Waits until a file, or the entries of a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
