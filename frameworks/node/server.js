// Serves Plimsoll's contract with node:http, node:https or node:http2, one process for each core by
// node:cluster.

import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import process from 'node:process';
import { crc32 } from 'node:zlib';
import { Busboy } from '@fastify/busboy';
import { WebSocketServer } from 'ws';
import * as database from './database.js';
import * as web from './web.js';

const HOST = process.env.HOST;
const PORT = Number(process.env.PORT);
const WORKERS = Number(process.env.WORKERS);
const { PROTOCOL, TLS_CERT, TLS_KEY } = process.env;
const BACKLOG = 4096;
const GRACE_PERIOD_MS = 5000; // for the requests in flight when a stop is asked for
const GOING_AWAY = 1001; // a code of a close frame
const MOST_UPDATES = 500;
const MOST_EVENTS = 100;
const NUMBER_OF_ROUTES = 1000;

const TEXT = { 'Content-Type': 'text/plain' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const HTML = { 'Content-Type': 'text/html; charset=utf-8' };
const LETTERS = Buffer.alloc(2048, 'A');

const ROUTES = {
  'GET /empty': constant(Buffer.alloc(0)),
  'GET /2048': constant(LETTERS),
  'GET /8192': constant(Buffer.alloc(8192, 'A')),
  'GET /32768': constant(Buffer.alloc(32768, 'A')),
  'GET /plaintext': constant(Buffer.from('Hello, World!')),
  'GET /getArgs2048': getArgs,
  'POST /postArgs2048': postArgs,
  'POST /postArgsMulti2048': postArgsMulti,
  'GET /args': checksum,
  'POST /json': json,
  'GET /fortunes': fortunes,
  'POST /upload': upload,
  'POST /json-in': jsonIn,
  'GET /auth': auth,
};
const ROUTES_WITH_PARAMETER = {
  'GET /fibonacci/': fibonacci,
  'GET /db/': world,
  'POST /updates/': updates,
  'GET /items/': items,
  'GET /static/': staticFile,
  'GET /up/': doubled,
  'GET /stream/': stream,
};
for (let k = 0; k < NUMBER_OF_ROUTES; k++) {
  ROUTES_WITH_PARAMETER[`GET /r/${k}/x/`] = (response, id) => answer(response, 200, TEXT, `${k}:${id}`);
}

class BadRequest extends Error {}

if (cluster.isPrimary) {
  runPrimary();
} else {
  runWorker();
}

// A worker that ends before it was told to takes the server with it: an application that has lost
// a core must not go on as if it had all of them.
function runPrimary() {
  let stopping = false;
  const stop = () => {
    stopping = true;
    for (const worker of Object.values(cluster.workers)) {
      worker.process.kill('SIGTERM');
    }
  };
  process.on('SIGTERM', stop);
  cluster.on('exit', (worker, code, signal) => {
    if (stopping) return;
    console.error(`worker ${worker.process.pid} ended: ${signal ?? `exit code ${code}`}`);
    process.exitCode = 1;
    stop();
  });
  for (let i = 0; i < WORKERS; i++) {
    cluster.fork();
  }
}

function runWorker() {
  const server = createServer();
  const sessions = new Set(); // of HTTP/2
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('request', (request, response) => {
    route(request, response).catch((error) => refuse(request, response, error));
  });
  const webSockets = echoMessages(server);
  server.listen({ host: HOST, port: PORT, backlog: BACKLOG });

  process.on('SIGTERM', () => {
    server.close(() => {
      database.close();
      cluster.worker.disconnect();
    });
    sessions.forEach((session) => session.close());
    webSockets.clients.forEach((socket) => socket.close(GOING_AWAY));
    setTimeout(() => {
      server.closeAllConnections?.();
      sessions.forEach((session) => session.destroy());
      webSockets.clients.forEach((socket) => socket.terminate());
    }, GRACE_PERIOD_MS).unref();
  });
}

function createServer() {
  const secured = TLS_CERT !== undefined;
  const credentials = secured && { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) };
  if (PROTOCOL === 'http2') {
    return secured ? http2.createSecureServer(credentials) : http2.createServer();
  }
  // Zero is no limit: neither on the time between two requests of a connection nor within one.
  const unlimited = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };
  return secured
    ? https.createServer({ ...credentials, ...unlimited })
    : http.createServer(unlimited);
}

// Returns every message of WebSocket as it came; ws answers pings and close frames.
function echoMessages(server) {
  const webSockets = new WebSocketServer({ server, path: '/echo' });
  webSockets.on('connection', (socket) => {
    socket.on('message', (message, isBinary) => socket.send(message, { binary: isBinary }));
    socket.on('error', () => {}); // ws closes it with the right code
  });
  return webSockets;
}

async function route(request, response) {
  const url = orBadRequest(() => new URL(request.url, 'http://localhost'));
  const asked = `${request.method} ${url.pathname}`;
  const handler = ROUTES[asked];
  if (handler !== undefined) {
    await handler(request, response, url);
    return;
  }
  const last = asked.lastIndexOf('/') + 1;
  const handlerOfParameter = ROUTES_WITH_PARAMETER[asked.slice(0, last)];
  if (handlerOfParameter !== undefined) {
    await handlerOfParameter(response, asked.slice(last), request, url);
  } else {
    notFound(response);
  }
}

function notFound(response) {
  answer(response, 404, TEXT, http.STATUS_CODES[404]);
}

function constant(body) {
  return (request, response) => answer(response, 200, TEXT, body);
}

function getArgs(request, response, url) {
  answerArgs(response, url.searchParams.values());
}

async function postArgs(request, response) {
  const args = new URLSearchParams(await textOf(request));
  answerArgs(response, args.values());
}

async function postArgsMulti(request, response) {
  answerArgs(response, await multipartValues(request));
}

// Visits every decoded value and says how many bytes they have together.
function answerArgs(response, values) {
  let decoded = 0;
  for (const value of values) {
    decoded += Buffer.byteLength(value);
  }
  answer(response, 200, { ...TEXT, 'Decoded-Bytes': decoded }, LETTERS);
}

// The CRC-32 of the values by rising name, each followed by a line feed.
function checksum(request, response, url) {
  url.searchParams.sort();
  const lines = Array.from(url.searchParams.values(), (value) => `${value}\n`);
  answer(response, 200, TEXT, String(crc32(lines.join(''))));
}

function textOf(request) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString()));
    request.on('error', reject);
  });
}

// The values of a multipart form.
function multipartValues(request) {
  return new Promise((resolve, reject) => {
    const values = [];
    const form = new Busboy({ headers: request.headers });
    form.on('field', (name, value) => values.push(value));
    form.on('file', (name, file) => file.resume());
    form.on('finish', () => resolve(values));
    form.on('error', reject);
    request.on('error', reject);
    request.pipe(form);
  }).catch((error) => {
    request.unpipe();
    throw new BadRequest(error.message);
  });
}

async function json(request, response) {
  const body = await textOf(request);
  const person = orBadRequest(() => JSON.parse(body));
  answer(response, 200, JSON_TYPE, JSON.stringify(person));
}

function fibonacci(response, digits) {
  answer(response, 200, TEXT, fib(numberOf(digits)).toString());
}

function numberOf(digits) {
  if (!/^\d{1,9}$/.test(digits)) throw new BadRequest('not a number of up to nine digits');
  return Number(digits);
}

async function world(response, digits) {
  const row = await database.world(numberOf(digits));
  if (row === undefined) {
    notFound(response);
  } else {
    answer(response, 200, JSON_TYPE, JSON.stringify(row));
  }
}

async function fortunes(request, response) {
  answer(response, 200, HTML, await database.fortunes());
}

async function updates(response, digits) {
  const n = numberOf(digits);
  if (n < 1 || n > MOST_UPDATES) throw new BadRequest('not a number from 1 to 500');
  answer(response, 200, JSON_TYPE, JSON.stringify(await database.update(n)));
}

async function items(response, digits, request, url) {
  const factor = numberOf(url.searchParams.get('m') ?? '');
  const list = await web.listItems(numberOf(digits), factor);
  if (list === undefined) {
    notFound(response);
    return;
  }
  await web.compress(request, response);
  answer(response, 200, JSON_TYPE, JSON.stringify(list));
}

async function upload(request, response) {
  answer(response, 200, TEXT, String(await web.checksum(request)));
}

async function jsonIn(request, response) {
  const body = await textOf(request);
  const document = orBadRequest(() => JSON.parse(body));
  answer(response, 200, TEXT, String(web.sumOfValues(document)));
}

async function auth(request, response) {
  const subject = await web.subject(request.headers.authorization);
  if (subject === undefined) {
    answer(response, 401, { ...TEXT, 'WWW-Authenticate': 'Bearer' }, http.STATUS_CODES[401]);
  } else {
    answer(response, 200, TEXT, subject);
  }
}

async function staticFile(response, name, request) {
  try {
    await web.file(request, response, `/${name}`);
  } catch (error) {
    if (response.headersSent) throw error;
    answer(response, error.status ?? 404, TEXT, http.STATUS_CODES[error.status ?? 404]);
  }
}

async function doubled(response, digits) {
  const id = numberOf(digits);
  try {
    answer(response, 200, JSON_TYPE, JSON.stringify(await web.doubled(id)));
  } catch (error) {
    console.error(error);
    answer(response, 502, TEXT, http.STATUS_CODES[502]);
  }
}

async function stream(response, digits) {
  const n = numberOf(digits);
  if (n < 1 || n > MOST_EVENTS) {
    notFound(response);
  } else {
    await web.stream(response, n);
  }
}

// Adds n - 1 times.
function fib(n) {
  let [a, b] = [0n, 1n];
  if (n === 0) return a;
  for (let i = 1; i < n; i++) {
    [a, b] = [b, a + b];
  }
  return b;
}

function answer(response, status, headers, body) {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

function orBadRequest(decode) {
  try {
    return decode();
  } catch (error) {
    throw new BadRequest(error.message);
  }
}

function refuse(request, response, error) {
  if (request.socket.destroyed) return; // the client is gone
  const status = error instanceof BadRequest ? 400 : error instanceof web.TooLarge ? 413 : 500;
  if (status === 500) console.error(error);
  request.resume();
  answer(response, status, TEXT, http.STATUS_CODES[status]);
}
