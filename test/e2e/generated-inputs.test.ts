// Thousands of generated inputs on REST and both WebSockets of a real order-book role: no crash, no undocumented answer.
// `npm run soak inputs` sends a million.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SyntheticMarket } from '../bench/harness/synthetic-markets.ts';
import { CROSSED, FullStage } from '../fuzz/full-stage.ts';
import { runRestInputs } from '../fuzz/run-rest.ts';
import { runQuoteInputs, runSocketInputs } from '../fuzz/run-sockets.ts';
import { times } from '../support/platform/times.ts';
import { eventually } from '../support/processes/processes.ts';
import { expectSchemathesisPasses, type SchemathesisOptions } from './harness/checks/schemathesis.ts';

const REST_INPUTS = 3_000;
const SOCKET_INPUTS = 5_000;
const QUOTE_INPUTS = 1_500;
const SEED = 4;
const SCHEMATHESIS: SchemathesisOptions = {
  phases: ['coverage', 'fuzzing'],
  ...{ examples: times(6, 300), seconds: times(5, 120), seed: SEED, mayFail: true },
};

describe('generated inputs', () => {
  let full: FullStage;
  const get = (path: string) => fetch(`${full.stage.rest}${path}`);
  beforeAll(async () => {
    full = await FullStage.start([0, 1].map((index) => new SyntheticMarket(index)));
    for (const name of ['M1-PERP', CROSSED.symbol]) {
      await eventually(`the book of ${name}`, async () => (await get(`/l3?marketName=${name}`)).ok);
    }
  });
  afterAll(() => full?.stop());

  const expectServing = async (): Promise<void> => {
    const answer = await get('/l2?marketName=M0-PERP&depth=1');
    expect(answer.status).toBe(200);
    expect(full.stage.server.errors()).not.toContain('request failed');
  };

  it('meet recent fills that move the prices of version 2', async () => {
    const order = `marketIndex=${CROSSED.marketIndex}&marketType=perp&direction=long&amount=1000000000&assetType=base`;
    const oraclePrice = async (version: number): Promise<number> => {
      const answer = await get(`/auctionParams?${order}&version=${version}`);
      return Number(((await answer.json()) as { data: { oraclePrice: string } }).data.oraclePrice);
    };
    await eventually('fills', async () => (await oraclePrice(2)) > (await oraclePrice(1)));
  });

  it('REST answers each as its contract says and goes on serving', async () => {
    const { inputs, faults, answers } = await runRestInputs(full.stage.rest, REST_INPUTS, SEED);
    expect(faults).toEqual([]);
    expect(inputs).toBe(REST_INPUTS);
    for (const path of ['/oracleLazer', '/priorityFees', '/unsettledPnlUsers', '/auctionParams', '/batchL2', '/l3']) {
      expect([path, answers[`${path} 200`] ?? 0]).toEqual([path, expect.toSatisfy((count: number) => count > 3)]);
    }
    expect(answers['/oracleLazer 403']).toBeGreaterThan(10);
    await expectServing();
  });

  it('REST answers what schemathesis makes of its contract', async () => {
    await expectSchemathesisPasses(`${full.stage.rest}/openapi.json`, SCHEMATHESIS);
    await expectServing();
  });

  it('the gateway answers as its contract says, or closes with a code, and goes on serving', async () => {
    const { inputs, faults, answers } = await runSocketInputs(full.stage.gateway, SOCKET_INPUTS, SEED);
    expect(faults).toEqual([]);
    expect(inputs).toBe(SOCKET_INPUTS);
    expect(answers['closed 1003']).toBeGreaterThan(0);
    await expectServing();
  });

  it('the quote socket does the same', async () => {
    const { inputs, faults, answers } = await runQuoteInputs(full.stage.quotes, QUOTE_INPUTS, SEED);
    expect(faults).toEqual([]);
    expect(inputs).toBe(QUOTE_INPUTS);
    expect(answers.open).toBeGreaterThan(QUOTE_INPUTS / 2);
    expect(answers['closed 1008']).toBeGreaterThan(10);
    await expectServing();
  });
});
