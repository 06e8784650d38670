"""Pictures: charts as vector graphics, for the formats that cannot draw them themselves."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import vl_convert

from plimsoll import canvas

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.canvas import Specification

FEWEST_CELLS = 100
"""Shapes of one group from which on they are joined."""

_GROUP = re.compile(r'<g class="mark-rect [^>]*>(?:<path [^>]*/>)*</g>')
_CELL = re.compile(r'<path aria-hidden="true" d="([^"]*)" fill="rgb\((\d+), (\d+), (\d+)\)"/>')
_DIGITS = re.compile(r"\d+\.\d{3,}")
_STEP = 6
"""Step of a colour's channels, of 255."""

FONT = "Liberation Sans"
"""A font that the converter brings along, so that a picture is the same on every machine."""


def svg(specification: Specification) -> str:
    """A chart as SVG, on light paper.

    Args:
        specification: What the chart drew.
    """
    still = without_pointer(specification)
    config: Specification = {**specification["config"], "font": FONT}
    return _svg(json.dumps({**still, "config": config}, sort_keys=True))


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


@lru_cache(maxsize=1024)
def _svg(specification: str) -> str:
    return vl_convert.vegalite_to_svg(specification)
