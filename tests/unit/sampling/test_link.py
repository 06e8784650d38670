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
    (tmp_path / "eth0").mkdir()
    if text is not None:
        (tmp_path / "eth0" / "speed").write_text(text)
    assert link.speed_bits_per_s("eth0", tmp_path) == bits_per_s
