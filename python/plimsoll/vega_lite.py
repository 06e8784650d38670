"""Vega-Lite: what charts use of `altair`, which is imported when the first of them is drawn.

Verdicts and rankings on a terminal need no chart, and come a quarter of a second earlier.

A chart names the class of each channel: `alt.Text("text:N")`, `alt.XValue(0)`. For a bare name or
`alt.value(0)` Altair looks through all its classes, which takes 6 ms each time.
"""

from plimsoll import doors

__all__ = [
    "X2",
    "Y2",
    "Axis",
    "Chart",
    "Color",
    "ColorValue",
    "Detail",
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
    "Text",
    "Tooltip",
    "Undefined",
    "VConcatChart",
    "X",
    "X2Value",
    "XValue",
    "Y",
    "Y2Datum",
    "Y2Value",
    "YOffset",
    "YValue",
    "condition",
    "datum",
    "debug_mode",
    "layer",
    "selection_point",
    "value",
    "vconcat",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from altair import (
        X2,
        Y2,
        Axis,
        Chart,
        Color,
        ColorValue,
        Detail,
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
        Text,
        Tooltip,
        Undefined,
        VConcatChart,
        X,
        X2Value,
        XValue,
        Y,
        Y2Datum,
        Y2Value,
        YOffset,
        YValue,
        condition,
        datum,
        layer,
        selection_point,
        value,
        vconcat,
    )
    from altair.utils.schemapi import debug_mode
else:
    _HOMES = {"debug_mode": "altair.utils.schemapi"}
    __getattr__ = doors.of_names(
        __name__, {name: (_HOMES.get(name, "altair"), name) for name in __all__}
    )
