"""The little of it that is used."""

from typing import Any

class Serialized:
    """What was received, as it came."""

    header: dict[str, Any]
    frames: list[bytes]

class to_serialize:  # noqa: N801 - dask's name
    """What is to be sent, whatever its type."""

    def __init__(self, data: object) -> None: ...

def deserialize(header: dict[str, Any], frames: list[bytes]) -> Any: ...
