"""What needs PostgreSQL: rows by asyncpg, pages by Jinja."""

import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from operator import itemgetter
from pathlib import Path

import asyncpg
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates

ROWS = 10_000
MOST_UPDATES = 500
ADDED = (0, "This sentence was added when the request came.")

WORLD = 'SELECT id, random_number AS "randomNumber" FROM world WHERE id = $1'
FORTUNES = "SELECT id, message FROM fortune"
WORLDS = "SELECT id FROM world WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE"
UPDATE = (
    "UPDATE world SET random_number = new.number"
    " FROM unnest($1::int[], $2::int[]) AS new(id, number) WHERE world.id = new.id"
)

templates = Jinja2Templates(Path(__file__).parent / "templates")


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """A pool of up to ten connections, asyncpg's own number, opened as they are needed."""
    address = os.environ.get("DATABASE_URL", "postgresql://127.0.0.1/none")
    async with asyncpg.create_pool(address, min_size=0) as pool:
        app.state.pool = pool
        yield


async def world(request: Request) -> Response:
    """One row, by its id."""
    found = await request.app.state.pool.fetchrow(WORLD, request.path_params["row"])
    if found is None:
        raise HTTPException(404)
    return JSONResponse(dict(found))


async def fortunes(request: Request) -> Response:
    """All sentences and one more, sorted, as a page."""
    rows = [*map(tuple, await request.app.state.pool.fetch(FORTUNES)), ADDED]
    rows.sort(key=itemgetter(1))
    return templates.TemplateResponse(request, "fortunes.html", {"fortunes": rows})


async def updates(request: Request) -> Response:
    """Rows that are read, get new numbers, and are written.

    They are locked in the order of their ids, so that transactions wait for each other and never in
    a circle.
    """
    count = request.path_params["count"]
    if not 1 <= count <= MOST_UPDATES:
        raise HTTPException(400)
    ids = random.sample(range(1, ROWS + 1), count)
    async with request.app.state.pool.acquire() as connection, connection.transaction():
        read = await connection.fetch(WORLDS, ids)
        worlds = {row["id"]: random.randint(1, ROWS) for row in read}
        await connection.execute(UPDATE, [*worlds], [*worlds.values()])
    return JSONResponse([{"id": row, "randomNumber": number} for row, number in worlds.items()])


routes = [
    Route("/db/{row:int}", world),
    Route("/fortunes", fortunes),
    Route("/updates/{count:int}", updates, methods=["POST"]),
]
