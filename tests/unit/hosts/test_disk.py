"""What an agent says of its disk."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import PlimsollError, StorageError
from plimsoll.hosts import disk
from plimsoll.hosts.agent import membership, steps
from plimsoll.hosts.agent.membership import _Member


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/full")


def test_a_folder_that_cannot_be_written_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught, disk.written(tmp_path, "do that"):
        full()
    assert caught.value.message == f"`{tmp_path}` cannot be written: No space left on device"
    assert caught.value.hint == "do that"


def test_an_error_of_the_load_generator_gets_the_folder_and_what_is_free(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(StorageError) as caught, disk.written(gone):
        raise StorageError("the engine could not write its records", "run again to resume")
    assert f"its records: `{gone}` has " in caught.value.message
    assert caught.value.hint == disk.ELSEWHERE
    with pytest.raises(StorageError, match=f"^no space in `{gone}`$"), disk.written(gone):
        raise StorageError(f"no space in `{gone}`", "")


def test_a_step_on_a_full_disk_is_no_fault_of_the_agent() -> None:
    error = steps.ended(full).error
    assert isinstance(error, StorageError)
    assert error.message == "`/full` cannot be written: No space left on device"


def test_an_order_on_a_full_disk_is_not_taken_for_a_broken_connection() -> None:
    class Full:
        arm = staticmethod(full)

    member: Any = object.__new__(_Member)
    member._agent = Full()
    answer: Any = asyncio.run(_Member._carry_out(member, "arm", ()))
    given = answer["given"].data
    assert isinstance(given, PlimsollError)
    assert "`/full`" in given.message
    assert membership.FULL[0] == errno.ENOSPC
