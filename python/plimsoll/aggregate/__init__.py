"""Aggregation: rows become seconds, summaries and comparisons; the SQL lies beside its Python."""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.aggregate import database as database
    from plimsoll.aggregate import first_figures as first_figures

__getattr__ = doors.of_modules(__name__, ["database", "first_figures"])
