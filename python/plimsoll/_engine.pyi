from collections.abc import Callable, Sequence
from os import PathLike
from typing import Literal, TypedDict, final, type_check_only

__all__ = [
    "Connection",
    "EngineFailure",
    "Histogram",
    "NoResponse",
    "Times",
    "__version__",
    "certificate",
    "connection_lives",
    "connection_stalls",
    "in_flight",
    "late_ends",
    "load_counts",
    "load_figures",
    "median_times",
    "outcomes",
    "record_layouts",
    "request_counts",
    "response_pace",
    "response_shares",
    "run",
    "sent_bytes",
    "separated_rows",
    "serve_reference",
    "slower_than",
    "stalls",
    "still_waiting",
    "times_without",
]

__version__: str

@type_check_only
class Layout(TypedDict):
    size: int
    fields: list[tuple[str, int, str]]

class _Rows(TypedDict):
    end: int
    count: int
    lines: int
    wholes: list[tuple[bytes, bytes | None]]
    words: list[tuple[bytes, list[str]]]
    texts: list[tuple[bytes, bytes]]

@type_check_only
class Response(TypedDict):
    status: int
    headers: list[tuple[str, bytes]]
    body: bytes
    head_bytes: int
    closes: bool
    early: bool
    events: list[tuple[bytes, int]]

@type_check_only
class LoadFigures(TypedDict):
    counts: dict[str, int]
    statuses: list[tuple[int, int, int, int]]
    failures: list[tuple[str, int, int, int, int, int, int]]
    times: dict[str, Times]

@type_check_only
class RequestCounts(TypedDict):
    counts: dict[str, int]
    statuses: list[tuple[int, int, int, int]]
    failures: list[tuple[str, int, int, int, int, int, int]]
    times: dict[str, Histogram]

@type_check_only
class CountGroup(TypedDict):
    request: int
    status: int
    outcome: str
    errno: int
    requests: int
    held: int
    held_done: int
    sent: int
    held_sent: int
    responded: int
    received_bytes: int
    impossible: int
    no_first_byte: int
    expected: int
    compared: int
    held_expected: int
    held_compared: int

@type_check_only
class LoadCounts(TypedDict):
    groups: list[CountGroup]
    lengths: list[tuple[int, int, int, int]]
    seconds: list[tuple[int, int, int, int, int, int, int | None]]
    last_response_ns: int | None
    last_refused_ns: int | None

@type_check_only
class ConnectionLives(TypedDict):
    ends: list[tuple[str, int, int, int, int | None, int | None]]
    open_ns: int
    without_response: int

_FrameKind = Literal["continuation", "text", "binary", "close", "ping", "pong"]
_MessageKind = Literal["text", "binary", "ping", "pong", "close"]

class EngineFailure(Exception): ...
class NoResponse(Exception): ...

@final
class Connection:
    def __new__(cls, address: str, timeout_s: float, tls_json: str | None = None) -> Connection: ...
    def fileno(self) -> int: ...
    def ask(
        self, pieces: Sequence[bytes], pause_s: float, is_head: bool, timeout_s: float
    ) -> Response: ...
    def ask_by_http2(self, request: bytes, timeout_s: float) -> Response: ...
    def has_begun_by_http2(self, timeout_s: float) -> bool: ...
    def upgrade(self, request: bytes, timeout_s: float) -> int: ...
    def send_frame(
        self, kind: _FrameKind, payload: bytes, is_final: bool, timeout_s: float
    ) -> None: ...
    def next_message(self, timeout_s: float) -> tuple[_MessageKind, bytes]: ...
    def status_of_upgrade(self, request: bytes, timeout_s: float) -> int: ...

@final
class Histogram:
    def __new__(cls, packed: bytes) -> Histogram: ...
    def __len__(self) -> int: ...
    def joined(self, other: Histogram) -> Histogram: ...
    def mean(self) -> float | None: ...
    def at(self, places: Sequence[int]) -> list[int]: ...
    def to_bytes(self) -> bytes: ...

@final
class Times:
    def __len__(self) -> int: ...
    def mean(self) -> float | None: ...
    def at(self, places: Sequence[int]) -> list[int]: ...
    def to_bytes(self) -> bytes: ...

def load_figures(folder: str | PathLike[str], holds: Sequence[tuple[int, int]]) -> LoadFigures: ...
def request_counts(
    folder: str | PathLike[str], holds: Sequence[tuple[int, int]]
) -> RequestCounts: ...
def load_counts(folder: str | PathLike[str], holds: Sequence[tuple[int, int]]) -> LoadCounts: ...
def connection_lives(
    folder: str | PathLike[str],
    holds: Sequence[tuple[int, int]],
    opening_ns: int,
    end_ns: int,
    least_ns: int,
    least_requests: int,
) -> ConnectionLives: ...
def response_shares(
    folder: str | PathLike[str], holds: Sequence[tuple[int, int]], least_ns: int
) -> tuple[int, int, float | None]: ...
def response_pace(
    folder: str | PathLike[str], window: tuple[int, int], parts: int
) -> list[int]: ...
def median_times(
    folder: str | PathLike[str], window: tuple[int, int], parts: int
) -> list[tuple[int, int]]: ...
def in_flight(
    folder: str | PathLike[str], windows: Sequence[tuple[int, int]]
) -> list[tuple[int, int, int]]: ...
def slower_than(
    folder: str | PathLike[str], holds: Sequence[tuple[int, int]], least_ns: int
) -> int: ...
def still_waiting(
    folder: str | PathLike[str], end_ns: int, least_ns: int
) -> tuple[int, int, int]: ...
def times_without(
    folder: str | PathLike[str],
    holds: Sequence[tuple[int, int]],
    stalls: Sequence[tuple[int, int]],
) -> Times: ...
def late_ends(
    folder: str | PathLike[str], holds: Sequence[tuple[int, int]], late: tuple[int, int]
) -> tuple[int, int, int, int, int]: ...
def stalls(
    folder: str | PathLike[str], window: tuple[int, int], least_ns: int
) -> list[tuple[int, int]]: ...
def connection_stalls(
    folder: str | PathLike[str],
    holds: Sequence[tuple[int, int]],
    least_ns: int,
    times: float,
    most: int,
) -> list[tuple[int, int]]: ...
def run(spec_json: str, observe: Callable[[str], None]) -> str: ...
def certificate(names: Sequence[str]) -> tuple[str, str]: ...
def serve_reference(spec_json: str, announce: Callable[[str], None]) -> str: ...
def record_layouts() -> dict[str, Layout]: ...
def outcomes() -> list[tuple[int, str, str, str]]: ...
def sent_bytes(protocol: Literal["http1", "http2", "websocket"], request: bytes) -> int | None: ...
def separated_rows(
    block: bytes, separator: str, kinds: Sequence[Literal["whole", "word", "text", "unwanted"]]
) -> _Rows | None: ...
