"""Exports recordings in formats of other programs, one module per format.

A module has `NAME`, `FILES` (the files it may write), `OF_ROWS` (whether it needs the row of each
request) and `write(of_trial, into)`. This function returns sentences on what the format cannot
represent.
"""
