"""What runs of tools cost: one row a run, and the tables that are made of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from workbench import page
from workbench.measuring import Measured
from workbench.pairing import Spread, paired, percent, percent_more, spread, words
from workbench.processes import Ended
from workbench.tools import Said, Tool

MARKS = "¹²³⁴⁵⁶⁷⁸⁹"
"""Marks of footnotes in their order; behind the ninth they begin again, doubled."""

MOST_FAILED_RATIO = 0.001
"""Share of failed requests above which the cost of a run means nothing."""

MOST_UNCOUNTED_RATIO = 0.01
"""How far tool and server may differ in what they count, besides one request a connection."""


@dataclass(frozen=True)
class Cost:
    """What one run of one tool cost.

    Attributes:
        tool: Name of the tool.
        connections: Connections that were requested.
        repetition: Number of the repetition.
        complaint: Why the run is invalid; empty if it is valid.
        cpu_s: User and system time of the tool's process, all threads, in seconds.
        requests: Requests with a response, by the tool.
        duration_s: Length of the run, by the tool.
        server_cpu_s: Processor time of the server.
        peak_rss_bytes: The most memory the tool held.
        others_ratio: Share of all cores that neither tool nor server used.
    """

    tool: str
    connections: int
    repetition: int
    complaint: str = ""
    cpu_s: float = 0.0
    requests: int = 0
    duration_s: float = 0.0
    server_cpu_s: float = 0.0
    peak_rss_bytes: int = 0
    others_ratio: float = 0.0

    @property
    def cpu_each_s(self) -> float:
        """Seconds of processor time for a request."""
        return self.cpu_s / self.requests

    @property
    def per_million_s(self) -> float:
        """Seconds of processor time for a million requests."""
        return self.cpu_each_s * 1e6

    @property
    def requests_per_s(self) -> float:
        """Responses in a second."""
        return self.requests / self.duration_s

    @property
    def server_ratio(self) -> float:
        """Share of its core that the server used."""
        return self.server_cpu_s / self.duration_s


def complaint(said: Said, measured: Measured, connections: int) -> str:
    """Why a run shows nothing of the cost of a request; empty if it does.

    Args:
        said: The tool's figures.
        measured: What was seen of it.
        connections: Connections that were requested.
    """
    if measured.accepted < connections:
        return f"it opened {measured.accepted:,} of {connections:,} connections"
    if said.requests == 0:
        return "no request was answered"
    if said.failed > MOST_FAILED_RATIO * said.requests:
        return f"{said.failed:,} requests failed beside {said.requests:,} that were answered"
    uncounted = abs(measured.answered - said.requests)
    if uncounted > connections + MOST_UNCOUNTED_RATIO * measured.answered:
        return f"it says {said.requests:,} requests, the server answered {measured.answered:,}"
    return ""


def read(tool: Tool, measured: Measured, connections: int, repetition: int) -> Cost:
    """What a run cost.

    Args:
        tool: The tool.
        measured: What was seen of its run.
        connections: Connections that were requested.
        repetition: Number of the repetition.
    """
    ended = measured.client
    is_fine = ended.exit_code in tool.fine
    try:
        said = tool.said(ended.stdout)
    except (ValueError, KeyError):
        return Cost(tool.name, connections, repetition, complaint=_last_words(ended))
    return Cost(
        tool=tool.name,
        connections=connections,
        repetition=repetition,
        complaint=complaint(said, measured, connections) if is_fine else _last_words(ended),
        cpu_s=ended.cpu_s,
        requests=said.requests,
        duration_s=said.duration_s,
        server_cpu_s=measured.server_cpu_s,
        peak_rss_bytes=ended.peak_rss_bytes,
        others_ratio=measured.others_ratio,
    )


def _last_words(ended: Ended) -> str:
    """How a tool ended that did not get to its end, with its last line."""
    lines = (ended.stderr.strip() or ended.stdout.strip()).splitlines()
    last = f": `{lines[-1].strip()[:120].replace('`', '')}`" if lines else ""
    return f"it exited with code {ended.exit_code}{last}"


def of(costs: Iterable[Cost], tool: str, connections: int) -> list[Cost]:
    """The runs of a tool at a number of connections that say something."""
    return [
        cost
        for cost in costs
        if (cost.tool, cost.connections, cost.complaint) == (tool, connections, "")
    ]


def per_million_s(costs: Iterable[Cost]) -> dict[int, float]:
    """Seconds of processor time for a million requests, by repetition."""
    return {cost.repetition: cost.per_million_s for cost in costs}


def level_table(
    costs: Sequence[Cost], connections: int, titles: Mapping[str, str], peer: str = "wrk"
) -> str:
    """The table of one number of connections, with footnotes for empty cells.

    Args:
        costs: All runs.
        connections: The number of connections.
        titles: Name of each tool and what it is called in the table.
        peer: The tool that the others are compared with.
    """
    notes = footnotes(costs, connections, titles)
    cost, times = "CPU s per million", f"{titles.get(peer, peer)} ÷ it"
    head = ("tool", cost, times, "per second", "server's core", "memory MiB")
    rows = []
    for tool, title in titles.items():
        mark = notes.get(tool, ("", ""))[0]
        rows.append((f"{title}{mark and ' '}{mark}", *_cells(costs, tool, connections, peer)))
    told = [f"{mark} {sentence}" for mark, sentence in notes.values()]
    return "\n\n".join([page.table(head, rows), *told])


def footnotes(
    costs: Sequence[Cost], connections: int, titles: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Mark and sentence for each tool with an invalid run."""
    complaints = {
        tool: [c for c in costs if (c.tool, c.connections) == (tool, connections) and c.complaint]
        for tool in titles
    }
    failing = [(tool, runs) for tool, runs in complaints.items() if runs]
    return {
        tool: (_mark(index), f"{titles[tool]}, {len(runs)} of its runs: {runs[0].complaint}.")
        for index, (tool, runs) in enumerate(failing)
    }


def _mark(index: int) -> str:
    return MARKS[index % len(MARKS)] * (index // len(MARKS) + 1)


def _cells(costs: Sequence[Cost], tool: str, connections: int, peer: str) -> tuple[str, ...]:
    own = of(costs, tool, connections)
    if not own:
        return ("", "", "", "", "")
    ratio = _ratio(per_million_s(of(costs, peer, connections)), per_million_s(own))
    return (
        f"{median(cost.per_million_s for cost in own):.2f}",
        words(ratio, "{:.2f}".format),
        f"{median(cost.requests_per_s for cost in own):,.0f}",
        percent(median(cost.server_ratio for cost in own)),
        f"{median(cost.peak_rss_bytes for cost in own) / 2**20:.0f}",
    )


def per_cpu_second_table(
    costs: Sequence[Cost], connections: int, titles: Mapping[str, str], what: str
) -> str:
    """How much each tool does in a second of processor time: median and range.

    Args:
        costs: All runs.
        connections: The number of connections.
        titles: Name of each tool and what it is called in the table.
        what: What is done: `handshakes`.
    """
    rows = [
        (title, words(spread([1 / cost.cpu_each_s for cost in found]), "{:,.0f}".format))
        for tool, title in titles.items()
        if (found := of(costs, tool, connections))
    ]
    return page.table(("tool", f"{what} per CPU second"), rows)


def recording_table(costs: Sequence[Cost], levels: Sequence[int]) -> str:
    """What keeping a row of every request costs, and how near to the bare loop the engine is."""
    head = ("connections", "rows cost", "plimsoll ÷ the bare loop", "no rows ÷ the bare loop")
    rows = [(f"{level:,}", *_recording_cells(costs, level)) for level in levels]
    return page.table(head, rows)


def baseline_table(costs: Sequence[Cost], levels: Sequence[int]) -> str:
    """CPU time per request of this engine, divided by that of the baseline's."""
    head = ("connections", "plimsoll ÷ baseline", "pairs")
    rows = []
    for level in levels:
        this, baseline = (
            per_million_s(of(costs, tool, level)) for tool in ("plimsoll", "baseline")
        )
        ratios = list(paired(this, baseline).values())
        rows.append((f"{level:,}", words(spread(ratios), "{:.3f}".format), f"{len(ratios)}"))
    return page.table(head, rows)


def _recording_cells(costs: Sequence[Cost], level: int) -> tuple[str, str, str]:
    rows, no_rows, bare = (
        per_million_s(of(costs, tool, level)) for tool in ("plimsoll", "no-rows", "ceiling")
    )
    return (
        words(_ratio(rows, no_rows), percent_more, " to "),
        words(_ratio(rows, bare), "{:.2f}".format),
        words(_ratio(no_rows, bare), "{:.2f}".format),
    )


def _ratio(numerators: Mapping[int, float], denominators: Mapping[int, float]) -> Spread | None:
    return spread([*paired(numerators, denominators).values()])
