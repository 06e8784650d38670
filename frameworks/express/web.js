// What web applications do besides: many routes, files, compression, tokens, calls of another service.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import compression from 'compression';
import express from 'express';
import { expressjwt } from 'express-jwt';

const { AUTH_KEY = 'none', FILES = '', UPSTREAM_URL } = process.env;
const ROUTES = 1000;
const MOST_EVENTS = 100;
const EVENT_INTERVAL_MS = 10;
const MOST_BYTES = 20 << 20; // of an upload

export const router = express.Router();
export const manyRoutes = express.Router();

for (let k = 0; k < ROUTES; k++) {
  manyRoutes.get(`/${k}/x/:id`, (req, res) => {
    res.type('text/plain').send(`${k}:${req.params.id}`);
  });
}

let records; // read at the first request

router.get('/items/:n', compression({ threshold: 0 }), async (req, res) => {
  records ??= readFile(join(FILES, 'items.json'), 'utf8').then(JSON.parse);
  const all = await records;
  const n = numberOf(req, 'n');
  if (n === undefined || n < 1 || n > all.length) {
    res.sendStatus(404);
    return;
  }
  const factor = Number(req.query.m);
  res.json({
    count: n,
    items: all.slice(0, n).map((item) => ({ ...item, total: item.price * item.quantity * factor })),
  });
});

router.use('/static', express.static(join(FILES, 'static')));

// The CRC-32 of a body, which is never in memory as a whole.
router.post('/upload', async (req, res) => {
  let [sum, length] = [0, 0];
  for await (const piece of req) {
    length += piece.length;
    if (length > MOST_BYTES) {
      res.sendStatus(413);
      return;
    }
    sum = crc32(piece, sum);
  }
  res.type('text/plain').send(String(sum));
});

router.post('/json-in', express.json({ limit: '4mb' }), (req, res) => {
  res.type('text/plain').send(String(sumOfValues(req.body)));
});

router.get('/auth', expressjwt({ secret: AUTH_KEY, algorithms: ['HS256'] }), (req, res) => {
  const { sub, exp } = req.auth;
  if (exp === undefined) {
    res.sendStatus(401);
    return;
  }
  res.type('text/plain').send(sub);
});

router.get('/up/:id', async (req, res) => {
  const id = numberOf(req, 'id');
  if (id === undefined) {
    res.sendStatus(400);
    return;
  }
  try {
    res.json({ id, doubled: 2 * (await upstreamValue(id)) });
  } catch (error) {
    console.error(error);
    res.sendStatus(502);
  }
});

// Sends each event when it is due.
router.get('/stream/:n', async (req, res) => {
  const n = numberOf(req, 'n');
  if (n === undefined || n < 1 || n > MOST_EVENTS) {
    res.sendStatus(404);
    return;
  }
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  const start = performance.now();
  for (let i = 0; i < n && !res.destroyed; i++) {
    const due = start + i * EVENT_INTERVAL_MS;
    await setTimeout(Math.max(0, Math.ceil(due - performance.now())));
    res.write(`data: ${i}\n\n`);
  }
  res.end();
});

// A parameter that is a number of up to nine digits, or undefined.
export function numberOf(req, name) {
  const digits = req.params[name];
  return /^\d{1,9}$/.test(digits) ? Number(digits) : undefined;
}

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
function sumOfValues(document) {
  let sum = 0;
  if (Array.isArray(document)) {
    for (const element of document) {
      sum += sumOfValues(element);
    }
  } else if (document !== null && typeof document === 'object') {
    for (const [name, member] of Object.entries(document)) {
      sum += name === 'value' && typeof member === 'number' ? member : sumOfValues(member);
    }
  }
  return sum;
}
