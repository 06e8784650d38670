// A closed load of WebSocket for k6: each connection sends its next message when the last is back.

import { Counter } from 'k6/metrics';
import ws from 'k6/ws';

const CONNECTIONS = Number(__ENV.CONNECTIONS);
const DURATION_MS = Number(__ENV.SECONDS) * 1000;
const MESSAGE = 'A'.repeat(2048);

const echoes = new Counter('echoes');
const wrong = new Counter('wrong');

export const options = {
  scenarios: {
    echoes: {
      executor: 'per-vu-iterations',
      vus: CONNECTIONS,
      iterations: 1,
      maxDuration: `${2 * DURATION_MS}ms`,
    },
  },
};

export default function () {
  const end = Date.now() + DURATION_MS;
  ws.connect(__ENV.URL, null, (socket) => {
    socket.on('open', () => socket.send(MESSAGE));
    socket.on('message', (message) => {
      (message.length === MESSAGE.length ? echoes : wrong).add(1);
      if (Date.now() < end) {
        socket.send(MESSAGE);
      } else {
        socket.close();
      }
    });
    socket.on('error', () => wrong.add(1));
  });
}

export function handleSummary(data) {
  const count = (name) => (name in data.metrics ? data.metrics[name].values.count : 0);
  const said = {
    messages: count('echoes'),
    duration_s: data.state.testRunDurationMs / 1000,
    failed: count('wrong'),
  };
  return { stdout: `${JSON.stringify(said)}\n` };
}
