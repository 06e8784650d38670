"""Verdicts: how far a number may be believed."""
