"""Drivers: the load generators, what they are given, and what they give back."""
