// Serves the application with Bun, by one of several processes that share a port.

import { upgradeWebSocket, websocket } from 'hono/bun';
import { app } from './app.js';
import { close } from './database.js';

const { HOST, PORT, TLS_CERT, TLS_KEY } = process.env;
const GRACE_PERIOD_MS = 5000; // for the requests in flight when a stop is asked for

const echo = () => ({ onMessage: (event, socket) => socket.send(event.data) });
app.get('/echo', upgradeWebSocket(echo));

// Zero is no limit on the time between two requests of a connection.
const server = Bun.serve({
  hostname: HOST,
  port: PORT,
  reusePort: true,
  idleTimeout: 0,
  tls: TLS_CERT && { cert: Bun.file(TLS_CERT), key: Bun.file(TLS_KEY) },
  fetch: app.fetch,
  websocket: { ...websocket, idleTimeout: 0 },
});

process.on('SIGTERM', async () => {
  setTimeout(() => server.stop(true), GRACE_PERIOD_MS).unref();
  await server.stop();
  await close();
  process.exit();
});
