"""What needs PostgreSQL: rows by asyncpg, pages by Jinja."""

import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from operator import itemgetter
from pathlib import Path as File
from typing import Annotated

import asyncpg
from fastapi import APIRouter, FastAPI, HTTPException, Path, Request, Response
from fastapi.templating import Jinja2Templates
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

ROWS = 10_000
ADDED = (0, "This sentence was added when the request came.")

WORLD = "SELECT id, random_number FROM world WHERE id = $1"
FORTUNES = "SELECT id, message FROM fortune"
WORLDS = "SELECT id FROM world WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE"
UPDATE = (
    "UPDATE world SET random_number = new.number"
    " FROM unnest($1::int[], $2::int[]) AS new(id, number) WHERE world.id = new.id"
)


class World(BaseModel):
    """A row with a number."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    id: int
    random_number: int


router = APIRouter()
templates = Jinja2Templates(File(__file__).parent / "templates")


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """A pool of up to ten connections, asyncpg's own number, opened as they are needed."""
    address = os.environ.get("DATABASE_URL", "postgresql://127.0.0.1/none")
    async with asyncpg.create_pool(address, min_size=0) as pool:
        app.state.pool = pool
        yield


@router.get("/db/{row}")
async def world(request: Request, row: int) -> World:
    """One row, by its id."""
    found = await request.app.state.pool.fetchrow(WORLD, row)
    if found is None:
        raise HTTPException(404)
    return World(**found)


@router.get("/fortunes")
async def fortunes(request: Request) -> Response:
    """All sentences and one more, sorted, as a page."""
    rows = [*map(tuple, await request.app.state.pool.fetch(FORTUNES)), ADDED]
    rows.sort(key=itemgetter(1))
    return templates.TemplateResponse(request, "fortunes.html", {"fortunes": rows})


@router.post("/updates/{count}")
async def updates(request: Request, count: Annotated[int, Path(ge=1, le=500)]) -> list[World]:
    """Rows that are read, get new numbers, and are written.

    They are locked in the order of their ids, so that transactions wait for each other and never in
    a circle.
    """
    ids = random.sample(range(1, ROWS + 1), count)
    async with request.app.state.pool.acquire() as connection, connection.transaction():
        read = await connection.fetch(WORLDS, ids)
        worlds = [World(id=row["id"], random_number=random.randint(1, ROWS)) for row in read]
        numbers = [world.random_number for world in worlds]
        await connection.execute(UPDATE, [world.id for world in worlds], numbers)
    return worlds
