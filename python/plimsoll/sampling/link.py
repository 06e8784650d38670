"""The link from this host to a server: the interface that leads there, its speed and its MTU."""

from __future__ import annotations

import fcntl
import socket
import struct
from ipaddress import ip_address
from pathlib import Path

from plimsoll import addresses
from plimsoll.recording import NetworkLink

LOOPBACK = "lo"
INTERFACES = Path("/sys/class/net")
IPV6 = Path("/proc/net/if_inet6")

_ADDRESS_OF = 0x8915
_REQUEST = struct.Struct("16s16x")
_ADDRESS = slice(20, 24)
_ANY_PORT = 9


def towards(address: str, interfaces: Path = INTERFACES) -> NetworkLink | None:
    """The interface that leads to a server; None if unknown.

    No packet is sent: the kernel chooses the source address of a datagram socket when it is
    connected, and one interface has that address.

    Args:
        address: Address of the server: `127.0.0.1:8080`; one of a Unix socket is on this host.
        interfaces: Where the kernel shows interfaces.

    Source:
        netdevice(7), SIOCGIFADDR; `/proc/net/if_inet6`; the kernel's document on
        `/sys/class/net/<name>/speed`, in Mbit/s, negative when unknown.
    """
    if addresses.is_unix(address):
        return NetworkLink(LOOPBACK, None)
    host = address.rpartition(":")[0].strip("[]")
    try:
        source = _source(host)
        if ip_address(source).is_loopback or source == host:
            return NetworkLink(LOOPBACK, None)
        name = _interface(source)
    except (OSError, ValueError):
        return None
    if name is None:
        return None
    return NetworkLink(
        name,
        speed_bits_per_s(name, interfaces),
        _mtu_bytes(name, interfaces),
        is_virtual=is_virtual(name, interfaces),
    )


def speed_bits_per_s(name: str, interfaces: Path = INTERFACES) -> float | None:
    """Speed of an interface; None when it does not say.

    Only devices count: the driver of a tunnel states 10 Mbit/s and that of a pair between
    namespaces 10 Gbit/s, whatever they carry. A bridge or a VLAN is as fast as the fastest device
    below it. A bond adds up those that it uses.

    Source:
        `tun_get_link_ksettings` and `veth_get_link_ksettings` of Linux; `drivers/net/bonding`,
        `bond_ethtool_get_link_ksettings`.
    """
    if _is_device(name, interfaces):
        return _stated_bits_per_s(name, interfaces)
    speeds = [speed_bits_per_s(lower, interfaces) for lower in _below(name, interfaces)]
    below = max((speed for speed in speeds if speed is not None), default=None)
    if below is not None and (interfaces / name / "bonding").exists():
        return _stated_bits_per_s(name, interfaces) or below
    return below


def is_virtual(name: str, interfaces: Path = INTERFACES) -> bool:
    """Whether an interface is no device and lies over none, as tunnels and those of containers."""
    if _is_device(name, interfaces) or not (interfaces / name).exists():
        return False
    return all(is_virtual(lower, interfaces) for lower in _below(name, interfaces))


def _is_device(name: str, interfaces: Path) -> bool:
    return (interfaces / name / "device").exists()


def _below(name: str, interfaces: Path) -> list[str]:
    """The interfaces that one lies over, as the kernel shows them: `lower_eth0`."""
    return [path.name.removeprefix("lower_") for path in (interfaces / name).glob("lower_*")]


def _stated_bits_per_s(name: str, interfaces: Path) -> float | None:
    try:
        megabits = int((interfaces / name / "speed").read_text())
    except (OSError, ValueError):
        return None
    return megabits * 1e6 if megabits > 0 else None


def _mtu_bytes(name: str, interfaces: Path) -> int | None:
    try:
        return int((interfaces / name / "mtu").read_text())
    except (OSError, ValueError):
        return None


def _source(host: str) -> str:
    """The address of this host that datagrams to another one would come from."""
    family = socket.AF_INET if ip_address(host).version == 4 else socket.AF_INET6  # noqa: PLR2004
    with socket.socket(family, socket.SOCK_DGRAM) as requested:
        requested.connect((host, _ANY_PORT))
        return str(requested.getsockname()[0])


def _interface(source: str) -> str | None:
    """The interface that has an address of this host."""
    ip = ip_address(source)
    if ip.version == 4:  # noqa: PLR2004
        names = (name for _, name in socket.if_nameindex())
        return next((name for name in names if _address(name) == ip.packed), None)
    lines = (line.split() for line in IPV6.read_text().splitlines())
    return next((line[5] for line in lines if bytes.fromhex(line[0]) == ip.packed), None)


def _address(name: str) -> bytes | None:
    """The IPv4 address of an interface; None when it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as requested:
        try:
            return fcntl.ioctl(requested, _ADDRESS_OF, _REQUEST.pack(name.encode()))[_ADDRESS]
        except OSError:
            return None
