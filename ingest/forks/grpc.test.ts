// A stream that is joined while a slot is under way: part of the slot's data was sent before.

import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { geyserMessages } from '../../schemas/index.ts';
import { key } from '../../test/support/ingest/accounts.ts';
import { appliedAtOnce } from '../../test/support/ingest/fork-news.ts';
import type { StreamHandlers } from '../grpc/index.ts';
import type { WireAccount, WireSlot } from '../grpc/wire.ts';
import { GrpcForks } from './grpc.ts';
import { ForkStates } from './states.ts';

const { SlotStatus } = geyserMessages();

describe('a stream at processed over gRPC that is joined within slot 3', () => {
  let handlers: StreamHandlers;
  let forks: ForkStates;
  let emitted: number[];
  const send = (part: { readonly slot: WireSlot } | { readonly account: WireAccount }) => {
    const nothing = {
      filters: [],
      account: null,
      transaction: null,
      block: null,
      slot: null,
      isPing: false,
      pong: null,
    };
    handlers.update({ ...nothing, bytes: Buffer.alloc(0), ...part });
  };
  const news = (slot: number, status: number) => send({ slot: { slot, parent: slot - 1, status } });
  const write = (slot: number) => {
    const [pubkey, data, txnSignature] = [key(1, 2, 3), new Uint8Array([slot]), new Uint8Array(0)];
    send({ account: { slot, pubkey, owner: pubkey, data, writeVersion: BigInt(slot), txnSignature } });
  };

  beforeEach(async () => {
    emitted = [];
    forks = new ForkStates({
      confirmed: () => null,
      emit: ({ slot }) => emitted.push(slot),
      reverted: () => {},
    });
    const stream = { request: () => {}, close: () => {} };
    const connection = new GrpcForks(
      {
        books: appliedAtOnce(() => forks),
        trades: { take: () => {} },
        silenceMs: 60_000,
        signal: new AbortController().signal,
      },
      {
        url: '',
        token: '',
        filters: [],
        programs: [],
        number: 0n,
        open: async (_url, _token, given) => {
          handlers = given;
          return stream as never;
        },
      },
    );
    void connection.run();
    await setImmediate();
  });

  it.each(['SLOT_CONFIRMED', 'SLOT_FINALIZED', 'SLOT_COMPLETED', 'SLOT_DEAD'] as const)(
    'shows no state of that slot before it is confirmed, also when %s of an older slot comes first',
    (status) => {
      news(1, SlotStatus[status]);
      write(3);
      news(3, SlotStatus.SLOT_PROCESSED);
      forks.confirm(2);
      expect([forks.slot, emitted]).toEqual([2, []]);
      write(4);
      news(4, SlotStatus.SLOT_PROCESSED);
      forks.confirm(3);
      expect([forks.slot, emitted]).toEqual([4, [4]]);
    },
  );
});
