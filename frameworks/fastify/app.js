// Plimsoll's contract as a Fastify application.

import { crc32 } from 'node:zlib';
import formbody from '@fastify/formbody';
import multipart from '@fastify/multipart';
import Fastify from 'fastify';
import database from './database.js';
import echo from './echo.js';
import web from './web.js';

const LETTERS = Buffer.alloc(2048, 'A');

const PERSON = {
  type: 'object',
  required: ['id', 'firstName', 'lastName'],
  properties: {
    id: { type: 'integer' },
    firstName: { type: 'string' },
    lastName: { type: 'string' },
  },
};

const PLACE = {
  type: 'object',
  properties: { n: { type: 'integer', minimum: 0, maximum: 65535 } },
};

export default function build(options) {
  const fastify = Fastify(options);
  fastify.register(formbody);
  fastify.register(multipart, { attachFieldsToBody: 'keyValues' });

  fastify.register(database);
  fastify.register(web);
  fastify.register(echo);

  fastify.get('/empty', async (request, reply) => reply.send());

  fastify.get('/2048', constant(LETTERS));
  fastify.get('/8192', constant(Buffer.alloc(8192, 'A')));
  fastify.get('/32768', constant(Buffer.alloc(32768, 'A')));
  fastify.get('/plaintext', constant(Buffer.from('Hello, World!')));

  fastify.get('/getArgs2048', async (request, reply) => answerArgs(reply, request.query));
  fastify.post('/postArgs2048', async (request, reply) => answerArgs(reply, request.body));
  fastify.post('/postArgsMulti2048', async (request, reply) => answerArgs(reply, request.body));

  // The CRC-32 of the values by rising name, each followed by a line feed.
  fastify.get('/args', async (request, reply) => {
    const names = Object.keys(request.query).sort();
    const lines = names.map((name) => `${request.query[name]}\n`);
    return reply.type('text/plain').send(String(crc32(lines.join(''))));
  });

  const person = { schema: { body: PERSON, response: { 200: PERSON } } };
  fastify.post('/json', person, async (request) => request.body);

  fastify.get('/fibonacci/:n', { schema: { params: PLACE } }, async (request, reply) =>
    reply.type('text/plain').send(fibonacci(request.params.n).toString()),
  );

  return fastify;
}

function constant(body) {
  return async (request, reply) => reply.type('text/plain').send(body);
}

// Visits every decoded value and says how many bytes they have together.
function answerArgs(reply, args) {
  let decoded = 0;
  for (const value of Object.values(args)) {
    decoded += Buffer.byteLength(value);
  }
  return reply.header('decoded-bytes', decoded).type('text/plain').send(LETTERS);
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
