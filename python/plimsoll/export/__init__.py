"""Recordings leave the house: one module a format that other programs read.

A module has `NAME`, `FILES` (what it may write), `OF_ROWS` (whether it needs the row of each
request) and `write(of_trial, into)`, which gives sentences on what could not be said in the format.
"""
