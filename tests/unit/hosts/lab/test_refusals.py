"""What a load of several hosts refuses before anything listens or is sent."""

from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

import plimsoll
from plimsoll import hosts
from plimsoll.errors import HostError, InputError
from plimsoll.hosts.host import Host, Hosts, KeepRows
from plimsoll.hosts.lab import driver
from plimsoll.lab import campaign_hosts, selection

TOYS = Path(__file__).parents[3] / "end_to_end" / "frameworks"

KNOWN = Hosts(
    ip_address("10.0.0.1"),
    8786,
    Path("nowhere"),
    1.0,
    1.0,
    (
        Host("one", "driver", ip_address("10.0.0.2"), cores=(0, 1), max_connections=4),
        Host("two", "driver", ip_address("10.0.0.3")),
    ),
)


def refused(connections: int, address: str) -> str:
    with (
        pytest.raises((InputError, HostError)) as caught,
        driver.joined(KNOWN, connections, address, print),
    ):
        pass
    return caught.value.message


@pytest.mark.parametrize(
    ("connections", "address", "words"),
    [
        (2, "10.0.0.9:80", "2 connections for 3 threads of all hosts"),
        (9, "10.0.0.9:80", "`one` would open 6 connections, more than its 4"),
        (6, "127.0.0.1:80", "`one` cannot reach the server at 127.0.0.1:80"),
        (6, "[::1]:80", "`one` cannot reach the server at [::1]:80"),
        (6, "10.0.0.9:80", "`nowhere/lab.pem` is missing"),
    ],
)
def test_a_load_that_cannot_be_divided_or_begun_is_refused(
    connections: int, address: str, words: str
) -> None:
    assert words in refused(connections, address)


@pytest.mark.parametrize(
    ("driver_name", "level", "keep_rows", "words"),
    [
        ("h2load", "at = 4", "remote", "has its rows counted by the lab"),
        ("jmeter", "at = 4", "remote", "has its rows counted by the lab"),
        ("h2load", "from = 3, to = 9, steps = 2", "lab", "cannot divide the ramp of `steady`"),
        ("jmeter", "from = 3, to = 9, steps = 2", "lab", "cannot divide the ramp of `steady`"),
        ("wrk", "at = 4", "lab", "percentiles of several hosts cannot be merged"),
        ("ab", "at = 4", "lab", "percentiles of several hosts cannot be merged"),
    ],
)
def test_what_another_load_generator_cannot_do_on_several_hosts_is_refused(
    tmp_path: Path, driver_name: str, level: str, keep_rows: KeepRows, words: str
) -> None:
    kind = "ramp" if "steps" in level else "hold"
    first = f'{{ kind = "{kind}", duration = "1s", {level} }}'
    stages = f'{first}, {{ kind = "hold", duration = "1s", at = 9 }}'
    (tmp_path / "small.toml").write_text(
        'name = "small"\nframeworks = ["toy"]\nendpoints = ["2048"]\n'
        f'driver = "{driver_name}"\n[[load]]\nname = "steady"\nstages = [{stages}]\n'
    )
    requested = selection.campaign(tmp_path / "small.toml", (), TOYS)
    with pytest.raises(InputError, match=words) as caught:
        campaign_hosts.require_conductable(requested, replace(KNOWN, keep_rows=keep_rows))
    (problem,) = caught.value.problems
    remedy = "leave out `keep_rows=`" if keep_rows == "remote" else f"`{driver_name}` from"
    assert remedy in problem.hint


def test_rows_of_turns_cannot_stay_on_the_hosts(tmp_path: Path) -> None:
    stages = 'stages = [{ kind = "hold", duration = "1s", at = 4 }]'
    (tmp_path / "small.toml").write_text(
        'name = "small"\nframeworks = ["toy"]\nendpoints = ["2048"]\nturns = "50ms"\n'
        f'[[load]]\nname = "steady"\n{stages}\n'
    )
    requested = selection.campaign(tmp_path / "small.toml", (), TOYS)
    campaign_hosts.require_conductable(requested, KNOWN)
    with pytest.raises(InputError, match="cannot stay on the hosts") as caught:
        campaign_hosts.require_conductable(requested, replace(KNOWN, keep_rows="remote"))
    assert "leave out `keep_rows=`" in caught.value.hint


@pytest.mark.parametrize("package", ["distributed", "cryptography"])
def test_without_its_packages_the_remedy_is_told(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setattr(hosts, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(HostError, match=f"need the Python package `{package}`") as caught:
        hosts.require()
    assert "plimsoll-bench[hosts]" in caught.value.hint


def test_options_of_this_host_exclude_others(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        plimsoll.load(
            "http://127.0.0.1:1/", threads=2, driver_cores=[0], hosts=tmp_path / "hosts.toml"
        )
    places = [problem.where for problem in caught.value.problems]
    assert places == ["threads", "driver_cores"]
