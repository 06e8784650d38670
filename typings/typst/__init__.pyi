"""What is used of Typst: its own stubs do not know that the input may be files in memory."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Literal

class Fonts:
    def __init__(
        self, include_system_fonts: bool = ..., font_paths: Sequence[PathLike[str]] = ...
    ) -> None: ...

def compile(
    input: Mapping[str, bytes],
    *,
    root: PathLike[str],
    font_paths: Fonts,
    format: Literal["pdf", "png"],
    ppi: float | None = ...,
    pdf_standards: Literal["ua-1"] | None = ...,
) -> bytes: ...
