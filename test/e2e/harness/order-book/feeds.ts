// Priority fees, the oracle feed and the P&L ranking over real processes, with nothing but the localnet behind them.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { times } from '../../../support/platform/times.ts';
import { eventually, PATIENCE_MS } from '../../../support/processes/processes.ts';
import { naiveRankings } from '../naive/ranking.ts';
import { type OrderBookRun, SECRET } from './run.ts';

const KILLS = times(1, 10);
/**
 * Rankings follow with the next time of a block. A node of `hostile` may be silent about the last one while the chain stands
 * still, so there one of several stops counts.
 */
const STOPS =
  process.env.CLUSTER_PROFILE === 'hostile'
    ? { most: 8, withinMs: 10_000, betweenMs: 5_000 }
    : { most: 1, withinMs: PATIENCE_MS, betweenMs: 0 };
const FEE_LEVELS = ['min', 'low', 'medium', 'high', 'veryHigh', 'unsafeMax'];

interface Ranking {
  readonly marketIndex: number;
  readonly gainers: readonly { readonly userPubKey: string; readonly pnl: number }[];
  readonly losers: Ranking['gainers'];
}

export function describeFeeds(run: () => OrderBookRun): void {
  describe('feeds of the order-book server', () => {
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(run().server.endpoints.orderbook + path, { headers });
      const body = await response.text();
      return { status: response.status, body, json: () => JSON.parse(body) };
    };
    const ranking = async (marketIndex: number): Promise<Ranking> =>
      (await get(`/unsettledPnlUsers?marketIndex=${marketIndex}`)).json();

    it('serves the fee levels of every market of both kinds', async () => {
      await eventually('fees', async () => (await get('/priorityFees?marketType=perp&marketIndex=0')).status === 200);
      const { json } = await get('/batchPriorityFees?marketType=perp,perp,spot,spot&marketIndex=0,3,0,2');
      for (const entry of json() as Record<string, unknown>[]) {
        expect(Object.keys(entry)).toEqual([...FEE_LEVELS, 'marketType', 'marketIndex']);
      }
    });

    it('adds the bytes of every maker as the chain confirmed them, not as it finalized them', async () => {
      type Accounts = { value: readonly ({ data: readonly [string, string] } | null)[] };
      const path = '/topMakers?marketIndex=0&marketType=perp&side=bid&limit=20&includeAccounts=true';
      await eventually('makers', async () => ((await get(path)).json() as unknown[]).length > 0);
      await run().cluster.rpc('localnet_pause');
      let differences = 0;
      try {
        await eventually('bytes of the paused slot', async () => {
          const makers = (await get(path)).json() as { userAccountPubKey: string; accountBase64: string | null }[];
          const bytesAt = async (commitment: string) => {
            const options = { encoding: 'base64', commitment };
            const keys = makers.map(({ userAccountPubKey }) => userAccountPubKey);
            const { value } = await run().cluster.rpc<Accounts>('getMultipleAccounts', [keys, options]);
            return value.map((account) => account?.data[0] ?? null);
          };
          const [confirmed, finalized] = await Promise.all([bytesAt('confirmed'), bytesAt('finalized')]);
          differences = confirmed.filter((bytes, at) => bytes !== finalized[at]).length;
          return makers.every(({ accountBase64 }, at) => accountBase64 !== null && accountBase64 === confirmed[at]);
        });
      } finally {
        await run().cluster.rpc('localnet_resume');
      }
      expect(differences).toBeGreaterThan(0);
    });

    it('sends fee levels over the socket at every poll', async () => {
      const socket = new WebSocket(`${run().server.endpoints.orderbook?.replace('http', 'ws')}/ws`);
      const received: { channel?: string; data?: string }[] = [];
      socket.on('message', (bytes) => {
        const message = JSON.parse(bytes.toString());
        if (message.channel !== 'heartbeat') received.push(message);
      });
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send(
        JSON.stringify({ type: 'subscribe', channel: 'priorityfees', market: 'BTC-PERP', marketType: 'perp' }),
      );
      await eventually('three refreshes', () => received.length >= 4);
      socket.close();
      for (const { channel, data } of received.slice(1)) {
        expect(channel).toBe('priorityFees_perp_1');
        expect(Object.keys(JSON.parse(data ?? ''))).toEqual(FEE_LEVELS);
      }
    });

    it('serves the oracle feed of the localnet to those who may read it', async () => {
      expect((await get('/oracleLazer?feedIds=6')).status).toBe(403);
      const answer = await get('/oracleLazer?feedIds=6,1', { authorization: SECRET });
      expect(answer.status).toBe(200);
      const { data, solana } = answer.json();
      expect(data.map(({ priceFeedId }: { priceFeedId: number }) => priceFeedId)).toEqual([6, 1]);
      expect(solana).toMatch(/^b9011a82/);
      const page = { 'x-forwarded-proto': 'https', origin: 'https://app.example.exchange' };
      expect((await get('/dlob/oracleLazer?feedIds=6', page)).status).toBe(200);
      expect((await get('/oracleLazer?feedIds=6', { ...page, origin: 'https://appexample.exchange' })).status).toBe(
        403,
      );
    });

    /** Stops the chain and compares the rankings with what its accounts give. `difference` is that of the first market. */
    const rankingsAtStop = async () => {
      await run().cluster.rpc('localnet_pause');
      const expected = await naiveRankings(run().cluster.faultlessUrl);
      expect(expected.length).toBeGreaterThanOrEqual(4);
      for (const naive of expected) {
        let last: Ranking | undefined;
        const what = `ranking of market ${naive.marketIndex}`;
        const isEqual = async () => {
          last = await ranking(naive.marketIndex);
          return JSON.stringify(last) === JSON.stringify(naive);
        };
        const isSame = await eventually(what, isEqual, STOPS.withinMs).catch(() => false);
        if (!isSame) return { expected, difference: { naive, last } };
      }
      return { expected, difference: null };
    };

    const expectRankingsEqualNaive = async () => {
      for (let stop = 1; ; stop += 1) {
        const { expected, difference } = await rankingsAtStop();
        if (stop === STOPS.most) expect(difference?.last).toEqual(difference?.naive);
        await run().cluster.rpc('localnet_resume');
        if (difference === null) return expected;
        await sleep(STOPS.betweenMs);
      }
    };

    it('has at a stopped slot the rankings that a naive recomputation from the accounts gives', async () => {
      await eventually('a ranking', async () => (await ranking(0)).gainers.length > 0);
      const rankings = await expectRankingsEqualNaive();
      expect(rankings.some(({ losers }) => losers.length === 20)).toBe(true);
    });

    it('has the same rankings after kills, in the middle of what happens', async () => {
      for (let kill = 0; kill < KILLS; kill++) await run().restartRankings();
      await expectRankingsEqualNaive();
    });
  });
}
