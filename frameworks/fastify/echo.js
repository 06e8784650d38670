// WebSocket: every message is returned as it came; the plugin answers pings and close frames.

import websocket from '@fastify/websocket';

export default async function echo(fastify) {
  await fastify.register(websocket);
  fastify.get('/echo', { websocket: true }, (socket) => {
    socket.on('message', (message, isBinary) => socket.send(message, { binary: isBinary }));
  });
}
