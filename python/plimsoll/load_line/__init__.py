"""The load line: the greatest rate that a server carries inside limits.

`goal` has what is searched, `limits` the limits, `tries` what one rate showed. `search` finds the
line without knowing what is measured, `counting` turns the records of a load into a try.
`campaign_search` has the searches of a campaign, which are told what is recorded.
"""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.load_line import campaign_search as campaign_search
    from plimsoll.load_line import search as search

__getattr__ = doors.of_modules(__name__, ["campaign_search", "search"])
