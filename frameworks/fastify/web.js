// What web applications do besides: many routes, files, compression, tokens, calls of another service.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import compress from '@fastify/compress';
import jwt from '@fastify/jwt';
import files from '@fastify/static';
import { request as call } from 'undici';

const { AUTH_KEY, FILES, UPSTREAM_URL } = process.env;
const ROUTES = 1000;
const EVENT_INTERVAL_MS = 10;
const LONGEST_DOCUMENT = 4 << 20;
const LONGEST_UPLOAD = 20 << 20;

const INTEGER = { type: 'integer' };
const ITEM = {
  type: 'object',
  properties: {
    id: INTEGER,
    name: { type: 'string' },
    category: { type: 'string' },
    price: INTEGER,
    quantity: INTEGER,
    active: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    rating: { type: 'object', properties: { score: { type: 'number' }, count: INTEGER } },
    total: INTEGER,
  },
};
const ITEMS = {
  params: { type: 'object', properties: { n: INTEGER } },
  querystring: { type: 'object', required: ['m'], properties: { m: INTEGER } },
  response: {
    200: { type: 'object', properties: { count: INTEGER, items: { type: 'array', items: ITEM } } },
  },
};
const DOUBLED = {
  params: { type: 'object', properties: { id: INTEGER } },
  response: { 200: { type: 'object', properties: { id: INTEGER, doubled: INTEGER } } },
};
const EVENTS = {
  params: { type: 'object', properties: { n: { type: 'integer', minimum: 1, maximum: 100 } } },
};

export default async function web(fastify) {
  fastify.register(routes);
  fastify.register(upload);
  fastify.register(upstream);
  if (FILES !== undefined) {
    fastify.register(files, { root: join(FILES, 'static'), prefix: '/static/' });
    fastify.register(items);
  }
  if (AUTH_KEY !== undefined) {
    fastify.register(auth);
  }

  fastify.post('/json-in', { bodyLimit: LONGEST_DOCUMENT }, async (request, reply) =>
    reply.type('text/plain').send(String(sumOfValues(request.body))),
  );

  fastify.get('/stream/:n', { schema: EVENTS }, async (request, reply) =>
    reply
      .header('cache-control', 'no-cache')
      .type('text/event-stream')
      .send(Readable.from(events(request.params.n))),
  );
}

async function routes(fastify) {
  for (let k = 0; k < ROUTES; k++) {
    fastify.get(`/r/${k}/x/:id`, async (request, reply) =>
      reply.type('text/plain').send(`${k}:${request.params.id}`),
    );
  }
}

async function items(fastify) {
  const records = JSON.parse(await readFile(join(FILES, 'items.json')));
  await fastify.register(compress, { global: false, encodings: ['gzip'] });

  // Unless told otherwise, less than 1 KiB is not compressed.
  const options = { schema: ITEMS, compress: { threshold: 0 } };
  fastify.get('/items/:n', options, async (request, reply) => {
    const { n } = request.params;
    const { m } = request.query;
    if (n < 1 || n > records.length) return reply.callNotFound();
    const found = records.slice(0, n);
    // @fastify/compress says so only where it compressed.
    reply.header('vary', 'accept-encoding');
    return {
      count: n,
      items: found.map((item) => ({ ...item, total: item.price * item.quantity * m })),
    };
  });
}

// Answers with the CRC-32 of a body, which is never in memory as a whole.
async function upload(fastify) {
  fastify.addContentTypeParser('application/octet-stream', (request, body, done) => done(null, body));
  fastify.post('/upload', { bodyLimit: LONGEST_UPLOAD }, async (request, reply) => {
    let crc = 0;
    for await (const piece of request.body) {
      crc = crc32(piece, crc);
    }
    return reply.type('text/plain').send(String(crc));
  });
}

async function auth(fastify) {
  fastify.register(jwt, {
    secret: AUTH_KEY,
    verify: { algorithms: ['HS256'], requiredClaims: ['exp'] },
  });
  const verified = {
    onRequest: async (request, reply) => {
      try {
        await request.jwtVerify();
      } catch (error) {
        return reply.code(401).send(error);
      }
    },
  };
  fastify.get('/auth', verified, async (request, reply) =>
    reply.type('text/plain').send(request.user.sub),
  );
}

// undici keeps connections open, as many as there are calls at a time: its default.
async function upstream(fastify) {
  fastify.get('/up/:id', { schema: DOUBLED }, async (request, reply) => {
    const { id } = request.params;
    try {
      return { id, doubled: 2 * (await upstreamValue(id)) };
    } catch (error) {
      request.log.error(error);
      return reply.code(502).send();
    }
  });
}

async function upstreamValue(id) {
  const { statusCode, body } = await call(`${UPSTREAM_URL}/value/${id}`);
  if (statusCode !== 200) {
    await body.dump();
    throw new Error(`the upstream's status is ${statusCode}`);
  }
  const { value } = await body.json();
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
