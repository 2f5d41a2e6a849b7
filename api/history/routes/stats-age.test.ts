// How old statistics may be: at most a minute, and not from before the end of their range.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { event, HOUR, key } from '../../../test/support/api/history-requests.ts';
import { fill, HistoryStage, makeApp, NOW, registry } from '../../../test/support/api/history-stage.ts';

let stage: HistoryStage;

beforeAll(async () => {
  stage = await HistoryStage.open();
});

afterAll(() => stage?.close());

beforeEach(() => stage.reset());

/** A service whose clock the test moves. */
async function clocked(start: number) {
  let nowS = start;
  const app = await makeApp(stage.clickhouse, registry(), { now: () => nowS });
  return {
    get: async <T>(url: string) => (await app.inject(url)).json<T>(),
    pass: (seconds: number) => {
      nowS += seconds;
    },
  };
}

describe('statistics', () => {
  it('of volumes are a minute old at most', async () => {
    const { get, pass } = await clocked(NOW);
    const total = async (path: string) => Number((await get<{ total: string }>(path)).total) / 225_300_000;
    const hour = Math.floor(NOW / HOUR) * HOUR;
    const paths = ['/stats/markets/volume/1h', `/stats/markets/volume?startTs=${hour - HOUR}&endTs=${hour}`];
    await stage.store('order_action', [fill({ ts: hour - 1 })]);
    for (const path of paths) expect([path, await total(path)]).toEqual([path, 1]);
    await stage.store('order_action', [fill({ ts: hour - 2 })]);
    pass(59);
    for (const path of paths) expect([path, await total(path)]).toEqual([path, 1]);
    pass(1);
    for (const path of paths) expect([path, await total(path)]).toEqual([path, 2]);
  });

  it('of a range are not from before its end', async () => {
    const hour = Math.floor(NOW / HOUR) * HOUR;
    const { get, pass } = await clocked(hour - 10);
    const total = async () =>
      Number((await get<{ total: string }>(`/stats/markets/volume?startTs=${hour - HOUR}&endTs=${hour}`)).total);
    expect(await total()).toBe(0);
    await stage.store('order_action', [fill({ ts: hour - 1 })]);
    pass(9);
    expect(await total()).toBe(0);
    pass(1);
    expect(await total()).toBe(225_300_000);
  });

  it('of losses are a minute old at most', async () => {
    const { get, pass } = await clocked(NOW);
    const count = async () =>
      (await get<{ stats: { '24h': { count: number } } }>('/stats/liquidations')).stats['24h'].count;
    expect(await count()).toBe(0);
    const liquidation = {
      ...event(1, NOW - 5),
      user: key('u'),
      liquidator: key('l'),
      liquidation_type: 'liquidatePerp',
    };
    await stage.store('liquidation', [liquidation]);
    pass(60);
    expect(await count()).toBe(1);
  });
});
