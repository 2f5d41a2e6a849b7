// Checks whether tests can start containers.

import { connect } from 'node:net';

const DOCKER_SOCKET = '/var/run/docker.sock';
const DOCKER_ANSWER_MS = 1000;
const DOCKER_DEFAULT_PORT = 2375;

/** True when the daemon of DOCKER_HOST, or the local socket, accepts a connection. */
export async function dockerAnswers(): Promise<boolean> {
  const host = process.env.DOCKER_HOST;
  if (host === undefined || host === '') return accepts({ path: DOCKER_SOCKET });
  const url = new URL(host);
  if (url.protocol === 'unix:') return accepts({ path: url.pathname });
  return accepts({ host: url.hostname, port: Number(url.port || DOCKER_DEFAULT_PORT) });
}

function accepts(target: { path: string } | { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(target);
    const answer = (value: boolean) => {
      socket.destroy();
      resolve(value);
    };
    socket.setTimeout(DOCKER_ANSWER_MS, () => answer(false));
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
}
