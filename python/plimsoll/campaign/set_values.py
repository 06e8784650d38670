"""Set values: which values of a campaign `--set` gave, and what they were before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.lines import KeyPath


@dataclass(frozen=True)
class SetValue:
    """A value of a campaign that differs from that of its file.

    Attributes:
        path: Where it stands in the campaign as run.
        before: What it was by the file, or by default.
    """

    path: KeyPath
    before: object


def changed(now: Mapping[str, object], before: Mapping[str, object]) -> tuple[SetValue, ...]:
    """The values of a campaign that settings changed.

    Args:
        now: The campaign as JSON, with the settings.
        before: The same without them.
    """
    return tuple(_changed(now, before, ()))


def _changed(now: object, before: object, path: KeyPath) -> Iterator[SetValue]:
    if now == before:
        return
    keys = _common_keys(now, before)
    if not keys:
        yield SetValue(path, before)
    for key in keys:
        yield from _changed(_item(now, key), _item(before, key), (*path, key))


def _common_keys(now: object, before: object) -> Sequence[str | int]:
    """The keys of two tables or lists of tables of one shape; none where they differ as a whole."""
    if isinstance(now, dict) and isinstance(before, dict):
        known = [*cast("Mapping[str, object]", now)]
        return known if set(cast("Mapping[str, object]", before)) <= set(known) else []
    if isinstance(now, list) and isinstance(before, list):
        items = [*cast("list[object]", now), *cast("list[object]", before)]
        is_tables = all(isinstance(one, dict) for one in items)
        count = len(cast("list[object]", now))
        return range(count) if is_tables and len(items) == 2 * count else []
    return []


def _item(value: object, key: str | int) -> object:
    """An item of a table or a list; None where a table lacks it."""
    if isinstance(value, list):
        return cast("list[object]", value)[cast("int", key)]
    return cast("Mapping[object, object]", value).get(key)
