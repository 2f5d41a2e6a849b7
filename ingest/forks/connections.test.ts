// Both streams at processed against a simulated cluster with forks and skipped slots: the states are those of the node's fork.

import bs58 from 'bs58';
import { afterEach, describe, expect, it } from 'vitest';
import { profileOf } from '../../localnet/chain/profile.ts';
import { Schedule } from '../../localnet/chain/schedule.ts';
import { type RunningLocalnet, startLocalnet } from '../../localnet/index.ts';
import { keyText, loadDefinition } from '../../schemas/index.ts';
import { appliedAtOnce } from '../../test/support/ingest/fork-news.ts';
import { ask } from '../../test/support/localnet/test-client.ts';
import { eventually, until } from '../../test/support/platform/eventually.ts';
import { accountFilters } from '../rpc/account-filters.ts';
import { type ConnectionParts, type ForkConnection, followForks } from './feed.ts';
import { GrpcForks } from './grpc.ts';
import { PubSubForks } from './pubsub.ts';
import { type ConfirmedState, ForkStates } from './states.ts';

const SEED = 5;
const SLOTS = 12;
const BEFORE_FORK_SLOTS = 6;
const definition = loadDefinition('velocity');
const filters = accountFilters(definition);
const [program] = definition.programs;
const programs = definition.programs.map(({ programId }) => programId);

interface Row {
  readonly pubkey: string;
  readonly account: { readonly data: readonly [string, string] };
}

/** Steps to six slots before the next fork. */
async function stepBeforeFork(net: RunningLocalnet): Promise<void> {
  const schedule = new Schedule(SEED, profileOf('mainnet'));
  const from = await net.step(1);
  let fork = from + BEFORE_FORK_SLOTS + 1;
  while (schedule.at(fork) !== 'branch') fork += 1;
  await net.step(fork - from - BEFORE_FORK_SLOTS);
}

/** The states that a stream leads to, beside those that the node answers. */
class Follower {
  readonly reverts: number[] = [];
  readonly forks: ForkStates;
  readonly #net: RunningLocalnet;
  readonly #emitted = new Map<string, string>();
  readonly #confirmed = new Map<string, ConfirmedState>();

  constructor(net: RunningLocalnet) {
    this.#net = net;
    this.forks = new ForkStates({
      confirmed: (key) => this.#confirmed.get(key) ?? null,
      emit: ({ pubkey, data }) => this.#emitted.set(keyText(pubkey), Buffer.from(data).toString('base64')),
      reverted: (slot) => slot !== null && this.reverts.push(slot),
    });
  }

  /** Stands for the main stream: all states up to the newest confirmed slot. */
  async confirm(): Promise<void> {
    const slot = await ask<number>(this.#net.rpcUrl, 'getSlot', [{ commitment: 'confirmed' }]);
    for (const { pubkey, account } of await this.#read('confirmed')) {
      const key = bs58.decode(pubkey);
      const data = Buffer.from(account.data[0], 'base64');
      const update = { kind: 'account', slot, writeVersion: null, pubkey: key, owner: key, data } as const;
      this.#confirmed.set(keyText(key), { slot, update });
      this.forks.confirmed(key);
    }
    this.forks.confirm(slot);
  }

  /** Keys whose state is not that of the node's fork. */
  async differing(): Promise<string[]> {
    return (await this.#read('processed'))
      .filter(({ pubkey, account }) => this.#emitted.get(keyText(bs58.decode(pubkey))) !== account.data[0])
      .map(({ pubkey }) => pubkey);
  }

  async #read(commitment: string): Promise<readonly Row[]> {
    const users = filters.filter(({ name }) => name === 'User' || name === 'PerpMarket');
    const answers = users.map(({ liveFilters }) =>
      ask<Row[]>(this.#net.rpcUrl, 'getProgramAccounts', [
        program?.programId,
        { commitment, encoding: 'base64', filters: liveFilters },
      ]),
    );
    return (await Promise.all(answers)).flat();
  }
}

describe('a stream at processed', () => {
  const stops: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });

  const connections: Record<string, (parts: ConnectionParts, net: RunningLocalnet) => ForkConnection> = {
    pubsub: (parts, net) => new PubSubForks(parts, { wsUrl: net.wsUrl, filters, programs }),
    grpc: (parts, net) => new GrpcForks(parts, { url: net.grpcUrl, token: '', filters, programs, number: 0n }),
  };

  it.each(Object.keys(connections))(
    'over %s has at every slot the states of the fork that the node follows',
    async (name) => {
      const ports = { rpcPort: 0, wsPort: 0, grpcPort: 0 };
      const small = { speed: 0, seed: SEED, accounts: 16, ordersPerMarket: 8 };
      const net = await startLocalnet({ ...ports, ...small, profile: 'mainnet' });
      stops.push(() => net.stop());
      const follower = new Follower(net);
      const stopped = new AbortController();
      const reconnects: string[] = [];
      const following = followForks({
        open: (parts) => connections[name]?.(parts, net) ?? { run: async () => 'unknown' },
        books: appliedAtOnce(() => follower.forks),
        trades: { take: () => {} },
        metrics: { reconnects: { inc: () => reconnects.push(name) } as never },
        logger: { warn: () => {} } as never,
        silenceMs: 30_000,
        signal: stopped.signal,
      });
      stops.push(async () => {
        stopped.abort();
        await following;
      });
      // News that comes before the subscriptions is nobody's; slots pass until the confirmed one has reached the first news.
      await until(async () => {
        await net.step(1);
        await follower.confirm();
        return follower.forks.bytes > 0;
      }, 100);
      await stepBeforeFork(net);
      for (let count = 0; count < SLOTS; count++) {
        await net.step(1);
        await follower.confirm();
        await eventually(async () => expect(await follower.differing()).toEqual([]));
      }
      expect(follower.reverts.length).toBeGreaterThan(0);
      expect(reconnects).toEqual([]);
    },
  );
});
