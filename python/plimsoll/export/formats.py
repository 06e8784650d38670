"""The formats of an export; apart from the package, which would else import all of them at once."""

from plimsoll.export import hlog, jtl, parquet, seconds

FORMATS = (seconds, jtl, hlog, parquet)
"""Every format."""
