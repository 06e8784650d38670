"""Reports: one module for each format, `write(findings, into)`; `formats` lists them.

What prints is imported when it is used, so that help of a verb does without it.
"""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.report import (
        audited,
        calibrated,
        compared,
        histogram,
        history_page,
        history_text,
        lined,
        load_markdown,
        machine_readable,
        one_line,
        screen,
        screen_doubts,
        terminal,
        thresholds_section,
    )

__all__ = [
    "audited",
    "calibrated",
    "compared",
    "histogram",
    "history_page",
    "history_text",
    "lined",
    "load_markdown",
    "machine_readable",
    "one_line",
    "screen",
    "screen_doubts",
    "terminal",
    "thresholds_section",
]

__getattr__ = doors.of_modules(__name__, __all__)
