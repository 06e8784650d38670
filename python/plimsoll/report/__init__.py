"""Reports: what people and programs read of findings and results.

What prints is imported when it is used, so that help of a verb does without it.
"""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.report import level_text
    from plimsoll.report.formats import history_page, terminal
    from plimsoll.report.load import histogram, one_line, screen, screen_doubts
    from plimsoll.report.load import markdown as load_markdown
    from plimsoll.report.results import (
        audited,
        calibrated,
        compared,
        history_text,
        line_result,
        machine_readable,
    )
    from plimsoll.report.sections import thresholds

_HOMES = {
    **dict.fromkeys(("history_page", "terminal"), "formats"),
    **dict.fromkeys(("histogram", "one_line", "screen", "screen_doubts"), "load"),
    **dict.fromkeys(
        ("audited", "calibrated", "compared", "history_text", "line_result"), "results"
    ),
    "machine_readable": "results",
    "thresholds": "sections",
}

__all__ = [
    "audited",
    "calibrated",
    "compared",
    "histogram",
    "history_page",
    "history_text",
    "level_text",
    "line_result",
    "load_markdown",
    "machine_readable",
    "one_line",
    "screen",
    "screen_doubts",
    "terminal",
    "thresholds",
]

__getattr__ = doors.of_names(
    __name__,
    {name: (f"{__name__}.{room}.{name}", "") for name, room in _HOMES.items()}
    | {
        "load_markdown": (f"{__name__}.load.markdown", ""),
        "level_text": (f"{__name__}.level_text", ""),
    },
)
