"""How often `compare` decides rightly here: a server against itself, without and with more work.

The server is Node.js's `http` with a body of 2,048 bytes. B is the same program; in half of the
comparisons each of its requests does `--work` iterations of arithmetic more, which cost about 3 %
of the CPU time of a request. What they really cost is the median over all comparisons.

`--noise 0.5` has another program take half a core at random times meanwhile.

Exit codes: 0 at most one in twenty without a difference is called different, and at least nine in
ten with one (three in four beside noise) are called slower; 1 not so.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from noise import noise

PLIMSOLL = (sys.executable, "-m", "plimsoll")
ANSWERED = (0, 8)
"""Exit codes of comparisons that ended, decided or not."""
WRONG_RATIO = 1 / 20
FOUND_RATIO = 9 / 10
FOUND_RATIO_WITH_NOISE = 3 / 4

SERVER = """
const body = Buffer.alloc(2048, 'x');
const work = Number(process.argv[2]);
let sum = 1;
require('node:http').createServer((request, response) => {
  for (let i = 0; i < work; i++) sum = (Math.imul(sum, 31) + i) | 0;
  response.setHeader('Content-Length', sum === 0.5 ? 0 : body.length);
  response.end(body);
}).listen(Number(process.env.PORT), process.env.HOST);
"""


@dataclass(frozen=True)
class Comparison:
    """One comparison.

    Attributes:
        answer: Of `compare`, said of B.
        elapsed_s: Its length.
        throughput: Throughput of B / that of A, with its interval.
        cpu: CPU time per request of B / that of A, with its interval.
    """

    answer: str
    elapsed_s: float
    throughput: Ratio
    cpu: Ratio


@dataclass(frozen=True)
class Ratio:
    """B / A, with the ends of its interval of 95 %."""

    ratio: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Half the width of the interval, as a share of the ratio."""
        return math.sqrt(self.high / self.low) - 1

    def __str__(self) -> str:
        """`× 1.023 ± 1.8 %`."""
        return f"× {self.ratio:.3f} ± {100 * self.error:.1f} %"


def main() -> int:
    """Runs both kinds of comparisons in turns and prints a table."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        server = Path(folder) / "server.js"
        server.write_text(SERVER)
        found: dict[int, list[Comparison]] = {0: [], arguments.work: []}
        with noise(arguments.noise):
            for number in range(arguments.count):
                for work, comparisons in found.items():
                    comparisons.append(_compared(server, work, arguments.budget))
                    _tell(number, work, comparisons[-1])
    return _summary(found[0], found[arguments.work], arguments.noise)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=20, help="comparisons of each kind")
    parser.add_argument("--budget", default="120s", help="of each comparison")
    parser.add_argument("--work", type=int, default=150, help="iterations of the slower server")
    parser.add_argument("--noise", type=float, default=0.0, help="cores that another program takes")
    return parser.parse_args()


def _compared(server: Path, work: int, budget: str) -> Comparison:
    ended = subprocess.run(
        [
            *PLIMSOLL, "compare", "--json", "-q", "--budget", budget,
            "--a", f"exec node {server} 0", "--b", f"exec node {server} {work}",
        ],
        stdout=subprocess.PIPE,
        check=False,
    )  # fmt: skip
    if ended.returncode not in ANSWERED:
        sys.exit(ended.returncode)
    said = json.loads(ended.stdout)
    return Comparison(
        said["answer"],
        said["elapsed_s"],
        _ratio(said["throughput"]),
        _ratio(said["cpu_per_request"]),
    )


def _ratio(of: dict[str, float]) -> Ratio:
    return Ratio(of["ratio"], of["low"], of["high"])


def _tell(number: int, work: int, one: Comparison) -> None:
    print(
        f"{number + 1:3}  work {work:5}  {one.answer:10} after {one.elapsed_s:4.0f} s"
        f"  throughput {one.throughput}  CPU {one.cpu}",
        flush=True,
    )


def _throughput(one: Comparison) -> Ratio:
    return one.throughput


def _cpu(one: Comparison) -> Ratio:
    return one.cpu


def _median(ratios: Iterable[Ratio]) -> Ratio:
    """The median ratio, with the median ends of the intervals."""
    columns = zip(*((one.ratio, one.low, one.high) for one in ratios), strict=True)
    return Ratio(*map(statistics.median, columns))


def _summary(alike: Sequence[Comparison], slower: Sequence[Comparison], cores: float) -> int:
    for name, comparisons in (("a server against itself", alike), ("with more work", slower)):
        answers = Counter(one.answer for one in comparisons).most_common()
        throughput, cpu = (_median(map(of, comparisons)) for of in (_throughput, _cpu))
        print(
            f"{name}: {', '.join(f'{count} {answer}' for answer, count in answers)};"
            f" median {statistics.median(one.elapsed_s for one in comparisons):.0f} s,"
            f" throughput {throughput}, CPU {cpu}"
        )
    for name, of in (("throughput", _throughput), ("CPU time per request", _cpu)):
        is_cost = of is _cpu
        right = sum((of(one).ratio > 1) == is_cost for one in slower)
        print(f"{name} shows the server with more work as slower in {right} of {len(slower)}")
    wrong = sum(one.answer in {"faster", "slower"} for one in alike)
    found = sum(one.answer == "slower" for one in slower)
    least = FOUND_RATIO_WITH_NOISE if cores else FOUND_RATIO
    is_right = wrong <= math.ceil(WRONG_RATIO * len(alike)) and found >= least * len(slower)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
