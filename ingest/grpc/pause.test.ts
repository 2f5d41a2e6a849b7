// A reader that falls behind its stream: the stream pauses for a reader that works, and not for long for one that stands still.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunningLocalnet, startLocalnet } from '../../localnet/index.ts';
import { grpcSource } from '../../test/support/ingest/grpc-source.ts';
import { SourceReading } from '../../test/support/ingest/source-reading.ts';
import { type OpenStream, openWith } from './stream.ts';
import type { StreamUpdate } from './wire.ts';

/** More than may wait unpacked, twice. */
const FLOOD = 10_000;

describe('a gRPC stream', () => {
  let net: RunningLocalnet;
  let source: SourceReading;
  /** End of each pause. */
  let pauses: Promise<unknown>[] = [];
  let isFlood = false;
  /** The reader awaits it after each batch. */
  let log = Promise.resolve();

  /** The next account update comes many times. */
  const flooding: OpenStream = async (url, token, handlers) => {
    const update = (one: StreamUpdate) => {
      const times = isFlood && one.account ? FLOOD : 1;
      if (times > 1) isFlood = false;
      for (let count = 0; count < times; count++) handlers.update(one);
    };
    const stream = await openWith()(url, token, { ...handlers, update });
    const pauseUntil = stream.pauseUntil.bind(stream);
    stream.pauseUntil = (resumed) => {
      pauses.push(resumed);
      pauseUntil(resumed);
    };
    return stream;
  };
  const flood = async () => {
    isFlood = true;
    await net.step(1);
    await source.until('the flood', () => !isFlood);
  };

  beforeEach(async () => {
    [pauses, isFlood, log] = [[], false, Promise.resolve()];
    const size = { accounts: 16, ordersPerMarket: 8 };
    net = await startLocalnet({ rpcPort: 0, wsPort: 0, grpcPort: 0, speed: 0, seed: 5, ...size });
    source = new SourceReading(grpcSource(net, { open: flooding }), null, () => log);
    await source.until('accounts', () => source.of('snapshotEnd').length > 0);
  });
  afterEach(async () => {
    await source.stop();
    await net.stop();
  });

  it('pauses until its reader takes what waits, and nothing is lost', async () => {
    await flood();
    await source.until('all updates', () => source.of('account').length > FLOOD);
    expect(pauses).toHaveLength(1);
    await flood();
    await source.until('all updates', () => source.of('account').length > 2 * FLOOD);
    expect(pauses).toHaveLength(2);
  });

  it('goes on by itself when its reader stands still, and then does not pause again for that batch', async () => {
    let goOn = () => {};
    log = new Promise((resolve) => {
      goOn = resolve;
    });
    const before = source.updates.length;
    await net.step(1);
    await source.until('a batch that is worked on', () => source.updates.length > before);
    await flood();
    await pauses[0];
    await flood();
    expect(pauses).toHaveLength(1);
    goOn();
    await source.until('all updates', () => source.of('account').length > 2 * FLOOD);
  });
});
