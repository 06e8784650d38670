"""Pictures: charts as vector graphics, for the formats that cannot draw them themselves."""

from __future__ import annotations

import hashlib
import json
import math
import re
from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING

from plimsoll import canvas
from plimsoll.processes import beside
from plimsoll.processes.beside import Beside
from plimsoll.report.formats import converter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from plimsoll.canvas import Specification

FEWEST_CELLS = 100
"""Shapes of one group from which on they are joined."""

_GROUP = re.compile(r'<g class="mark-rect [^>]*>(?:<path [^>]*/>)*</g>')
_CELL = re.compile(r'<path aria-hidden="true" d="([^"]*)" fill="rgb\((\d+), (\d+), (\d+)\)"/>')
_COUNTED = re.compile(r"\b(clip|gradient_)\d+\b")
_DIGITS = re.compile(r"\d+\.\d{3,}")
_STEP = 6
"""Step of a colour's channels, of 255."""

MANY = 64
"""Charts from which on further processes are worth their start, which takes as long as ten."""

BATCH = 256
"""Charts that are held at a time until they are drawn."""

FONT = "Liberation Sans"
"""A font that the converter brings along, so that a picture is the same on every machine."""


def svg(specification: Specification) -> str:
    """A chart as SVG, on light paper.

    Args:
        specification: What the chart drew.
    """
    return svgs([specification])[0]


def svgs(specifications: Sequence[Specification]) -> list[str]:
    """Charts as SVG, on light paper. Many are shared among the cores of the machine.

    Args:
        specifications: What the charts drew.

    Returns:
        As many pictures, in the same order.
    """
    wanted = [_still(one) for one in specifications]
    distinct = list(dict.fromkeys(wanted))
    cores = beside.cores_for(len(distinct), MANY)
    shares = [distinct[core::cores] for core in range(cores)]
    with ExitStack() as closing:
        others = [
            closing.enter_context(Beside(converter.__name__, json.dumps(share)))
            for share in shares[1:]
        ]
        own = converter.convert(shares[0])
        made = [own, *map(_drawn, others, shares[1:])]
    pictures = {
        text: _with_own_names(text, picture)
        for share, drawn in zip(shares, made, strict=True)
        for text, picture in zip(share, drawn, strict=True)
    }
    return [pictures[text] for text in wanted]


def named(specifications: Iterable[tuple[str, Specification]]) -> Iterator[tuple[str, str]]:
    """Names of charts with their pictures as SVG.

    Args:
        specifications: The charts with their names; a batch of them is held at a time.
    """
    coming = iter(specifications)
    while batch := list(islice(coming, BATCH)):
        drawn = svgs([specification for _, specification in batch])
        yield from zip((name for name, _ in batch), drawn, strict=True)


def _drawn(other: Beside, share: list[str]) -> list[str]:
    """What another process drew; if it could not, this one does."""
    written = other.written()
    return converter.convert(share) if written is None else json.loads(written)


def _still(specification: Specification) -> str:
    """A chart as text for the converter."""
    config: Specification = {**specification["config"], "font": FONT}
    return json.dumps({**without_pointer(specification), "config": config}, sort_keys=True)


def _with_own_names(specification: str, picture: str) -> str:
    """A picture whose clips and gradients are named by what it shows.

    The converter counts them through a process, so names would depend on what was drawn before.
    Pictures of one page must not share them.
    """
    mark = hashlib.sha256(specification.encode()).hexdigest()[:8]
    places: dict[str, int] = {}
    return _COUNTED.sub(
        lambda found: f"{found[1]}{mark}_{places.setdefault(found[0], len(places))}", picture
    )


def joined(picture: str) -> str:
    """A picture whose cells of one colour are one shape each: thousands of them become tens.

    Cells of a heat map do not overlap, so their order does not matter. Colours are rounded to what
    nobody tells apart.

    Args:
        picture: SVG as `svg` gives it.
    """
    return _GROUP.sub(lambda group: _joined_cells(group[0]), picture)


def _joined_cells(group: str) -> str:
    cells = _CELL.findall(group)
    if len(cells) < FEWEST_CELLS or len(cells) != group.count("<path "):
        return group
    shapes: dict[tuple[int, ...], list[str]] = {}
    for shape, *colour in cells:
        rounded = tuple(min(255, round(int(one) / _STEP) * _STEP) for one in colour)
        shapes.setdefault(rounded, []).append(_DIGITS.sub(_rounded, shape))
    paths = (
        f'<path d="{"".join(parts)}" fill="rgb({", ".join(map(str, colour))})"/>'
        for colour, parts in shapes.items()
    )
    return f"{group[: group.index('>') + 1]}{''.join(paths)}</g>"


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}"


def without_pointer(specification: Specification) -> Specification:
    """A chart without what is only there for a pointer: on paper there is none."""

    def still(view: Specification) -> Specification:
        layers = [one for one in view.get("layer", []) if not _is_pointer(one)]
        return {**view, **({"layer": layers} if layers else {})}

    bare = {name: value for name, value in still(specification).items() if name != "params"}
    if "vconcat" in bare:
        bare["vconcat"] = [still(view) for view in bare["vconcat"]]
    return bare


def _is_pointer(layer: Specification) -> bool:
    return str(layer.get("name", "")).startswith(canvas.POINTER)


def sized(
    specification: Specification, width_px: float, heights_px: Mapping[int, int]
) -> Specification:
    """A chart for a given room.

    Args:
        specification: What the chart drew.
        width_px: Width of the whole picture.
        heights_px: Height of a plot to its new height.
    """
    outside_px = specification.get("usermeta", {}).get(
        "outside_px", canvas.AXIS_PX + canvas.ASIDE_PX
    )
    plot = {"width": round(width_px - outside_px)}

    def fitted(view: Specification) -> Specification:
        return {**view, **plot, "height": heights_px.get(view["height"], view["height"])}

    if "vconcat" in specification:
        return {**specification, "vconcat": [fitted(view) for view in specification["vconcat"]]}
    return fitted(specification)


def in_parts(specification: Specification, most_px: int) -> list[Specification]:
    """A chart with a row for each entry, as several where it is too high for a page.

    Each has the axes, the scale and the width of the whole, so the parts read as one.

    Args:
        specification: What the chart drew.
        most_px: The greatest height of a plot.
    """
    rows = _rows(specification)
    if rows is None or specification["height"] <= most_px:
        return [specification]
    column, labels = rows
    row_px = specification["height"] / len(labels)
    count = math.ceil(len(labels) / (most_px // row_px))
    size = math.ceil(len(labels) / count)
    shares = [labels[first : first + size] for first in range(0, len(labels), size)]
    most, names_px = _most(specification), canvas.names_px(labels)
    parts: list[Specification] = []
    for place, share in enumerate(shares):
        part = _with_axes(specification, share, most, names_px)
        said = specification["description"] if not place else f"{share[0]} to {share[-1]}"
        parts.append(
            {
                **part,
                "height": round(len(share) * row_px),
                "description": f"Part {place + 1} of {len(shares)}: {said}",
                "datasets": {
                    name: [one for one in data if one.get(column) in share]
                    for name, data in specification["datasets"].items()
                },
            }
        )
    return parts


def _layers(view: Specification) -> Iterator[Specification]:
    """The layers of a chart that are no layers of layers."""
    if "layer" not in view:
        yield view
    for one in view.get("layer", []):
        yield from _layers(one)


def _rows(specification: Specification) -> tuple[str, list[str]] | None:
    """The column and the labels of the rows of a chart; None where its upright axis has none."""
    first = next(_layers(specification))
    upright = first.get("encoding", {}).get("y", {})
    labels = upright.get("scale", {}).get("domain")
    if upright.get("type") != "nominal" or not labels:
        return None
    return upright["field"], labels


def _most(specification: Specification) -> float:
    """The greatest number on the horizontal axis of a chart."""
    columns = {
        encoding[channel]["field"]
        for layer in _layers(specification)
        if (encoding := layer.get("encoding", {}))
        for channel in ("x", "x2")
        if "field" in encoding.get(channel, {})
    }
    values = (
        row.get(column)
        for data in specification["datasets"].values()
        for row in data
        for column in columns
    )
    return max((value for value in values if isinstance(value, int | float)), default=1.0)


def _with_axes(view: Specification, share: list[str], most: float, names_px: int) -> Specification:
    """A chart, or a layer of it, with these rows and an axis that reaches to that number."""
    changed = dict(view)
    if "layer" in view:
        changed["layer"] = [_with_axes(one, share, most, names_px) for one in view["layer"]]
    if "encoding" in view:
        encoding = dict(view["encoding"])
        upright, across = encoding.get("y", {}), encoding.get("x", {})
        if upright.get("type") == "nominal":
            axis = {**upright.get("axis", {}), "minExtent": names_px, "maxExtent": names_px}
            scale = {**upright["scale"], "domain": share}
            encoding["y"] = {**upright, "scale": scale, "axis": axis}
        if across.get("type") == "quantitative":
            encoding["x"] = {**across, "scale": {**across.get("scale", {}), "domainMax": most}}
        changed["encoding"] = encoding
    return changed
