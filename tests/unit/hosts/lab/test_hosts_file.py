"""Files of hosts: what they mean, and every mistake with its line."""

import re
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InputError
from plimsoll.hosts.host import Host, Hosts, require_divisible, share_of
from plimsoll.hosts.lab import driver, hosts_file

CHECKOUT = Path(__file__).parents[4]
LOOPBACK = ip_address("127.0.0.1")

GOOD = """
[lab]
address = "10.0.0.1"

[[host]]
name = "one"
address = "10.0.0.2"
cores = [2, 3]

[[host]]
name = "two"
address = "fd00::3"
max_connections = 4

[[host]]
name = "db"
role = "database"
address = "10.0.0.4"
"""


def read(folder: Path, text: str = GOOD) -> Hosts:
    path = folder / "hosts.toml"
    path.write_text(text, "utf-8")
    return hosts_file.read(path)


def test_a_short_file_is_enough(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert (str(found.address), found.port, found.wait_s, found.lead_s) == ("10.0.0.1", 8786, 60, 3)
    assert found.certificates == tmp_path / "certificates"
    assert [(host.name, host.thread_count) for host in found.drivers] == [("one", 2), ("two", 1)]
    assert found.thread_count == 3


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('name = "two"', 'name = "one"', 11, "two hosts have the name `one`"),
        ('name = "two"', 'name = "lab"', 11, "`lab` cannot be the name of a host"),
        ('name = "two"', 'name = "ca"', 11, "`ca` cannot be the name of a host"),
        ('name = "two"', 'name = "T w"', 11, "`T w` cannot be the name"),
        ('address = "fd00::3"', 'address = "two.local"', 12, "not a numeric IP address"),
        ('address = "fd00::3"', "", 10, "`address` is missing"),
        ("max_connections = 4", "max_connections = 0", 13, "must be above 0"),
        ("max_connections = 4", "conections = 4", 13, "unknown key `conections`"),
        ("cores = [2, 3]", "cores = [2]\nthreads = 2", 9, "exclude each other"),
        ('role = "database"', 'role = "cache"', 17, "must be `server`, `driver` or `database`"),
        ("[lab]", "[lab]\nport = 70000", 3, "between 1 and 65535"),
        ('name = "two"', 'name = "local"', 11, "`local` cannot be the name of a host"),
        ("max_connections = 4", 'ssh = "-oProxyCommand=x"', 13, "not an SSH destination"),
        ("max_connections = 4", 'ssh = "two words"', 13, "not an SSH destination"),
        ("max_connections = 4", 'plimsoll = "/p"', 13, "no effect without `ssh`"),
        ('address = "fd00::3"', 'address = "10.0.0.2"', 12, "`one` has the address `10.0.0.2`"),
        (
            'address = "10.0.0.1"',
            'address = "0.0.0.0"',
            3,
            "`0.0.0.0` is the address of no machine",
        ),
        ('address = "10.0.0.4"', 'address = "fd00:0:0::3"', 18, "`two` has the address"),
        (
            'address = "10.0.0.1"',
            'address = "127.0.0.1"',
            3,
            "`one` cannot reach the lab at 127.0.0.1, which is a loopback address",
        ),
        ("cores = [2, 3]", "cores = [2, 2]", 8, "`[2, 2]` names a core twice"),
        ("[lab]", '[lab]\nwhen_lost = "wait"', 3, "must be `continue` or `stop`"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, GOOD.replace(old, new))
    (problem,) = caught.value.problems
    assert problem.where.endswith(f"hosts.toml:{line}")
    assert words in problem.message


def test_certificates_are_made_for_each_command_if_the_lab_starts_every_agent(
    tmp_path: Path,
) -> None:
    every = re.sub(r'name = "(\w+)"', r'name = "\1"\nssh = "bench@\1"', GOOD)
    found = read(tmp_path, every)
    assert found.certificates is None
    assert [(host.ssh, host.program) for host in found.drivers] == [
        ("bench@one", "plimsoll"),
        ("bench@two", "plimsoll"),
    ]
    named = every.replace("[lab]", '[lab]\ncertificates = "own"')
    assert read(tmp_path, named).certificates == tmp_path / "own"
    some = every.replace('ssh = "bench@db"\n', "")
    assert read(tmp_path, some).certificates == tmp_path / "certificates"


def test_servers_run_on_one_host(tmp_path: Path) -> None:
    server = GOOD.replace('"database"', '"server"')
    found = read(tmp_path, server).server
    assert found is not None
    assert found.name == "db"
    assert read(tmp_path).server is None
    second = '[[host]]\nname = "more"\nrole = "server"\naddress = "10.0.0.5"\n'
    with pytest.raises(InputError, match="a second host has the role `server`"):
        read(tmp_path, server + second)


def test_postgres_runs_on_one_host(tmp_path: Path) -> None:
    found = read(tmp_path).database
    assert found is not None
    assert found.name == "db"
    assert read(tmp_path, GOOD.replace('role = "database"', "")).database is None
    second = '[[host]]\nname = "more"\nrole = "database"\naddress = "10.0.0.5"\n'
    with pytest.raises(InputError, match="a second host has the role `database`"):
        read(tmp_path, GOOD + second)


def test_the_machines_of_the_study_can_carry_its_load() -> None:
    known = hosts_file.read(CHECKOUT / "campaigns" / "hosts" / "cengn.toml")
    assert known.server is not None
    assert [share_of(9000, host, known) for host in known.drivers] == [3000, 3000, 3000]
    require_divisible(known, 9000, "load")


def test_a_file_without_a_host_that_generates_load_is_refused(tmp_path: Path) -> None:
    text = GOOD.replace('name = "one"', 'name = "one"\nrole = "server"')
    with pytest.raises(InputError, match="no host generates load"):
        read(tmp_path, text.replace('name = "two"', 'name = "two"\nrole = "server"'))


@given(
    st.integers(min_value=0, max_value=100_000),
    st.lists(st.integers(min_value=1, max_value=64), min_size=1, max_size=9),
)
def test_shares_of_hosts_add_up_and_differ_by_their_threads_only(
    connections: int, threads: list[int]
) -> None:
    hosts = tuple(
        Host(f"h{number}", "driver", LOOPBACK, threads=count)
        for number, count in enumerate(threads)
    )
    known = Hosts(LOOPBACK, 1, Path(), 1.0, 1.0, hosts)
    shares = [share_of(connections, host, known) for host in hosts]
    assert sum(shares) == connections
    least = connections // known.thread_count
    for host, share in zip(hosts, shares, strict=True):
        assert least * host.thread_count <= share <= (least + 1) * host.thread_count
    parts = driver.parts(known, 0)
    assert [part.first for part in parts] == [sum(threads[:n]) for n in range(len(threads))]
    assert {part.of for part in parts} == {sum(threads)}
