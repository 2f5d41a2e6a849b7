import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningLocalnet } from '../../localnet/index.ts';
import { ask } from '../support/localnet/test-client.ts';
import { eventually } from '../support/platform/eventually.ts';
import type { Subjects } from './harness/real-node/call.ts';
import { CALLS } from './harness/real-node/calls.ts';
import { LOST_CALLS } from './harness/real-node/history-calls.ts';
import { unexpected } from './harness/real-node/known.ts';
import {
  type Observed,
  observeCalls,
  observeRefusals,
  observeSubscriptions,
  type Shapes,
} from './harness/real-node/observe.ts';
import { readRecorded, writeRecorded } from './harness/real-node/recorded.ts';
import { differences } from './harness/real-node/shape.ts';
import {
  SIMULATED_CHANGES,
  simulatedAccounts,
  simulatedSubjects,
  skippedSlot,
  startSimulated,
} from './harness/real-node/simulated.ts';
import { type Changing, REFUSALS, SUBSCRIPTIONS } from './harness/real-node/subscriptions.ts';
import { Traffic } from './harness/real-node/traffic.ts';
import { findValidator, Validator } from './harness/real-node/validator.ts';

const SYSTEM_PROGRAM = '11111111111111111111111111111111';
const LOG_BYTES_MAX = 10_000;
/** More than the simulated chain has when the calls are made. */
const RETAINED_BLOCKS = 250;
const SHAPES = CALLS.length + LOST_CALLS.length + SUBSCRIPTIONS.length + REFUSALS.length;
const WITNESSED = `${CALLS.length + LOST_CALLS.length} calls, ${SUBSCRIPTIONS.length} subscriptions and ${REFUSALS.length} refusals`;

const program = findValidator();
const say = (text: string): void => void process.stderr.write(`real-node: ${text}\n`);

function comparison(real: Shapes, other: Shapes): string[] {
  return Object.keys({ ...real, ...other }).flatMap((name) =>
    unexpected(name, differences(real[name] ?? [], other[name] ?? [])).map((line) => `${name}: ${line}`),
  );
}

describe('the simulated cluster answers like a real node', () => {
  let net: RunningLocalnet;
  let pruned: RunningLocalnet;

  beforeAll(async () => {
    net = await startSimulated();
    pruned = await startSimulated({ retainedBlocks: RETAINED_BLOCKS });
  });
  afterAll(() => Promise.all([net?.stop(), pruned?.stop()]));

  it('in every field of the shapes recorded from one', async () => {
    const { shapes } = await observeCalls(net.rpcUrl, await simulatedSubjects(net));
    const refusals = await observeRefusals(net.wsUrl, SIMULATED_CHANGES);
    const notified = await observeSubscriptions(net.wsUrl, SIMULATED_CHANGES, () => net.step(10));
    const beforeLoss = await simulatedSubjects(pruned);
    await pruned.step(2 * RETAINED_BLOCKS);
    const lost = await observeCalls(pruned.rpcUrl, beforeLoss, LOST_CALLS);
    const recorded = readRecorded();
    say(`${WITNESSED} compared with shapes of ${recorded.node}`);
    expect(Object.keys(recorded.shapes).length).toBe(SHAPES);
    expect(comparison(recorded.shapes, { ...shapes, ...refusals, ...notified, ...lost.shapes })).toEqual([]);
  });

  it.runIf(program === null)('says that no validator was found', () => {
    say('no validator: neither SOLANA_TEST_VALIDATOR nor solana-test-validator on the PATH or in shared tools');
    expect(findValidator()).toBeNull();
  });
});

describe.runIf(program !== null)('a real validator beside the simulated cluster', () => {
  let net: RunningLocalnet;
  const folder = mkdtempSync(join(tmpdir(), 'real-node-'));
  let validator: Validator;
  let traffic: Traffic;
  let subjects: Subjects;
  let changing: Changing;
  let node = '';
  let witnessed: Shapes = {};
  let real: Observed;
  let simulated: Observed;

  beforeAll(async () => {
    net = await startSimulated();
    const own = await simulatedSubjects(net);
    simulated = await observeCalls(net.rpcUrl, own);
    validator = await Validator.start(program ?? '', folder, await simulatedAccounts(net));
    traffic = new Traffic(validator);
    await traffic.fund();
    const signature = await traffic.transfer();
    const failedSignature = await traffic.failing();
    const { signature: lookupSignature, lookedUp, slot } = await traffic.lookup();
    const tip = await ask<number>(validator.rpcUrl, 'getSlot', [{ commitment: 'confirmed' }]);
    const { program: owner, accounts } = own;
    const { wallet } = traffic;
    const ofTransactions = { wallet, signature, lookupSignature, lookedUp, failedSignature, slot, tip };
    subjects = { program: owner, accounts, ...ofTransactions, skippedSlot: await skippedSlot(validator.rpcUrl, 0) };
    changing = { program: SYSTEM_PROGRAM, wallet, kind: await traffic.votes() };
    real = await observeCalls(validator.rpcUrl, subjects);
    const version = await ask<Record<string, string>>(validator.rpcUrl, 'getVersion');
    node = `Agave ${version['solana-core']}`;
    say(`${WITNESSED} on ${node}`);
  });
  afterAll(async () => {
    await Promise.all([validator?.stop(), net?.stop()]);
    rmSync(folder, { recursive: true, force: true });
    if (process.env.RECORD_NODE_SHAPES === '1' && Object.keys(witnessed).length === SHAPES)
      writeRecorded({ node, shapes: witnessed });
  });

  /** Compares with the recorded shapes of the same names, except when they are recorded anew. */
  function expectRecorded(shapes: Shapes): void {
    witnessed = { ...witnessed, ...shapes };
    if (process.env.RECORD_NODE_SHAPES === '1') return;
    const { shapes: recorded } = readRecorded();
    const same = Object.fromEntries(Object.keys(shapes).map((name) => [name, recorded[name] ?? []]));
    expect(comparison(shapes, same)).toEqual([]);
  }

  it('has the shapes that were recorded, for calls and notifications', async () => {
    const refusals = await observeRefusals(validator.wsUrl, changing);
    const notifications = await observeSubscriptions(validator.wsUrl, changing, () => traffic.transfer());
    expectRecorded({ ...real.shapes, ...refusals, ...notifications });
  });

  it('has the same values where both have the same accounts', () => {
    const names = Object.keys(real.values);
    expect(names.length).toBe(CALLS.filter(({ sameValues }) => sameValues).length);
    for (const name of names) expect(simulated.values[name], name).toEqual(real.values[name]);
  });

  it('cuts logs at execution, and shorter lines follow the cut', async () => {
    const signature = await traffic.memos([...Array.from({ length: 36 }, () => ''), '\u0001'.repeat(400), 'z']);
    const { meta } = await ask<{ meta: { logMessages: string[] } }>(validator.rpcUrl, 'getTransaction', [
      signature,
      { commitment: 'confirmed', maxSupportedTransactionVersion: 0 },
    ]);
    const { logMessages } = meta;
    const cut = logMessages.indexOf('Log truncated');
    expect(cut).toBeGreaterThan(0);
    expect(logMessages.lastIndexOf('Log truncated')).toBe(cut);
    expect(logMessages.slice(cut + 1)).toContain('Program log: Memo (len 1): "z"');
    expect(logMessages.join('').length).toBeLessThan(LOG_BYTES_MAX);
  });

  it('has its accounts after a kill, and goes on after a pause', async () => {
    // Transactions that are not final when a node dies may be gone.
    const tip = await ask<number>(validator.rpcUrl, 'getSlot', [{ commitment: 'confirmed' }]);
    await eventually(async () => {
      const finalized = await ask<number>(validator.rpcUrl, 'getSlot', [{ commitment: 'finalized' }]);
      if (finalized < tip) throw new Error('not final yet');
    });
    const genesis = await ask(validator.rpcUrl, 'getGenesisHash');
    const balance = (): Promise<number> => traffic.connection.getBalance(traffic.payer.publicKey, 'confirmed');
    const funds = await balance();
    await validator.restartAfterKill();
    expect(await ask(validator.rpcUrl, 'getGenesisHash')).toBe(genesis);
    // It replays its ledger, but the logs and results of the last transactions may be gone for ever.
    await eventually(async () => expect(await balance()).toBe(funds));
    const before = await ask<number>(validator.rpcUrl, 'getSlot', [{ commitment: 'confirmed' }]);
    await validator.pause();
    const silent = AbortSignal.timeout(1500);
    const asked = fetch(validator.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot' }),
      signal: silent,
    });
    await expect(asked).rejects.toThrow();
    validator.resume();
    await eventually(async () => {
      const slot = await ask<number>(validator.rpcUrl, 'getSlot', [{ commitment: 'confirmed' }]);
      if (slot <= before) throw new Error('still at the slot before the pause');
    });
  });

  it('has the shapes that were recorded when it lost its older blocks', async () => {
    await validator.restartWithoutBlocks();
    const lost = await eventually(async () => {
      const tip = await ask<number>(validator.rpcUrl, 'getSlot', [{ commitment: 'finalized' }]);
      const first = await ask<number>(validator.rpcUrl, 'getFirstAvailableBlock');
      if (first <= subjects.slot) throw new Error('no new block is final yet');
      return { ...subjects, tip };
    });
    const { shapes } = await observeCalls(validator.rpcUrl, lost, LOST_CALLS);
    expectRecorded(shapes);
  });
});
