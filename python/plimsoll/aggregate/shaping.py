"""Derived tables in the types of their schemas."""

from __future__ import annotations

import pyarrow as pa


def shaped(found: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table with the columns of a schema, in their order and types.

    Only columns of another type are converted. Arrow's own `cast` would load all of its compute
    functions first, which takes longer.

    Args:
        found: The table; it has every column of the schema.
        schema: The schema.
    """
    columns = {field.name: found.column(field.name) for field in schema}
    arrays = [
        column if column.type == field.type else pa.array(column.to_pylist(), field.type)
        for field, column in zip(schema, columns.values(), strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
