"""Plimsoll: a laboratory for HTTP servers and web frameworks."""

__version__ = "0.1.0"
