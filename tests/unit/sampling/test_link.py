"""The way to a server, as the kernel tells it."""

from pathlib import Path

import pytest

from plimsoll.recording import NetworkLink
from plimsoll.sampling import link


@pytest.mark.parametrize("address", ["127.0.0.1:80", "127.8.9.1:80"])
def test_a_server_on_this_host_has_no_link(address: str) -> None:
    assert link.towards(address) == NetworkLink("lo", None)


def test_an_address_that_is_none_has_no_way_to_it() -> None:
    assert link.towards("nowhere:80") is None


@pytest.mark.parametrize(
    ("text", "bits_per_s"), [("10000\n", 1e10), ("-1\n", None), ("", None), (None, None)]
)
def test_a_speed_that_the_interface_does_not_say_is_unknown(
    tmp_path: Path, text: str | None, bits_per_s: float | None
) -> None:
    (tmp_path / "eth0" / "device").mkdir(parents=True)
    if text is not None:
        (tmp_path / "eth0" / "speed").write_text(text)
    assert link.speed_bits_per_s("eth0", tmp_path) == bits_per_s


def interface(
    interfaces: Path,
    name: str,
    megabits: int,
    *below: str,
    device: bool = False,
    bond: bool = False,
) -> None:
    """An interface as the kernel shows it."""
    (interfaces / name).mkdir()
    (interfaces / name / "speed").write_text(f"{megabits}\n")
    for lower in below:
        (interfaces / name / f"lower_{lower}").symlink_to(interfaces / lower)
    if device:
        (interfaces / name / "device").mkdir()
    if bond:
        (interfaces / name / "bonding").mkdir()


@pytest.mark.parametrize(
    ("name", "bits_per_s", "is_virtual"),
    [
        ("eth0", 1e9, False),
        ("unknown", None, False),
        ("tun0", None, True),
        ("veth0", None, True),
        ("docker0", None, True),
        ("br0", 1e9, False),
        ("eth0.7", 1e9, False),
        ("bond0", 2e9, False),
        ("bond0.7", 2e9, False),
        ("br-unknown", None, False),
        ("gone", None, False),
    ],
)
def test_only_devices_have_a_speed_and_what_lies_over_them(
    tmp_path: Path, name: str, bits_per_s: float | None, is_virtual: bool
) -> None:
    interface(tmp_path, "eth0", 1000, device=True)
    interface(tmp_path, "eth1", 1000, device=True)
    interface(tmp_path, "unknown", -1, device=True)
    interface(tmp_path, "tun0", 10)
    interface(tmp_path, "veth0", 10_000)
    interface(tmp_path, "docker0", 10_000, "veth0")
    interface(tmp_path, "br0", 10_000, "veth0", "eth0")
    interface(tmp_path, "eth0.7", 1000, "eth0")
    interface(tmp_path, "bond0", 2000, "eth0", "eth1", bond=True)
    interface(tmp_path, "bond0.7", 2000, "bond0")
    interface(tmp_path, "br-unknown", 10_000, "unknown", "veth0")
    assert link.speed_bits_per_s(name, tmp_path) == bits_per_s
    assert link.is_virtual(name, tmp_path) is is_virtual
