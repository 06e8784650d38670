// Plimsoll's contract as a Koa application.

import { crc32 } from 'node:zlib';
import { bodyParser } from '@koa/bodyparser';
import multer from '@koa/multer';
import Router from '@koa/router';
import Koa from 'koa';
import * as database from './database.js';
import * as web from './web.js';

const LETTERS = Buffer.alloc(2048, 'A');
const MOST_UPDATES = 500;

const router = new Router();

router.get('/empty', (ctx) => {
  ctx.body = '';
});

router.get('/2048', constant(LETTERS));
router.get('/8192', constant(Buffer.alloc(8192, 'A')));
router.get('/32768', constant(Buffer.alloc(32768, 'A')));
router.get('/plaintext', constant(Buffer.from('Hello, World!')));

router.get('/getArgs2048', (ctx) => answerArgs(ctx, ctx.query));
router.post('/postArgs2048', bodyParser(), (ctx) => answerArgs(ctx, ctx.request.body));
router.post('/postArgsMulti2048', multer().none(), (ctx) => answerArgs(ctx, ctx.request.body));

// The CRC-32 of the values by rising name, each followed by a line feed.
router.get('/args', (ctx) => {
  const names = Object.keys(ctx.query).sort();
  const lines = names.map((name) => `${ctx.query[name]}\n`);
  ctx.body = String(crc32(lines.join('')));
});

// To the parser, an empty body is an empty object.
router.post('/json', bodyParser(), (ctx) => {
  const { id, firstName, lastName } = ctx.request.body ?? {};
  if (id === undefined || firstName === undefined || lastName === undefined) ctx.throw(400);
  ctx.body = { id, firstName, lastName };
});

router.get('/fibonacci/:n', (ctx) => {
  ctx.body = fibonacci(web.numberOf(ctx, 'n')).toString();
});

router.get('/db/:id', async (ctx) => {
  const row = await database.world(web.numberOf(ctx, 'id'));
  if (row === undefined) ctx.throw(404);
  ctx.body = row;
});

router.get('/fortunes', async (ctx) => {
  ctx.type = 'html';
  ctx.body = await database.fortunes();
});

router.post('/updates/:n', async (ctx) => {
  const n = web.numberOf(ctx, 'n');
  if (n < 1 || n > MOST_UPDATES) ctx.throw(400);
  ctx.body = await database.update(n);
});

// The router tries all of its routes for each request, so the thousand are in one behind the others.
const app = new Koa();
app.use(router.routes());
app.use(web.router.routes());
app.use(web.manyRoutes.routes());

function constant(body) {
  return (ctx) => {
    ctx.type = 'text/plain';
    ctx.body = body;
  };
}

// Visits every decoded value and says how many bytes they have together.
function answerArgs(ctx, args) {
  let decoded = 0;
  for (const value of Object.values(args)) {
    decoded += Buffer.byteLength(value);
  }
  ctx.set('Decoded-Bytes', String(decoded));
  ctx.type = 'text/plain';
  ctx.body = LETTERS;
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

export const callback = app.callback();
export const close = database.close;
