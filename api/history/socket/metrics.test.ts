// Metrics of the history socket: connections, subscriptions, unread bytes and close reasons.

import { afterEach, beforeEach, expect, it } from 'vitest';
import { HistorySocketStage, untilFlooded } from '../../../test/support/api/history-socket.ts';
import { until } from '../../../test/support/api/stage.ts';

let stage: HistorySocketStage;

beforeEach(async () => {
  stage = new HistorySocketStage();
  await stage.start();
});
afterEach(() => stage.stop());

/** Value of a metric by the value of its label, '' without one. */
async function valuesOf(name: string): Promise<Readonly<Record<string, number>>> {
  const values = (await stage.metrics.getSingleMetric(`slotbook_history_${name}`)?.get())?.values ?? [];
  return Object.fromEntries(values.map(({ labels, value }) => [Object.values(labels)[0] ?? '', value]));
}

it('counts open connections and their subscriptions by channel type', async () => {
  const [first, second] = [await stage.connect(), await stage.connect()];
  first.subscribe({ channelType: 'markets' });
  first.subscribe({ channelType: 'candle', symbol: 'SOL-PERP', resolution: '1' });
  second.subscribe({ channelType: 'candle', symbol: 'SOL-PERP', resolution: '1' });
  await Promise.all([first.receives(4), second.receives(2)]);
  expect(await valuesOf('connections')).toEqual({ '': 2 });
  expect(await valuesOf('subscriptions')).toEqual({ candle: 2, markets: 1, pricing: 0, notifications: 0 });
  second.socket.close();
  await until(async () => (await valuesOf('connections'))[''] === 1);
  expect(await valuesOf('subscriptions')).toMatchObject({ candle: 1 });
  expect(await valuesOf('closes_total')).toEqual({ client: 1, overflow: 0, flood: 0, restart: 0 });
});

it('counts messages and bytes that were sent', async () => {
  const client = await stage.connect();
  client.subscribe({ channelType: 'markets' });
  const sent = (await client.receives(2)).map((message) => JSON.stringify(message).length);
  expect(await valuesOf('messages_total')).toEqual({ '': 2 });
  expect(await valuesOf('bytes_total')).toEqual({ '': sent.reduce((sum, bytes) => sum + bytes, 0) });
});

it('counts a client closed for too many messages', async () => {
  const client = await stage.connect();
  await untilFlooded(client);
  expect(await valuesOf('closes_total')).toEqual({ client: 0, overflow: 0, flood: 1, restart: 0 });
});

it('reports a client’s unread bytes, and counts its close', async () => {
  // Text that compresses badly fills the kernel's socket buffers soon.
  stage.summaryText = Array.from({ length: 200_000 }, (_, n) => Math.imul(n + 1, 0x9e3779b1).toString(36)).join('');
  const client = await stage.connect();
  client.socket.pause();
  client.subscribe({ channelType: 'markets' });
  let unread = 0;
  await until(async () => {
    stage.summaryChanges++;
    unread = Math.max(unread, (await valuesOf('buffered_bytes'))[''] ?? 0);
    return (await valuesOf('closes_total')).overflow === 1;
  });
  expect(unread).toBeGreaterThan(300_000);
  expect(await valuesOf('buffered_bytes')).toEqual({ '': 0 });
});
