"""Aggregation: rows become seconds and summaries; the SQL lies beside its Python."""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.aggregate import database as database
    from plimsoll.aggregate import engine_records as engine_records
    from plimsoll.aggregate import first_figures as first_figures
    from plimsoll.aggregate import kinds as kinds
    from plimsoll.aggregate import stages as stages
    from plimsoll.aggregate import trial as trial

__getattr__ = doors.of_modules(
    __name__, ["database", "engine_records", "first_figures", "kinds", "stages", "trial"]
)
