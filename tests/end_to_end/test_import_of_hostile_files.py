"""No import takes more than 600 MiB, whatever the file holds: the kernel ends what does."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import PROGRAM
from memory_limits import limited

pytestmark = [pytest.mark.long, pytest.mark.root, pytest.mark.timeout(400)]

MOST_BYTES = 600 << 20
T_MS = 1_700_000_000_000
HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads,Latency\n"
)


def row(at_ms: int = 0, label: str = "home", elapsed_ms: int = 5, thread: str = "T 1-1") -> str:
    return f"{T_MS + at_ms},{elapsed_ms},{label},200,OK,{thread},true,9,3\n"


def written(path: Path, *parts: str) -> Path:
    with path.open("w") as file:
        file.write(HEADER)
        file.writelines(parts)
    return path


def members(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(3_000):
            archive.writestr(f"{number}.csv", HEADER + row(number))
    return path


def bomb(path: Path) -> Path:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.csv", "w", force_zip64=True) as file,
    ):
        file.write((HEADER + row()).encode())
        for _ in range(350):  # 700 MiB, more than it may take
            file.write(b"x\n" * (1 << 20))
    return path


def deep(path: Path) -> Path:
    begin = f'<sample t="1" ts="{T_MS}" s="true" lb="a">'
    path.write_text("<testResults>" + begin * 100_000 + "</sample>" * 100_000 + "</testResults>")
    return path


def wide(path: Path) -> Path:
    begin = f'<testResults>\n<httpSample t="1" ts="{T_MS}" s="true" lb="'
    path.write_text(begin + "y" * 50_000_000 + '"/></testResults>')
    return path


def many_wide(path: Path) -> Path:
    one = f'<httpSample t="1" ts="{T_MS}" s="true" lb="a" rm="{{0:0>900000}}"/>\n'
    samples = (one.format(number) for number in range(300))
    with path.open("w") as file:
        file.write("<testResults>\n")
        file.writelines(samples)
        file.write("</testResults>\n")
    return path


def deep_json(path: Path) -> Path:
    begin = '{"attack":"","seq":0,"code":200,"timestamp":"2023-11-14T22:13:20Z","latency":1000,'
    good = begin + '"method":"GET","url":"/"}\n'
    path.write_text(good + begin + '"body":' + "[],[" * 100_000 + "\n" + "[" * 8_000_000 + "\n")
    return path


FILES: dict[str, tuple[Callable[[Path], Path], int]] = {
    "3,000 members": (members, 2),
    "a zip of broken lines": (bomb, 2),
    "elements 100,000 deep": (deep, 2),
    "an attribute of 50 MB": (wide, 2),
    "300 attributes of 900 KB": (many_wide, 0),
    "JSON of brackets": (deep_json, 1),
    "a line of 100 MB": (lambda path: written(path, row(), row(label="y" * 100_000_000)), 2),
    "3 days, a row an hour": (
        lambda path: written(path, *(row(at * 3_500_000) for at in range(74))), 0,
    ),
    "3 days, a row a second": (
        lambda path: written(path, *(row(at * 1_000) for at in range(259_200))), 0,
    ),
    "two runs": (lambda path: written(path, row(), row(2_592_000_000)), 2),
    "1970 and 2099": (
        lambda path: written(path, row(), row(-T_MS), row(4_070_908_800_000 - T_MS)), 1,
    ),
    "a request of a day": (lambda path: written(path, row(elapsed_ms=86_400_000)), 0),
    "400,000 threads": (
        lambda path: written(
            path, *(row(n, "a-0" if n % 2 else "a", thread=f"T {n}") for n in range(400_000))
        ), 0,
    ),
    "names of 8,000 letters": (
        lambda path: written(path, *(row(n, f"{n:0>8000}") for n in range(2_000))), 0,
    ),
}  # fmt: skip

LONG = {
    *("3 days, a row an hour", "3 days, a row a second"),
    *("400,000 threads", "300 attributes of 900 KB"),
}
"""What takes half a minute; a day, longer names and an attribute are tried with every change."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.thorough if name in LONG else ()) for name in FILES],
)
def test_an_import_stays_within_its_memory(tmp_path: Path, name: str) -> None:
    make, code = FILES[name]
    file = make(tmp_path / "a.file")
    with limited(MOST_BYTES) as group:
        ran = group.ran([PROGRAM, "import", file, "--into", "r"], tmp_path)
        assert group.killed == 0
    assert ran.returncode == code, ran.stderr
    assert "Traceback" not in ran.stderr


def test_what_takes_more_is_ended_by_the_kernel(tmp_path: Path) -> None:
    with limited(MOST_BYTES) as group:
        ran = group.ran(["python3", "-c", "bytearray(700 << 20)"], tmp_path)
        assert ran.returncode == -9
        assert group.killed == 1
