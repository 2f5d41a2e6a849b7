import { pino } from 'pino';
import { expect, it } from 'vitest';
import { encodeMessage, TOPICS } from '../../schemas/index.ts';
import { FakeLog } from '../../test/support/api/fake-log.ts';
import { until } from '../../test/support/platform/eventually.ts';
import { AccountStates, followAccountStates } from './account-states.ts';

const logger = pino({ level: 'silent' });
const account = new Uint8Array(32).fill(1);
const authority = new Uint8Array(32).fill(2);

const earned = (slot: number, totalBuilderRewards: bigint) => ({
  key: 'account',
  value: encodeMessage('RevenueShareState', {
    slot,
    account,
    authority,
    totalReferrerRewards: 0n,
    totalBuilderRewards,
  }),
});

it('has all states of the log at the start, then follows, and survives records it cannot read', async () => {
  const log = new FakeLog();
  const fund = encodeMessage('InsuranceFundState', { marketIndex: 3, slot: 1, unstakingPeriod: 60n });
  await log.append(TOPICS.accountStates, [
    earned(1, 5n),
    { key: 'x', value: Buffer.from('?') },
    { key: 'f', value: fund },
  ]);
  const { states, stop, done } = await followAccountStates({ log, logger });
  expect((await states.revenueShare(authority))?.totalBuilderRewards).toBe(5n);
  expect([states.unstakingPeriod(3), states.unstakingPeriod(4), await states.escrow(authority)]).toEqual([
    60n,
    null,
    null,
  ]);
  await log.append(TOPICS.accountStates, [{ key: 'x', value: Buffer.from('?') }, earned(2, 9n), earned(1, 6n)]);
  await until(async () => (await states.revenueShare(authority))?.totalBuilderRewards === 9n);
  await stop();
  await done;
});

it('answers beyond its memory from the log, one read for all who wait', async () => {
  const WALLETS = 50;
  const keyOf = (n: number) => new Uint8Array(32).fill(n + 1);
  const stateOf = (n: number, slot: number, rewards: number) =>
    encodeMessage('RevenueShareState', {
      slot,
      account,
      authority: keyOf(n),
      totalReferrerRewards: 0n,
      totalBuilderRewards: BigInt(rewards),
    });
  const log: Uint8Array[] = [Buffer.from('?')];
  let reads = 0;
  const states = new AccountStates({
    bytesMax: 3_000,
    readLog: async (take) => {
      reads += 1;
      for (const value of log) take({ value });
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
  const rewardsOf = async (n: number) => (await states.revenueShare(keyOf(n)))?.totalBuilderRewards ?? null;
  for (let n = 0; n < WALLETS; n++) {
    log.push(stateOf(n, 1, n), stateOf(n, 2, 100 + n));
    for (const bytes of log.slice(-2)) states.put(bytes);
  }
  expect([await rewardsOf(WALLETS - 1), reads]).toEqual([BigInt(99 + WALLETS), 0]);
  const all = await Promise.all(Array.from({ length: WALLETS + 5 }, (_, n) => rewardsOf(n)));
  expect(all.slice(0, WALLETS)).toEqual(Array.from({ length: WALLETS }, (_, n) => BigInt(100 + n)));
  expect(all.slice(WALLETS)).toEqual([null, null, null, null, null]);
  expect(reads).toBe(1);
  const late = rewardsOf(0);
  states.put(stateOf(0, 3, 7));
  expect(await late).toBe(7n);
});

it('reports a log that is away, and asks it again for the next request', async () => {
  let isAway = true;
  const states = new AccountStates({
    bytesMax: 1,
    readLog: async (take) => {
      if (isAway) throw new Error('away');
      take(earned(1, 5n));
    },
  });
  states.put(earned(1, 5n).value);
  await expect(states.revenueShare(authority)).rejects.toThrow('away');
  isAway = false;
  expect((await states.revenueShare(authority))?.totalBuilderRewards).toBe(5n);
});
