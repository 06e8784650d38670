"""What a host is ordered: its share, and the files that it does not have."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

import pytest

from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.campaign.load import Load, Stage
from plimsoll.campaign.tls import Tls
from plimsoll.drivers.job import DriverJob, LoadPart
from plimsoll.hosts.host import Host, Hosts
from plimsoll.hosts.host_job import HostJob

ONE = Host("one", "driver", ip_address("10.0.0.2"), cores=(2, 3))
TWO = Host("two", "driver", ip_address("10.0.0.3"))
KNOWN = Hosts(ip_address("10.0.0.1"), 8786, None, 1.0, 1.0, (ONE, TWO))
PART = LoadPart(0, 3, 5)
LOAD = Load(
    "steady",
    "closed",
    (Stage("warm_up", 1.0, 7, 7), Stage("hold", 2.0, 10, 10)),
    request_limit=100,
    threads=1,
)


def job(driver: str, tls: Tls | None = None) -> DriverJob:
    return DriverJob(
        LOAD, ENDPOINTS[0].exchanges, "10.0.0.9:80", (), 1, 0.0, Path("lab"), tls=tls, driver=driver
    )


@pytest.mark.parametrize(("host", "levels", "limit"), [(ONE, [5, 7], 67), (TWO, [2, 3], 33)])
def test_another_load_generator_is_requested_its_share(
    host: Host, levels: list[int], limit: int
) -> None:
    own = HostJob.of(job("h2load"), host, KNOWN, PART).job
    assert [stage.start for stage in own.load.stages] == levels
    assert (own.load.request_limit, own.load.threads) == (limit, None)
    assert (own.cores, own.threads) == (host.cores, host.thread_count)


def test_the_engine_divides_the_load_by_itself() -> None:
    own = HostJob.of(job("plimsoll"), ONE, KNOWN, PART).job
    assert (own.load, own.part) == (LOAD, PART)


def test_files_of_tls_travel_with_the_job(tmp_path: Path) -> None:
    ca, key = tmp_path / "ca.pem", tmp_path / "key.pem"
    ca.write_bytes(b"an authority")
    key.write_bytes(b"a key")
    ordered = HostJob.of(job("plimsoll", Tls("a", ca=ca, key=key)), ONE, KNOWN, PART)
    into = tmp_path / "host"
    into.mkdir()
    tls = ordered.within(into).tls
    assert tls is not None
    assert tls.ca is not None
    assert tls.key is not None
    assert tls.ca.parent == tls.key.parent == into
    assert (tls.ca.read_bytes(), tls.key.read_bytes()) == (b"an authority", b"a key")
    assert tls.key.stat().st_mode & 0o077 == 0
    assert tls.cert is None


def test_a_job_without_tls_has_no_files(tmp_path: Path) -> None:
    assert HostJob.of(job("plimsoll"), ONE, KNOWN, PART).within(tmp_path).tls is None
