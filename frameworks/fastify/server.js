// Serves the application, one process for each core by node:cluster.

import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import build from './app.js';

const HOST = process.env.HOST;
const PORT = Number(process.env.PORT);
const WORKERS = Number(process.env.WORKERS);
const { PROTOCOL, TLS_CERT, TLS_KEY } = process.env;
const BACKLOG = 4096;
const HOUR_MS = 3_600_000;
const GRACE_PERIOD_MS = 5000; // for the requests in flight when a stop is asked for

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

async function runWorker() {
  // Zero is no limit, except for the time between two requests of a connection: to Fastify, zero is
  // its default of 72 s.
  const fastify = build({
    ...transport(),
    keepAliveTimeout: HOUR_MS,
    requestTimeout: 0,
    logger: { level: 'error', stream: process.stderr },
  });

  process.on('SIGTERM', async () => {
    setTimeout(() => fastify.server.closeAllConnections?.(), GRACE_PERIOD_MS).unref();
    await fastify.close();
    cluster.worker.disconnect();
  });

  await fastify.listen({ host: HOST, port: PORT, backlog: BACKLOG });
}

// Options of what carries the requests: Node's server of HTTP/1.1 or HTTP/2, with TLS or without.
function transport() {
  const secured = TLS_CERT !== undefined;
  const https = secured && { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) };
  if (PROTOCOL === 'http2') {
    return { http2: true, http2SessionTimeout: HOUR_MS, ...(secured && { https }) };
  }
  return secured ? { https: { ...https, headersTimeout: 0 } } : { http: { headersTimeout: 0 } };
}
