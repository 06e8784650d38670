// Serves the application with node:http or node:https, one process for each core by node:cluster.

import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import process from 'node:process';
import app, { close } from './app.js';

const HOST = process.env.HOST;
const PORT = Number(process.env.PORT);
const WORKERS = Number(process.env.WORKERS);
const { TLS_CERT, TLS_KEY } = process.env;
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
  // Zero is no limit: neither on the time between two requests of a connection nor within one.
  const unlimited = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };
  const server =
    TLS_CERT === undefined
      ? http.createServer(unlimited, app)
      : https.createServer({ ...unlimited, ...credentials() }, app);
  server.listen({ host: HOST, port: PORT, backlog: BACKLOG });

  process.on('SIGTERM', () => {
    server.close(() => {
      close();
      cluster.worker.disconnect();
    });
    setTimeout(() => server.closeAllConnections(), GRACE_PERIOD_MS).unref();
  });
}

function credentials() {
  return { cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) };
}
