"""Meters that speak the protocols of real plugs, and those that do not answer as they should."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

import fake_plugs
from fake_plugs import Answers, Plug
from plimsoll.errors import MeterFailed
from plimsoll.sampling import meters
from plimsoll.sampling.meters import asking, command

Kind = Callable[[Plug], Answers]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may need longer for an answer than a plug on a network."""
    monkeypatch.setattr(asking, "TIMEOUT_S", 10.0)


@contextmanager
def served(scheme: str, kind: Kind, plug: Plug, channel: str = "") -> Iterator[meters.Meter]:
    with fake_plugs.http(kind, plug) as address:
        meter = meters.opened(f"{scheme}://{address}{channel}")
        with closing(meter):
            yield meter


@pytest.mark.parametrize(
    ("scheme", "kind", "channel", "watts"),
    [
        ("shelly", fake_plugs.shelly_1, "", 1.0),
        ("shelly", fake_plugs.shelly_1, "/1", 42.5),
        ("shelly", fake_plugs.shelly_2, "", 42.5),
        ("shelly", fake_plugs.shelly_2, "/2", 21.25),
        ("shelly", fake_plugs.shelly_2, "/3", 44.5),
        ("tasmota", fake_plugs.tasmota, "", 42.5),
        ("tasmota", fake_plugs.tasmota_of_three_phases, "", 44.0),
    ],
)
def test_a_plug_is_asked_for_its_power(scheme: str, kind: Kind, channel: str, watts: float) -> None:
    plug = Plug()
    with served(scheme, kind, plug, channel) as meter:
        assert meter.watts() == watts
        before = len(plug.asked)
        plug.watts = 0.0
        assert meter.watts() < watts or channel == ""
        assert len(plug.asked) == before + 1


@pytest.mark.parametrize(
    ("scheme", "kind", "channel", "words"),
    [
        ("shelly", fake_plugs.shelly_1, "/2", "no power on channel 2"),
        ("shelly", fake_plugs.shelly_2, "/1", "no power on channel 1"),
        ("tasmota", fake_plugs.shelly_2, "", "status 404"),
        ("tasmota", fake_plugs.tasmota_with_password, "", "requires a password"),
    ],
)
def test_a_plug_without_a_power_says_what_is_wrong(
    scheme: str, kind: Kind, channel: str, words: str
) -> None:
    with served(scheme, kind, Plug(), channel) as meter:
        with pytest.raises(MeterFailed, match=words) as failed:
            meter.watts()
        assert failed.value.hint


@pytest.mark.parametrize("scheme", ["shelly", "tasmota"])
@pytest.mark.parametrize(
    "broken",
    [
        *("", "<html>", "[]", "[" * 60_000, "42", "null", '{"gen": 2, "switch:0": 3}'),
        *('{"meters": 5}', '{"meters": [{"power": "1"}]}', '{"meters": [{"power": NaN}]}'),
        *('{"StatusSNS": [1]}', '{"StatusSNS": {"ENERGY": {"Power": null}}}'),
        '{"StatusSNS": {"ENERGY": {"Power": [1, "2"]}}}',
    ],
)
def test_a_plug_that_answers_nonsense_fails_as_a_meter(scheme: str, broken: str) -> None:
    with served(scheme, lambda _: lambda *_: (200, broken), Plug()) as meter:
        with pytest.raises(MeterFailed):
            meter.watts()


@pytest.mark.parametrize("plug", [Plug(delay_s=1.0), Plug(drip_s=0.04)])
def test_a_plug_that_answers_late_says_no_power(
    monkeypatch: pytest.MonkeyPatch, plug: Plug
) -> None:
    monkeypatch.setattr(asking, "TIMEOUT_S", 0.05)
    with served("tasmota", fake_plugs.tasmota, plug) as meter:
        with pytest.raises(MeterFailed, match=r"did not respond within 0\.05 s"):
            meter.watts()


def test_a_plug_that_is_not_there_is_named_before_anything_is_measured() -> None:
    with fake_plugs.http(fake_plugs.tasmota, Plug()) as address:
        meters.require(f"tasmota://{address}")
    with pytest.raises(MeterFailed, match="cannot be reached"):
        meters.require(f"tasmota://{address}")


def test_a_kasa_plug_is_asked_over_its_cipher() -> None:
    pytest.importorskip("kasa")
    plug = Plug()
    with fake_plugs.kasa(plug) as address, closing(meters.opened(f"kasa://{address}")) as meter:
        assert meter.watts() == 42.5
        plug.watts = 17.25
        assert meter.watts() == 17.25
        plug.broken = "nonsense"
        with pytest.raises(MeterFailed, match="did not respond as a Kasa plug"):
            meter.watts()
        plug.broken = ""
        assert meter.watts() == 17.25


def test_a_fritz_box_is_asked_in_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRITZ_PASSWORD", "geheim")
    plug = Plug()
    with served("fritz", fake_plugs.fritz, plug, "/11657%200000000") as meter:
        with pytest.raises(MeterFailed, match="no power"):
            meter.watts()
    plug = Plug()
    with served("fritz", fake_plugs.fritz, plug, "/116570000000") as meter:
        assert meter.watts() == 42.5
        asked = len(plug.asked)
        assert meter.watts() == 42.5
        assert len(plug.asked) == asked + 1


@pytest.mark.parametrize(
    ("password", "words"), [("", "requires a password"), ("x", "refused name")]
)
def test_a_fritz_box_that_refuses_says_so(
    monkeypatch: pytest.MonkeyPatch, password: str, words: str
) -> None:
    monkeypatch.setenv("FRITZ_PASSWORD", password)
    with served("fritz", fake_plugs.fritz, Plug(), "/116570000000") as meter:
        with pytest.raises(MeterFailed, match=words):
            meter.watts()


def test_a_command_may_print_once_and_is_run_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setattr(command, "INTERVAL_S", 0.01)
    counter = f"{tmp_path}/count"
    script = f"echo x >> {counter}; wc -l < {counter}"
    with closing(meters.opened(f"exec:{script}")) as meter:
        assert [meter.watts() for _ in range(3)] == [1.0, 2.0, 3.0]


def test_a_command_may_print_for_as_long_as_it_runs() -> None:
    with closing(meters.opened("exec:echo 52.4; echo; sleep 0.2; echo 53; sleep 60")) as meter:
        assert [meter.watts(), meter.watts()] == [52.4, 53.0]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 3", "ended with exit code 3"),
        ("echo watts", "printed `watts`"),
        ("echo nan", "printed `nan`"),
        ("head -c 100000 /dev/zero", "printed"),
    ],
)
def test_a_command_that_prints_no_number_says_what_it_did(script: str, words: str) -> None:
    with closing(meters.opened(f"exec:{script}")) as meter, pytest.raises(MeterFailed, match=words):
        meter.watts()


def test_a_command_that_is_silent_fails_and_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "TIMEOUT_S", 0.1)
    with closing(meters.opened("exec:sleep 60")) as meter:
        with pytest.raises(MeterFailed, match=r"printed nothing for 0\.1 s"):
            meter.watts()
