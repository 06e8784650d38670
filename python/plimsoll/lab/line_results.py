"""What `plimsoll.line` found: load lines with every try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import lab
from plimsoll.lab import arguments, one_line
from plimsoll.lab.results import ClosesCampaign
from plimsoll.report.results import line_result

if TYPE_CHECKING:
    from plimsoll.findings.load_lines import LineFindings
    from plimsoll.findings.trial import State
    from plimsoll.lab.charts import TrialChart
    from plimsoll.lab.results import CampaignResults
    from plimsoll.load_line.search import Line
    from plimsoll.load_line.tries import Try


@dataclass(frozen=True, repr=False)
class LineResult(ClosesCampaign):
    """Load lines, one for each limit, with every try.

    What was not recorded lies in a temporary folder, which `close`, the end of a `with` block, or
    the end of the object removes.

    Attributes:
        campaign: The recordings of all tries.
        found: Lines, tries, and what was full beyond each line.
    """

    campaign: CampaignResults
    found: LineFindings

    @property
    def lines(self) -> tuple[Line, ...]:
        """A line for each limit, in the order of the limits."""
        return self.found.searched.lines

    @property
    def tries(self) -> tuple[Try, ...]:
        """Every try, in order of time."""
        return self.found.searched.tries

    @property
    def rate_per_s(self) -> float | None:
        """The greatest rate inside all limits; None where one was not found.

        It is no more than the middle of its interval where a line `is_hardly_known`.
        """
        rates = [line.rate_per_s for line in self.lines]
        known = [rate for rate in rates if rate is not None]
        return min(known) if known and len(known) == len(rates) else None

    @property
    def level(self) -> State:
        """How far to believe it: `void` where the load generator was the limit."""
        return self.found.level

    @property
    def sentence(self) -> str:
        """The answer in one sentence without a full stop."""
        return line_result.sentence(self.found)

    @property
    def one_line(self) -> str:
        """The same with how far to believe it, where that is doubted."""
        return line_result.one_line(self.found)

    def as_json(self) -> dict[str, object]:
        """Lines and tries, ready for JSON: what `plimsoll line --json` prints."""
        return line_result.document(self.found)

    def markdown(self) -> str:
        """The answer for an issue or a pull request."""
        return line_result.markdown(self.found)

    @arguments.checked()
    def text(self, *, verbose: bool = False) -> str:
        """Figures for a terminal, without the sentence.

        Args:
            verbose: Whether every try is shown.
        """
        return line_result.text(self.found, verbose=verbose)

    def chart(self) -> TrialChart:
        """Latency over rate, with every try."""
        return lab.charts.of_line(self.found.searched)

    def __repr__(self) -> str:
        """The answer with its interval."""
        return one_line.shown(self, lambda: self.one_line)

    def _repr_markdown_(self) -> str:
        """The answer, for a notebook."""
        return self.markdown()

    def _repr_html_(self) -> str:
        """The same from the report's parts."""
        return lab.charts.line_html(self.found)
