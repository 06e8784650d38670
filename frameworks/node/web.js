// What needs neither the database nor the study's bodies: files, tokens, streams and an upstream.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import compression from 'compression';
import jwt from 'jsonwebtoken';
import send from 'send';

const { FILES = '', AUTH_KEY = '', UPSTREAM_URL } = process.env;
const STATIC = path.join(FILES, 'static');
const MOST_BYTES = 20 * 1024 * 1024; // of an upload
const EVENT_INTERVAL_MS = 10;

const compressed = promisify(compression({ threshold: 0 }));
const verified = promisify(jwt.verify);

export class TooLarge extends Error {}

let items; // read at the first request

// The first n records with their totals; undefined if there are not so many.
export async function listItems(n, factor) {
  items ??= readFile(path.join(FILES, 'items.json'), 'utf8').then(JSON.parse);
  const all = await items;
  if (n < 1 || n > all.length) return undefined;
  const listed = all
    .slice(0, n)
    .map((item) => ({ ...item, total: item.price * item.quantity * factor }));
  return { count: n, items: listed };
}

// Has a response compressed if the client accepts that.
export const compress = (request, response) => compressed(request, response);

// The CRC-32 of a body, which is read piece by piece.
export async function checksum(request) {
  let [sum, length] = [0, 0];
  for await (const piece of request) {
    length += piece.length;
    if (length > MOST_BYTES) throw new TooLarge();
    sum = crc32(piece, sum);
  }
  return sum;
}

// Sends a file, with what `send` does about ranges and conditions.
export function file(request, response, pathname) {
  return new Promise((resolve, reject) => {
    send(request, pathname, { root: STATIC })
      .on('error', reject)
      .on('directory', () => reject(new Error('a directory')))
      .on('end', resolve)
      .pipe(response);
  });
}

// The sum of all members named value.
export function sumOfValues(document) {
  if (Array.isArray(document)) {
    return document.reduce((sum, element) => sum + sumOfValues(element), 0);
  }
  let sum = 0;
  for (const name in document) {
    const member = document[name];
    if (typeof member === 'object') {
      sum += sumOfValues(member);
    } else if (name === 'value' && typeof member === 'number') {
      sum += member;
    }
  }
  return sum;
}

// The subject of a valid token, or undefined.
export async function subject(authorization) {
  const [, token] = /^Bearer (.+)$/.exec(authorization ?? '') ?? [];
  try {
    const claims = await verified(token, AUTH_KEY, { algorithms: ['HS256'] });
    return typeof claims.exp === 'number' ? claims.sub : undefined;
  } catch {
    return undefined;
  }
}

// Twice the value that the upstream has for an id.
export async function doubled(id) {
  const response = await fetch(`${UPSTREAM_URL}/value/${id}`);
  if (!response.ok) throw new Error(`the upstream responded with status ${response.status}`);
  const { value } = await response.json();
  return { id, doubled: 2 * value };
}

// Sends event i at i intervals after the head.
export async function stream(response, n) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  const begun = performance.now();
  for (let i = 0; i < n && !response.destroyed; i++) {
    const left = begun + i * EVENT_INTERVAL_MS - performance.now();
    if (left > 0) await delay(Math.ceil(left));
    response.write(`data: ${i}\n\n`);
  }
  response.end();
}
