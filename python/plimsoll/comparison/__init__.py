"""Comparison: entries of one campaign, drivers and published figures, side by side."""
