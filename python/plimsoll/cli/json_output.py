"""JSON on standard output, as all verbs print it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def show(
    document: object, *, indent: int | None = None, default: Callable[[object], str] | None = None
) -> None:
    """Prints a document as JSON.

    JSON has no infinite number: null stands in place of one, as of a limit that nothing exceeds.

    Args:
        document: Mappings, sequences, texts and numbers.
        indent: Signs by which each level is indented; None for a single line.
        default: Makes text of whatever else is in it.
    """
    click.echo(json.dumps(_finite(document), indent=indent, default=default, allow_nan=False))


def _finite(value: object) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            table = cast("Mapping[str, object]", value)
            return {key: _finite(one) for key, one in table.items()}
        case list() | tuple():
            return [_finite(one) for one in cast("Sequence[object]", value)]
        case _:
            return value
