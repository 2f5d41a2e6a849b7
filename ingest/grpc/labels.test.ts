// A stream that sends the metadata of a block first, and stalls before the rest of it.

import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type RunningLocalnet, startLocalnet } from '../../localnet/index.ts';
import { grpcSource } from '../../test/support/ingest/grpc-source.ts';
import { SourceReading } from '../../test/support/ingest/source-reading.ts';
import { type OpenStream, openWith } from './stream.ts';
import type { StreamUpdate } from './wire.ts';

/** Longer than the session waits before it asks whether the block is complete. */
const STALL_MS = 1_500;

/** Messages after the stall come in the order of the server. */
const stalling: OpenStream = (url, token, handlers) => {
  let block: StreamUpdate[] = [];
  let way = Promise.resolve();
  const deliver = (updates: readonly StreamUpdate[]) => {
    way = way.then(() => {
      for (const update of updates) handlers.update(update);
    });
  };
  const update = (one: StreamUpdate) => {
    if (one.account || one.transaction) block.push(one);
    else deliver([one]);
    if (!one.block) return;
    way = way.then(() => delay(STALL_MS));
    deliver(block);
    block = [];
  };
  return openWith()(url, token, { ...handlers, update });
};

describe('labels of a gRPC stream', () => {
  let net: RunningLocalnet;
  let source: SourceReading;
  afterEach(async () => {
    await source.stop();
    await net.stop();
  });

  it('follow the data of their slot, also when the stream stalls inside a block', async () => {
    net = await startLocalnet({
      rpcPort: 0,
      wsPort: 0,
      grpcPort: 0,
      speed: 0,
      seed: 5,
      accounts: 16,
      ordersPerMarket: 8,
    });
    source = new SourceReading(grpcSource(net, { open: stalling }));
    await source.until('accounts', () => source.of('snapshotEnd').length > 0);
    for (let count = 0; count < 2; count++) {
      await net.step(1);
      await source.until('the last slot', () => source.of('slot').at(-1)?.slot === net.ledger.tipSlot);
    }
    const early = source.updates.filter(
      (update, at) =>
        update.kind === 'account' &&
        source.updates.slice(0, at).some((before) => before.kind === 'slot' && before.slot >= update.slot),
    );
    expect(early).toEqual([]);
    expect(source.of('account').some(({ slot }) => slot === net.ledger.tipSlot)).toBe(true);
  });
});
