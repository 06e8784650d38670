"""Conduct: the trials of a campaign are run, and each becomes a recording."""
