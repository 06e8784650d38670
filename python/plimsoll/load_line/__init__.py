"""The load line: the greatest rate that a server carries inside limits.

`limits` has the limits, `tries` what one rate showed, `search` finds the line without knowing what
is measured, `counting` turns the records of a load into a try, `campaign_search` has the searches
of a campaign, which are told what is recorded.
"""
