"""A campaign as run is written as a file that runs the same."""

from pathlib import Path

import pytest

from plimsoll.campaign import campaign
from plimsoll.campaign.toml_writer import as_toml

ROOT = Path(__file__).parents[3]
DRIVERS = ("plimsoll", "wrk", "ab", "h2load", "jmeter")
OPEN = """
name = "open"
frameworks = ["go"]
endpoints = ["json"]
driver_cores = [1]
body_sample = 0.25
idle = "1.5s"
power = "exec:sh -c 'echo 42'"

[limits.undisturbed]
other_cores_void = 0.5

[[load]]
name = "poisson"
model = "open"
arrivals = "poisson"
connections = 64
tolerance = "50us"
pipeline = 2
timeout = "250ms"
stages = [
    { kind = "warm_up", duration = "1s", from = 1.5, to = 40, steps = 4 },
    { kind = "hold", duration = "3.3s", at = 12.5 },
]
"""


def again(path: Path, tmp_path: Path) -> tuple[object, object]:
    root = ROOT / "frameworks"
    made = campaign.resolved(campaign.read(path, frameworks_root=root, drivers=DRIVERS))
    (tmp_path / "again.toml").write_text(as_toml(made))
    read = campaign.read(tmp_path / "again.toml", frameworks_root=root, drivers=DRIVERS)
    return made, campaign.resolved(read)


@pytest.mark.parametrize(
    "name", ["quick", "cengn", "cengn-no-keepalive", "juice", "swiftly", "vapor-kitura", "smoke"]
)
def test_a_shipped_campaign_written_as_run_runs_the_same(name: str, tmp_path: Path) -> None:
    made, read = again(ROOT / "campaigns" / f"{name}.toml", tmp_path)
    assert read == made


def test_an_open_load_with_limits_and_cores_does_too(tmp_path: Path) -> None:
    (tmp_path / "open.toml").write_text(OPEN)
    made, read = again(tmp_path / "open.toml", tmp_path)
    assert read == made


def test_settings_of_the_command_line_are_in_it(tmp_path: Path) -> None:
    path = ROOT / "campaigns" / "quick.toml"
    made = campaign.resolved(campaign.read(path, ["scale_time=0.3", "repetitions=7"]))
    text = as_toml(made)
    assert "repetitions = 7" in text
    assert '{ kind = "hold", duration = "300ms", at = 64 }' in text
