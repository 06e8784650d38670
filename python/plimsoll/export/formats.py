"""The formats of an export; a separate module, so that the package does not import all of them."""

from plimsoll.export import hlog, jtl, parquet, seconds

FORMATS = (seconds, jtl, hlog, parquet)
"""Every format."""
