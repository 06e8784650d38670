// Serves the application with Node.js by @hono/node-server, one process for each core by node:cluster.

import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import process from 'node:process';
import { createAdaptorServer } from '@hono/node-server';
import { app } from './app.js';
import { close } from './database.js';

const HOST = process.env.HOST;
const PORT = Number(process.env.PORT);
const WORKERS = Number(process.env.WORKERS);
const { PROTOCOL, TLS_CERT, TLS_KEY } = process.env;
const BACKLOG = 4096;
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

function runWorker() {
  const server = createAdaptorServer({ fetch: app.fetch, ...transport() });
  const sessions = new Set(); // of HTTP/2
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.listen({ host: HOST, port: PORT, backlog: BACKLOG });

  process.on('SIGTERM', () => {
    server.close(() => {
      close();
      cluster.worker.disconnect();
    });
    sessions.forEach((session) => session.close());
    setTimeout(() => {
      server.closeAllConnections?.();
      sessions.forEach((session) => session.destroy());
    }, GRACE_PERIOD_MS).unref();
  });
}

// Options of what carries the requests: Node's server of HTTP/1.1 or HTTP/2, with TLS or without.
function transport() {
  const secured = TLS_CERT !== undefined;
  const credentials = secured && { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) };
  if (PROTOCOL === 'http2') {
    const createServer = secured ? http2.createSecureServer : http2.createServer;
    return { createServer, serverOptions: { ...credentials } };
  }
  // Zero is no limit: neither on the time between two requests of a connection nor within one.
  const unlimited = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };
  return {
    ...(secured && { createServer: https.createServer }),
    serverOptions: { ...credentials, ...unlimited },
  };
}
