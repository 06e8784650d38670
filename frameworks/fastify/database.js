// What needs PostgreSQL: rows by @fastify/postgres, pages by @fastify/view and Handlebars.

import postgres from '@fastify/postgres';
import view from '@fastify/view';
import Handlebars from 'handlebars';

const WORLD_ROWS = 10_000;

const SELECT_WORLD = {
  name: 'world',
  text: 'SELECT id, random_number AS "randomNumber" FROM world WHERE id = $1',
};
const SELECT_FORTUNES = { name: 'fortunes', text: 'SELECT id, message FROM fortune' };
const SELECT_WORLDS = {
  name: 'worlds',
  text: 'SELECT id FROM world WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE',
};
const UPDATE_WORLDS = {
  name: 'update',
  text: `UPDATE world SET random_number = new.number
    FROM unnest($1::int[], $2::int[]) AS new(id, number) WHERE world.id = new.id`,
};

const WORLD = {
  type: 'object',
  properties: { id: { type: 'integer' }, randomNumber: { type: 'integer' } },
};
const ID = { type: 'object', properties: { id: { type: 'integer' } } };
const COUNT = { type: 'object', properties: { n: { type: 'integer', minimum: 1, maximum: 500 } } };

export default async function database(fastify) {
  // Ten connections at most for each process, pg's own limit, opened as they are needed.
  fastify.register(postgres, { connectionString: process.env.DATABASE_URL });
  fastify.register(view, { engine: { handlebars: Handlebars }, root: import.meta.dirname });

  const world = { schema: { params: ID, response: { 200: WORLD } } };
  fastify.get('/db/:id', world, async (request, reply) => {
    const { rows } = await fastify.pg.query({ ...SELECT_WORLD, values: [request.params.id] });
    return rows.length === 0 ? reply.callNotFound() : rows[0];
  });

  fastify.get('/fortunes', async (request, reply) => {
    const { rows } = await fastify.pg.query(SELECT_FORTUNES);
    rows.push({ id: 0, message: 'This sentence was added when the request came.' });
    rows.sort((a, b) => (a.message < b.message ? -1 : a.message > b.message ? 1 : 0));
    return reply.view('fortunes.hbs', { fortunes: rows });
  });

  const worlds = { schema: { params: COUNT, response: { 200: { type: 'array', items: WORLD } } } };
  fastify.post('/updates/:n', worlds, (request) =>
    fastify.pg.transact((client) => update(client, request.params.n)),
  );
}

// Reads n rows, gives each a new number, and writes them. Rows are locked in the order of their ids,
// so that transactions wait for each other and never in a circle.
async function update(client, n) {
  const { rows } = await client.query({ ...SELECT_WORLDS, values: [differentIds(n)] });
  const worlds = rows.map(({ id }) => ({ id, randomNumber: drawn() }));
  const values = [worlds.map(({ id }) => id), worlds.map(({ randomNumber }) => randomNumber)];
  await client.query({ ...UPDATE_WORLDS, values });
  return worlds;
}

function differentIds(n) {
  const ids = new Set();
  while (ids.size < n) {
    ids.add(drawn());
  }
  return [...ids];
}

function drawn() {
  return Math.floor(Math.random() * WORLD_ROWS) + 1;
}
