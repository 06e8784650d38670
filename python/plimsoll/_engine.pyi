from collections.abc import Callable, Sequence
from typing import Literal, TypedDict, final

__all__ = [
    "Connection",
    "EngineFailure",
    "NoResponse",
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

class _Response(TypedDict):
    status: int
    headers: list[tuple[str, bytes]]
    body: bytes
    head_bytes: int
    closes: bool
    early: bool

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

def run(spec_json: str, observe: Callable[[str], None]) -> str: ...
def serve_reference(spec_json: str, announce: Callable[[str], None]) -> str: ...
def record_layouts() -> dict[str, _Layout]: ...
def outcomes() -> list[tuple[int, str, str, str]]: ...
def separated_rows(
    block: bytes, separator: str, kinds: Sequence[Literal["whole", "word", "text", "unwanted"]]
) -> _Rows | None: ...
