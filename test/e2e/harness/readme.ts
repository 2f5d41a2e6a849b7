// What README.md tells a newcomer to type, asked of a running pipeline.

import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { FeedClient, type FeedMessage } from './feed-client.ts';
import type { Pipeline } from './pipeline.ts';
import { eventually } from './processes.ts';

/** Endpoints by the port that README names. */
const ENDPOINTS: Readonly<Record<string, string>> = { 6969: 'orderbook', 6971: 'history' };

interface Subscription {
  readonly url: string;
  readonly message: string;
}

export interface Readme {
  /** Headers and address of each `curl`. */
  readonly requests: readonly { readonly url: string; readonly headers: Record<string, string> }[];
  readonly subscriptions: readonly Subscription[];
}

/** The requests of README, with its ports swapped for those of the pipeline. */
export function readmeOf(pipeline: Pipeline): Readme {
  const text = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const running = (port = '', path = '') => pipeline.url(ENDPOINTS[port] ?? `port ${port}`) + path;
  const curls = text.matchAll(/curl (?:-H '([\w-]+): ([^']*)' )?'localhost:(\d+)([^']*)'/g);
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
  };
}

/** Every one answers 200 with something in it, within the time that a first start needs. */
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

/** Every one is told data of what it subscribed to. */
export async function expectFirstData({ subscriptions }: Readme): Promise<void> {
  for (const { url, message } of subscriptions) {
    const client = await FeedClient.connect(url);
    client.send(message);
    await client.waitFor(`data after ${message}`, hasData);
    client.close();
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
