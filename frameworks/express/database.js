// What needs PostgreSQL: rows by `pg`, pages by Handlebars.

import { readFileSync } from 'node:fs';
import Handlebars from 'handlebars';
import pg from 'pg';

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

// Ten connections at most for each process, pg's own limit, opened as they are needed.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
pool.on('error', (error) => console.error(error));

const page = Handlebars.compile(
  readFileSync(new URL('fortunes.hbs', import.meta.url), 'utf8'),
  { strict: true },
);

export const close = () => pool.end();

// The row of an id, or undefined.
export async function world(id) {
  const { rows } = await pool.query({ ...SELECT_WORLD, values: [id] });
  return rows[0];
}

export async function fortunes() {
  const { rows } = await pool.query(SELECT_FORTUNES);
  rows.push({ id: 0, message: 'This sentence was added when the request came.' });
  rows.sort((a, b) => (a.message < b.message ? -1 : a.message > b.message ? 1 : 0));
  return page({ fortunes: rows });
}

// Reads n rows, gives each a new number, and writes them, in one transaction. Rows are locked in the
// order of their ids, so that transactions wait for each other and never in a circle.
export async function update(n) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query({ ...SELECT_WORLDS, values: [differentIds(n)] });
    const worlds = rows.map(({ id }) => ({ id, randomNumber: drawn() }));
    const values = [worlds.map(({ id }) => id), worlds.map(({ randomNumber }) => randomNumber)];
    await client.query({ ...UPDATE_WORLDS, values });
    await client.query('COMMIT');
    return worlds;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
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
