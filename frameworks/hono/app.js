// Plimsoll's contract as a Hono application, for any runtime with Web Standards.

import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { validator } from 'hono/validator';
import * as database from './database.js';
import web from './web.js';

const LETTERS = 'A'.repeat(2048);
const MOST_UPDATES = 500;

export const app = new Hono();

app.get('/empty', (c) => c.body(''));

app.get('/2048', constant(LETTERS));
app.get('/8192', constant('A'.repeat(8192)));
app.get('/32768', constant('A'.repeat(32768)));
app.get('/plaintext', constant('Hello, World!'));

app.get('/getArgs2048', (c) => answerArgs(c, c.req.query()));
app.post('/postArgs2048', async (c) => answerArgs(c, await c.req.parseBody()));
app.post('/postArgsMulti2048', async (c) => answerArgs(c, await c.req.parseBody()));

// The CRC-32 of the values by rising name, each followed by a line feed.
app.get('/args', (c) => {
  const args = c.req.query();
  const lines = Object.keys(args)
    .sort()
    .map((name) => `${args[name]}\n`);
  return c.text(String(crc32(lines.join(''))));
});

app.post('/json', validator('json', person), (c) => c.json(c.req.valid('json')));

app.get('/fibonacci/:n{\\d{1,5}}', (c) => c.text(fibonacci(Number(c.req.param('n'))).toString()));

app.get('/db/:id{\\d{1,9}}', async (c) => {
  const row = await database.world(Number(c.req.param('id')));
  return row === undefined ? c.notFound() : c.json(row);
});

app.get('/fortunes', async (c) => c.html(database.page(await database.fortunes())));

app.post('/updates/:n{\\d{1,3}}', async (c) => {
  const n = Number(c.req.param('n'));
  if (n < 1 || n > MOST_UPDATES) throw new HTTPException(400);
  return c.json(await database.update(n));
});

app.route('/', web);

function constant(body) {
  return (c) => c.text(body);
}

// Visits every decoded value and says how many bytes they have together.
function answerArgs(c, args) {
  let decoded = 0;
  for (const value of Object.values(args)) {
    decoded += Buffer.byteLength(value);
  }
  return c.text(LETTERS, 200, { 'Decoded-Bytes': String(decoded) });
}

function person(value) {
  const { id, firstName, lastName } = value ?? {};
  if (id === undefined || firstName === undefined || lastName === undefined) {
    throw new HTTPException(400);
  }
  return { id, firstName, lastName };
}

// Adds n - 1 times.
function fibonacci(n) {
  let [a, b] = [0n, 1n];
  if (n === 0) return a;
  for (let i = 1; i < n; i++) {
    [a, b] = [b, a + b];
  }
  return b;
}
