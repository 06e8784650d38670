// Serves the application, one process for each core by node:cluster.

import cluster from 'node:cluster';
import process from 'node:process';
import { createApplication } from './application.js';

const HOST = process.env.HOST ?? '127.0.0.1';
const PORT = Number(process.env.PORT);
const WORKERS = Number(process.env.WORKERS);
const BACKLOG = 4096;
const GRACE_PERIOD_MS = 5000; // for the requests in flight when a stop is asked for

if (cluster.isPrimary) {
  runPrimary();
} else {
  await runWorker();
}

// A worker that ends before it was told to takes the server with it: an application that has lost
// a core must not go on as if it had all of them.
function runPrimary() {
  let stopping = false;
  const stop = () => {
    stopping = true;
    for (const worker of Object.values(cluster.workers ?? {})) {
      worker?.process.kill('SIGTERM');
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
  const application = await createApplication();
  process.on('SIGTERM', async () => {
    const server = application.getHttpServer();
    setTimeout(() => server.closeAllConnections?.(), GRACE_PERIOD_MS).unref();
    await application.close();
    cluster.worker?.disconnect();
  });
  await application.listen({ host: HOST, port: PORT, backlog: BACKLOG });
}
