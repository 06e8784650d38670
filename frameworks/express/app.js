// Plimsoll's contract as an Express application.

import { crc32 } from 'node:zlib';
import express from 'express';
import multer from 'multer';
import * as database from './database.js';
import * as web from './web.js';

const LETTERS = Buffer.alloc(2048, 'A');
const MOST_UPDATES = 500;

const app = express();
// Without these, every answer has a hash of its body and the name of the framework in its head.
app.disable('etag');
app.disable('x-powered-by');

app.get('/empty', (req, res) => {
  res.end();
});

app.get('/2048', constant(LETTERS));
app.get('/8192', constant(Buffer.alloc(8192, 'A')));
app.get('/32768', constant(Buffer.alloc(32768, 'A')));
app.get('/plaintext', constant(Buffer.from('Hello, World!')));

app.get('/getArgs2048', (req, res) => {
  answerArgs(res, req.query);
});

app.post('/postArgs2048', express.urlencoded(), (req, res) => {
  answerArgs(res, req.body);
});

app.post('/postArgsMulti2048', multer().none(), (req, res) => {
  answerArgs(res, req.body);
});

// The CRC-32 of the values by rising name, each followed by a line feed.
app.get('/args', (req, res) => {
  const names = Object.keys(req.query).sort();
  const lines = names.map((name) => `${req.query[name]}\n`);
  res.type('text/plain').send(String(crc32(lines.join(''))));
});

// To express.json() an empty body is an empty object, and a body of another type is none at all.
app.post('/json', express.json(), (req, res) => {
  const { id, firstName, lastName } = req.body ?? {};
  if (id === undefined || firstName === undefined || lastName === undefined) {
    res.sendStatus(400);
    return;
  }
  res.json({ id, firstName, lastName });
});

app.get('/fibonacci/:n', (req, res) => {
  const n = web.numberOf(req, 'n');
  if (n === undefined) {
    res.sendStatus(400);
    return;
  }
  res.type('text/plain').send(fibonacci(n).toString());
});

app.get('/db/:id', async (req, res) => {
  const id = web.numberOf(req, 'id');
  const row = id === undefined ? undefined : await database.world(id);
  if (row === undefined) {
    res.sendStatus(404);
    return;
  }
  res.json(row);
});

app.get('/fortunes', async (req, res) => {
  res.type('html').send(await database.fortunes());
});

app.post('/updates/:n', async (req, res) => {
  const n = web.numberOf(req, 'n');
  if (n === undefined || n < 1 || n > MOST_UPDATES) {
    res.sendStatus(400);
    return;
  }
  res.json(await database.update(n));
});

// Express tries one route after another, so the thousand are in a router behind all others.
app.use(web.router);
app.use('/r', web.manyRoutes);

function constant(body) {
  return (req, res) => {
    res.type('text/plain').send(body);
  };
}

// Visits every decoded value and says how many bytes they have together.
function answerArgs(res, args) {
  let decoded = 0;
  for (const value of Object.values(args)) {
    decoded += Buffer.byteLength(value);
  }
  res.set('Decoded-Bytes', String(decoded)).type('text/plain').send(LETTERS);
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

export default app;
export const close = database.close;
