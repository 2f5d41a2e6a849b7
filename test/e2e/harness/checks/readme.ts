// Runs the commands of the documents against a running pipeline.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { NODE_FLAGS } from '../../../support/platform/children.ts';
import { eventually } from '../../../support/processes/processes.ts';
import { FeedClient, type FeedMessage } from '../keeper/feed-client.ts';
import type { Pipeline } from '../processes/pipeline.ts';

/** Endpoints by the port that the documents name. */
const ENDPOINTS: Readonly<Record<string, string>> = { 6969: 'orderbook', 6971: 'history' };

interface Subscription {
  readonly url: string;
  readonly message: string;
}

export interface Readme {
  /** Headers and address of each `curl`. */
  readonly requests: readonly { readonly url: string; readonly headers: Record<string, string> }[];
  readonly subscriptions: readonly Subscription[];
  /** The client of the `book` channel. */
  readonly client: string;
}

/** The requests of the quick start and the client of README, with their ports swapped for those of the pipeline. */
export function readmeOf(pipeline: Pipeline): Readme {
  const read = (file: string) => readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8');
  const text = read('docs/quick-start.md');
  const running = (port = '', path = '') => pipeline.url(ENDPOINTS[port] ?? `port ${port}`) + path;
  const curls = text.matchAll(/curl (?:-H '([\w-]+): ([^']*)' )?'localhost:(\d+)([^']*)'/g);
  const [, client = ''] = /```js\n([\s\S]*?)\n```/.exec(read('README.md')) ?? [];
  const sockets = text.matchAll(/wscat -c ws:\/\/localhost:(\d+)(\S+) -x '([^']*)'/g);
  return {
    requests: [...curls].map(([, name, value = '', port, path]) => ({
      url: running(port, path),
      headers: name === undefined ? {} : { [name]: value },
    })),
    subscriptions: [...sockets].map(([, port, path, message = '']) => ({
      url: running(port, path).replace(/^http/, 'ws'),
      message,
    })),
    client: client.replace(/ws:\/\/localhost:(\d+)/, (_, port) => running(port).replace(/^http/, 'ws')),
  };
}

/** Every request answers 200 with data, within the time of a first start. */
export async function expectAnswers({ requests }: Readme): Promise<void> {
  for (const { url, headers } of requests) {
    const answered = async () => {
      const answer = await fetch(url, { headers });
      const body = await answer.text();
      expect([url, answer.status]).toEqual([url, 200]);
      expect([url, isFilled(JSON.parse(body))]).toEqual([url, true]);
      return true;
    };
    await eventually(url, answered).catch(answered);
  }
}

/** Every subscription receives data. */
export async function expectFirstData({ subscriptions }: Readme): Promise<void> {
  for (const { url, message } of subscriptions) {
    const client = await FeedClient.connect(url);
    client.send(message);
    await client.waitFor(`data after ${message}`, hasData);
    client.close();
  }
}

/** The client prints a book with both sides, in rising slots. */
export async function expectBookLines({ client }: Readme): Promise<void> {
  const child = spawn(process.execPath, [...NODE_FLAGS, '--input-type=module', '-e', client], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const slots = () => [...text.matchAll(/^slot (\d+) seq \d+: bid \d+ ask \d+$/gm)].map(([, slot]) => Number(slot));
  try {
    await eventually('three slots of the book', () => new Set(slots()).size >= 3);
    expect(slots()).toEqual(slots().sort((left, right) => left - right));
  } finally {
    child.kill();
    await once(child, 'exit');
  }
}

/** Neither an empty list or object, nor one with an empty list in it. */
function isFilled(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const members = Object.values(value);
  return members.length > 0 && !members.some((member) => Array.isArray(member) && member.length === 0);
}

const hasData = (message: FeedMessage & { readonly candle?: object }): boolean =>
  isFilled(message.data) || isFilled(message.candle);
