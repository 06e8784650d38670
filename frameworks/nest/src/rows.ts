// The tables of the database, by `pg`.

import process from 'node:process';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
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

export interface World {
  id: number;
  randomNumber: number;
}

export interface Fortune {
  id: number;
  message: string;
}

@Injectable()
export class Rows implements OnModuleDestroy {
  // Ten connections at most for each process, pg's own limit, opened as they are needed.
  private readonly pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });

  constructor() {
    this.pool.on('error', (error) => console.error(error));
  }

  async onModuleDestroy() {
    await this.pool.end();
  }

  // The row of an id, or undefined.
  async world(id: number): Promise<World | undefined> {
    const { rows } = await this.pool.query<World>({ ...SELECT_WORLD, values: [id] });
    return rows[0];
  }

  async fortunes(): Promise<Fortune[]> {
    const { rows } = await this.pool.query<Fortune>(SELECT_FORTUNES);
    return rows;
  }

  // Reads n rows, gives each a new number, and writes them, in one transaction. Rows are locked in the
  // order of their ids, so that transactions wait for each other and never in a circle.
  async update(n: number): Promise<World[]> {
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      const read = { ...SELECT_WORLDS, values: [differentIds(n)] };
      const { rows } = await client.query<{ id: number }>(read);
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
}

function differentIds(n: number) {
  const ids = new Set<number>();
  while (ids.size < n) {
    ids.add(drawn());
  }
  return [...ids];
}

function drawn() {
  return Math.floor(Math.random() * WORLD_ROWS) + 1;
}
