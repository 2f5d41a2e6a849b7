// Thousands of generated inputs on REST and WebSocket of the real order-book role: no crash, no answer that is not specified.
// `node test/soak/inputs.ts` has the long form.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../bench/harness/stage.ts';
import { SyntheticMarket } from '../bench/harness/synthetic-markets.ts';
import { runRestInputs, runSocketInputs } from '../fuzz/run.ts';
import { eventually } from './harness/processes.ts';

const INPUTS = 10_000;
const SEED = 4;

describe('generated inputs', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.start([0, 1].map((index) => new SyntheticMarket(index)));
    await eventually('a book', async () => (await fetch(`${stage.rest}/l3?marketName=M1-PERP`)).ok);
  });
  afterAll(() => stage?.stop());

  const expectServing = async (): Promise<void> => {
    const answer = await fetch(`${stage.rest}/l2?marketName=M0-PERP&depth=1`);
    expect(answer.status).toBe(200);
    expect(stage.server.errors()).not.toContain('request failed');
  };

  it('REST answers each with a specified status and goes on serving', async () => {
    const { inputs, faults, answers } = await runRestInputs(stage.rest, INPUTS, SEED);
    expect(faults).toEqual([]);
    expect(inputs).toBe(INPUTS);
    expect(answers['200']).toBeGreaterThan(INPUTS / 20);
    await expectServing();
  });

  it('the gateway answers or closes each connection with a code and goes on serving', async () => {
    const { inputs, faults, answers } = await runSocketInputs(stage.gateway, INPUTS, SEED);
    expect(faults).toEqual([]);
    expect(inputs).toBe(INPUTS);
    expect(answers['closed 1003']).toBeGreaterThan(0);
    await expectServing();
  });
});
