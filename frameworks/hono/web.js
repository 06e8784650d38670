// What web applications do besides: many routes, compression, tokens, calls of another service.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { HTTPException } from 'hono/http-exception';
import { jwt } from 'hono/jwt';
import { stream } from 'hono/streaming';
import { validator } from 'hono/validator';

const { AUTH_KEY = 'none', FILES = '', UPSTREAM_URL } = process.env;
const ROUTES = 1000;
const MOST_EVENTS = 100;
const EVENT_INTERVAL_MS = 10;
const MOST_BYTES = 20 << 20; // of an upload

const web = new Hono();
export default web;

for (let k = 0; k < ROUTES; k++) {
  web.get(`/r/${k}/x/:id`, (c) => c.text(`${k}:${c.req.param('id')}`));
}

let records; // read at the first request

web.get('/items/:n{\\d{1,9}}', compress({ encoding: 'gzip' }), async (c) => {
  records ??= readFile(join(FILES, 'items.json'), 'utf8').then(JSON.parse);
  const all = await records;
  const n = Number(c.req.param('n'));
  if (n < 1 || n > all.length) return c.notFound();
  const factor = Number(c.req.query('m'));
  const listed = all.slice(0, n);
  return c.json({
    count: n,
    items: listed.map((item) => ({ ...item, total: item.price * item.quantity * factor })),
  });
});

// The CRC-32 of a body, which is never in memory as a whole.
web.post('/upload', async (c) => {
  let [sum, length] = [0, 0];
  for await (const piece of c.req.raw.body ?? []) {
    length += piece.length;
    if (length > MOST_BYTES) throw new HTTPException(413);
    sum = crc32(piece, sum);
  }
  return c.text(String(sum));
});

const document = validator('json', (value) => value);
web.post('/json-in', document, (c) => c.text(String(sumOfValues(c.req.valid('json')))));

web.get('/auth', jwt({ secret: AUTH_KEY, alg: 'HS256' }), (c) => {
  const { sub, exp } = c.get('jwtPayload');
  if (exp === undefined) throw new HTTPException(401);
  return c.text(sub);
});

web.get('/up/:id{\\d{1,9}}', async (c) => {
  const id = Number(c.req.param('id'));
  try {
    return c.json({ id, doubled: 2 * (await upstreamValue(id)) });
  } catch (error) {
    console.error(error);
    throw new HTTPException(502);
  }
});

web.get('/stream/:n{\\d{1,3}}', (c) => {
  const n = Number(c.req.param('n'));
  if (n < 1 || n > MOST_EVENTS) return c.notFound();
  // Hono's streamSSE sets headers that HTTP/2 forbids.
  c.header('Content-Type', 'text/event-stream');
  c.header('Cache-Control', 'no-cache');
  return stream(c, async (events) => {
    const start = performance.now();
    for (let i = 0; i < n && !events.aborted; i++) {
      const due = start + i * EVENT_INTERVAL_MS;
      await setTimeout(Math.max(0, Math.ceil(due - performance.now())));
      await events.write(`data: ${i}\n\n`);
    }
  });
});

// fetch() keeps connections open, as many as there are calls at a time: its default.
async function upstreamValue(id) {
  const response = await fetch(`${UPSTREAM_URL}/value/${id}`);
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`the upstream's status is ${response.status}`);
  }
  const { value } = await response.json();
  return value;
}

// The sum of all members named `value`.
function sumOfValues(node) {
  let sum = 0;
  if (Array.isArray(node)) {
    for (const element of node) {
      sum += sumOfValues(element);
    }
  } else if (node !== null && typeof node === 'object') {
    for (const [name, member] of Object.entries(node)) {
      sum += name === 'value' && typeof member === 'number' ? member : sumOfValues(member);
    }
  }
  return sum;
}
