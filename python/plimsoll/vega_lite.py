"""Vega-Lite: what charts use of `altair`, which is imported when the first of them is drawn.

Verdicts and rankings on a terminal need no chart, and come a quarter of a second earlier.
"""

from plimsoll import doors

__all__ = [
    "Axis",
    "Chart",
    "Color",
    "ExprRef",
    "Fill",
    "LayerChart",
    "Legend",
    "LegendResolveMap",
    "NamedData",
    "OverlayMarkDef",
    "Resolve",
    "Scale",
    "ScaleResolveMap",
    "Shape",
    "Stroke",
    "StrokeDash",
    "Tooltip",
    "Undefined",
    "VConcatChart",
    "X",
    "Y",
    "Y2Datum",
    "YOffset",
    "condition",
    "datum",
    "layer",
    "selection_point",
    "value",
    "vconcat",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from altair import (
        Axis,
        Chart,
        Color,
        ExprRef,
        Fill,
        LayerChart,
        Legend,
        LegendResolveMap,
        NamedData,
        OverlayMarkDef,
        Resolve,
        Scale,
        ScaleResolveMap,
        Shape,
        Stroke,
        StrokeDash,
        Tooltip,
        Undefined,
        VConcatChart,
        X,
        Y,
        Y2Datum,
        YOffset,
        condition,
        datum,
        layer,
        selection_point,
        value,
        vconcat,
    )
else:
    __getattr__ = doors.of_names(__name__, {name: ("altair", name) for name in __all__})
