"""What a host is ordered to generate: its part of a load, and all that it lacks for that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.campaign.requests import any_body, anything
from plimsoll.drivers.tools import plimsoll as engine
from plimsoll.hosts.host import share_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.campaign.load import Load, Stage
    from plimsoll.campaign.requests import Exchange
    from plimsoll.campaign.tls import Tls
    from plimsoll.drivers.job import DriverJob, LoadPart
    from plimsoll.hosts.host import Host, Hosts

TLS_FILES = ("ca", "cert", "key")
"""Attributes of `campaign.tls.Tls` that name a file."""


@dataclass(frozen=True)
class HostJob:
    """A job for another host.

    Attributes:
        job: The job; paths in it are the lab's.
        files: Contents of the files that its TLS names, by attribute.
    """

    job: DriverJob
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, job: DriverJob, host: Host, hosts: Hosts, part: LoadPart) -> HostJob:
        """The part of a job that one host does.

        The engine divides the load itself, by `part`; another load generator is requested a load of
        its own, whose connections are that part.

        Args:
            job: The whole job.
            host: The host.
            hosts: All hosts.
            part: Its part of the threads, and its start by its own clock.
        """
        own = replace(
            job,
            exchanges=tuple(map(_portable, job.exchanges)),
            cores=host.cores,
            threads=host.thread_count,
            part=part,
        )
        if job.driver != engine.NAME:
            own = replace(own, load=_share(job.load, host, hosts))
        return cls(own, _contents(job.tls))

    def within(self, into: Path) -> DriverJob:
        """The job on its host, with the files of TLS in a folder there.

        Raises:
            OSError: They cannot be written.
        """
        tls = self.job.tls
        for name, content in self.files.items():
            path = into / f"tls-{name}.pem"
            path.touch(0o600)
            path.write_bytes(content)
            tls = tls and replace(tls, **{name: path})
        return replace(self.job, into=into, tls=tls)


def _contents(tls: Tls | None) -> dict[str, bytes]:
    named = {name: getattr(tls, name) for name in TLS_FILES} if tls else {}
    return {name: path.read_bytes() for name, path in named.items() if path is not None}


def _share(load: Load, host: Host, hosts: Hosts) -> Load:
    """A host's share of a load whose level is the same throughout each stage."""

    def own(stage: Stage) -> Stage:
        level = float(share_of(round(stage.start), host, hosts))
        return replace(stage, start=level, end=level)

    limit = load.request_limit
    return replace(
        load,
        stages=tuple(map(own, load.stages)),
        request_limit=None if limit is None else share_of(limit, host, hosts),
        threads=None,
    )


def _portable(exchange: Exchange) -> Exchange:
    """An exchange without functions of the lab; `check_body` still says that there is a check."""
    expected = exchange.expected
    checked = None if expected.check_body is None else any_body
    return replace(exchange, expected=replace(expected, check=anything, check_body=checked))
