from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

__all__ = [
    "EngineFailure",
    "__version__",
    "outcomes",
    "record_layouts",
    "run",
    "separated_rows",
    "serve_reference",
]

__version__: str

class _Layout(TypedDict):
    size: int
    fields: list[tuple[str, int, str]]

class _Rows(TypedDict):
    end: int
    count: int
    lines: int
    wholes: list[tuple[bytes, bytes | None]]
    words: list[tuple[bytes, list[str]]]
    texts: list[tuple[bytes, bytes]]

class EngineFailure(Exception): ...

def run(spec_json: str, observe: Callable[[str], None]) -> str: ...
def serve_reference(spec_json: str, announce: Callable[[str], None]) -> str: ...
def record_layouts() -> dict[str, _Layout]: ...
def outcomes() -> list[tuple[int, str, str, str]]: ...
def separated_rows(
    block: bytes, separator: str, kinds: Sequence[Literal["whole", "word", "text", "unwanted"]]
) -> _Rows | None: ...
