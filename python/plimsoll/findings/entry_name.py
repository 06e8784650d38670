"""The name of an entry of a campaign, by which thresholds select it and histories keep it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.recording import Recording

OWN_DRIVER = "plimsoll"


@dataclass(frozen=True, order=True)
class EntryName:
    """One framework at one endpoint and load, by one driver; written `go/json.steady`.

    Attributes:
        framework: As in campaign files: `go` or `go:one-core`.
        endpoint: Name of the endpoint.
        load: Name of the load.
        driver: Name of the load generator.
    """

    framework: str
    endpoint: str
    load: str
    driver: str = OWN_DRIVER

    @classmethod
    def of(cls, recording: Recording) -> EntryName:
        """The entry that a trial is a repetition of."""
        framework = reference(recording.framework, recording.variant)
        return cls(framework, recording.endpoint, recording.load.name, recording.driver_name)

    def __str__(self) -> str:
        """As people read and type it; with the driver where it is not Plimsoll's own."""
        by = "" if self.driver == OWN_DRIVER else f" by {self.driver}"
        return f"{self.framework}/{self.endpoint}.{self.load}{by}"


def reference(framework: str, variant: str) -> str:
    """Name of a framework in campaign files: `go` or `go:one-core`."""
    return f"{framework}:{variant}" if variant else framework
