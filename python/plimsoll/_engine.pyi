from collections.abc import Callable, Sequence
from os import PathLike
from typing import Literal, TypedDict, final

__all__ = [
    "Connection",
    "EngineFailure",
    "NoResponse",
    "Times",
    "__version__",
    "load_figures",
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

class _Response(TypedDict):
    status: int
    headers: list[tuple[str, bytes]]
    body: bytes
    head_bytes: int
    closes: bool
    early: bool

class _LoadFigures(TypedDict):
    counts: dict[str, int]
    statuses: list[tuple[int, int, int, int]]
    failures: list[tuple[str, int, int, int, int, int]]
    times: dict[str, Times]

class EngineFailure(Exception): ...
class NoResponse(Exception): ...

@final
class Connection:
    def __new__(cls, address: str, timeout_s: float, tls_json: str | None = None) -> Connection: ...
    def fileno(self) -> int: ...
    def ask(
        self, pieces: Sequence[bytes], pause_s: float, is_head: bool, timeout_s: float
    ) -> _Response: ...
    def status_by_http2(self, request: bytes, timeout_s: float) -> int: ...
    def status_of_upgrade(self, request: bytes, timeout_s: float) -> int: ...

@final
class Times:
    def __len__(self) -> int: ...
    def mean(self) -> float | None: ...
    def at(self, places: Sequence[int]) -> list[int]: ...
    def to_bytes(self) -> bytes: ...

def load_figures(folder: str | PathLike[str], holds: Sequence[tuple[int, int]]) -> _LoadFigures: ...
def run(spec_json: str, observe: Callable[[str], None]) -> str: ...
def serve_reference(spec_json: str, announce: Callable[[str], None]) -> str: ...
def record_layouts() -> dict[str, _Layout]: ...
def outcomes() -> list[tuple[int, str, str, str]]: ...
def separated_rows(
    block: bytes, separator: str, kinds: Sequence[Literal["whole", "word", "text", "unwanted"]]
) -> _Rows | None: ...
