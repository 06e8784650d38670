from collections.abc import Callable
from typing import TypedDict

__all__ = [
    "EngineFailure",
    "__version__",
    "outcomes",
    "record_layouts",
    "run",
    "serve_reference",
]

__version__: str

class _Layout(TypedDict):
    size: int
    fields: list[tuple[str, int, str]]

class EngineFailure(Exception): ...

def run(spec_json: str, observe: Callable[[str], None]) -> str: ...
def serve_reference(spec_json: str, announce: Callable[[str], None]) -> str: ...
def record_layouts() -> dict[str, _Layout]: ...
def outcomes() -> list[tuple[int, str, str, str]]: ...
