"""Aggregates: what a recording amounts to."""
