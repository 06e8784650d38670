// Serves the application with Deno: `deno serve --parallel` starts a thread for each core.

import { upgradeWebSocket } from 'hono/deno';
import { app } from './app.js';

const echo = () => ({ onMessage: (event, socket) => socket.send(event.data) });
app.get('/echo', upgradeWebSocket(echo));

export default { fetch: app.fetch };
