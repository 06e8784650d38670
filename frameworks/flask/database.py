"""What needs PostgreSQL: rows by SQLAlchemy, as Flask's documentation has it, pages by Jinja."""

import os
import random
from operator import attrgetter

from flask import Blueprint, Response, abort, jsonify, render_template
from sqlalchemy import create_engine, select
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    mapped_column,
    scoped_session,
    sessionmaker,
)

ROWS = 10_000
MOST_UPDATES = 500
ADDED = "This sentence was added when the request came."

ADDRESS = os.environ.get("DATABASE_URL", "postgresql://127.0.0.1/none")

database = Blueprint("database", __name__)

engine = create_engine(ADDRESS.replace("postgresql://", "postgresql+psycopg://", 1))
# A session for each thread, which gives its connection back when the request has ended.
session = scoped_session(sessionmaker(engine, autoflush=False))


class Base(DeclarativeBase):
    """Of all tables."""


class World(Base):
    """A row with a number."""

    __tablename__ = "world"

    id: Mapped[int] = mapped_column(primary_key=True)
    random_number: Mapped[int]

    def as_json(self) -> dict[str, int]:
        """What a response says of it."""
        return {"id": self.id, "randomNumber": self.random_number}


class Fortune(Base):
    """A row with a sentence."""

    __tablename__ = "fortune"

    id: Mapped[int] = mapped_column(primary_key=True)
    message: Mapped[str]


@database.teardown_app_request
def remove_session(_: BaseException | None = None) -> None:
    """Ends what a request has begun."""
    session.remove()


@database.get("/db/<int:row>")
def world(row: int) -> dict[str, int]:
    """One row, by its id."""
    found = session.get(World, row)
    if found is None:
        abort(404)
    return found.as_json()


@database.get("/fortunes")
def fortunes() -> str:
    """All sentences and one more, sorted, as a page."""
    found = [*session.scalars(select(Fortune)), Fortune(id=0, message=ADDED)]
    return render_template("fortunes.html", fortunes=sorted(found, key=attrgetter("message")))


@database.post("/updates/<int:count>")
def updates(count: int) -> Response:
    """Rows that are read, get new numbers, and are written.

    They are locked in the order of their ids, so that transactions wait for each other and never in
    a circle.
    """
    if not 1 <= count <= MOST_UPDATES:
        abort(400)
    ids = random.sample(range(1, ROWS + 1), count)
    read = select(World).where(World.id.in_(ids)).order_by(World.id).with_for_update()
    worlds = session.scalars(read).all()
    for each in worlds:
        each.random_number = random.randint(1, ROWS)
    written = [each.as_json() for each in worlds]
    session.commit()
    return jsonify(written)
