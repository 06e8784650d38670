"""The little of it that is used."""

from collections.abc import Mapping

class set:  # noqa: N801 - dask's name
    """Sets values for the process, or for a block."""

    def __init__(self, arg: Mapping[str, object]) -> None: ...
