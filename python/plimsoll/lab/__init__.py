"""The lab as a library: what `import plimsoll` offers and what the verbs of the command line call.

Nothing here prints or reads standard input. What happens meanwhile comes as `events`, what went
wrong is raised as one of `errors`. A module is imported when it is first used: the first request of
a load does not wait for what judges it.
"""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.lab import (
        arguments,
        audits,
        calibrations,
        campaign_hosts,
        campaigns,
        charts,
        checks,
        comparing,
        conducting,
        databases,
        driven_load,
        exports,
        finished,
        host_rows,
        imports,
        ladder_following,
        line_following,
        line_results,
        line_search,
        lines,
        load_options,
        loads,
        paces,
        result_tables,
        results,
        revisions,
        selection,
        urls,
    )

__all__ = [
    "arguments",
    "audits",
    "calibrations",
    "campaign_hosts",
    "campaigns",
    "charts",
    "checks",
    "comparing",
    "conducting",
    "databases",
    "driven_load",
    "exports",
    "finished",
    "host_rows",
    "imports",
    "ladder_following",
    "line_following",
    "line_results",
    "line_search",
    "lines",
    "load_options",
    "loads",
    "paces",
    "result_tables",
    "results",
    "revisions",
    "selection",
    "urls",
]

__getattr__ = doors.of_modules(__name__, __all__)
