// What web applications do besides: many routes, compression, tokens, calls of another service.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import compress from 'koa-compress';
import jwt from 'koa-jwt';

const { AUTH_KEY = 'none', FILES = '', UPSTREAM_URL } = process.env;
const ROUTES = 1000;
const MOST_EVENTS = 100;
const EVENT_INTERVAL_MS = 10;
const MOST_BYTES = 20 << 20; // of an upload

export const router = new Router();
export const manyRoutes = new Router({ prefix: '/r' });

for (let k = 0; k < ROUTES; k++) {
  manyRoutes.get(`/${k}/x/:id`, (ctx) => {
    ctx.body = `${k}:${ctx.params.id}`;
  });
}

let records; // read at the first request

router.get('/items/:n', compress({ threshold: 0, br: false, zstd: false }), async (ctx) => {
  records ??= readFile(join(FILES, 'items.json'), 'utf8').then(JSON.parse);
  const all = await records;
  const n = numberOf(ctx, 'n');
  if (n < 1 || n > all.length) ctx.throw(404);
  const factor = Number(ctx.query.m);
  ctx.body = {
    count: n,
    items: all.slice(0, n).map((item) => ({ ...item, total: item.price * item.quantity * factor })),
  };
});

// The CRC-32 of a body, which is never in memory as a whole.
router.post('/upload', async (ctx) => {
  let [sum, length] = [0, 0];
  for await (const piece of ctx.req) {
    length += piece.length;
    if (length > MOST_BYTES) ctx.throw(413);
    sum = crc32(piece, sum);
  }
  ctx.body = String(sum);
});

router.post('/json-in', bodyParser({ jsonLimit: '4mb' }), (ctx) => {
  ctx.body = String(sumOfValues(ctx.request.body));
});

router.get('/auth', jwt({ secret: AUTH_KEY, algorithms: ['HS256'] }), (ctx) => {
  const { sub, exp } = ctx.state.user;
  if (exp === undefined) ctx.throw(401);
  ctx.body = sub;
});

router.get('/up/:id', async (ctx) => {
  const id = numberOf(ctx, 'id');
  try {
    ctx.body = { id, doubled: 2 * (await upstreamValue(id)) };
  } catch (error) {
    console.error(error);
    ctx.throw(502);
  }
});

router.get('/stream/:n', (ctx) => {
  const n = numberOf(ctx, 'n');
  if (n < 1 || n > MOST_EVENTS) ctx.throw(404);
  ctx.type = 'text/event-stream';
  ctx.set('Cache-Control', 'no-cache');
  ctx.body = Readable.from(events(n));
});

// A parameter that is a number of up to nine digits.
export function numberOf(ctx, name) {
  const digits = ctx.params[name];
  if (!/^\d{1,9}$/.test(digits)) ctx.throw(400);
  return Number(digits);
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

// Each event when it is due.
async function* events(n) {
  const start = performance.now();
  for (let i = 0; i < n; i++) {
    const due = start + i * EVENT_INTERVAL_MS;
    await setTimeout(Math.max(0, Math.ceil(due - performance.now())));
    yield `data: ${i}\n\n`;
  }
}
