import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningLocalnet } from '../../localnet/index.ts';
import { accountKey } from '../support/localnet/fake-exchange.ts';
import { ask } from '../support/localnet/test-client.ts';
import { eventually } from '../support/platform/eventually.ts';
import { CALLS, SUBSCRIPTIONS, type Subjects } from './harness/witness/calls.ts';
import { unexpected } from './harness/witness/known.ts';
import { type Observed, observeCalls, observeSubscriptions, type Shapes } from './harness/witness/observe.ts';
import { readRecorded, writeRecorded } from './harness/witness/recorded.ts';
import { differences } from './harness/witness/shape.ts';
import { simulatedAccounts, simulatedSubjects, startSimulated } from './harness/witness/simulated.ts';
import { Traffic } from './harness/witness/traffic.ts';
import { findValidator, Validator } from './harness/witness/validator.ts';

const SYSTEM_PROGRAM = '11111111111111111111111111111111';
const LOG_BYTES_MAX = 10_000;

const program = findValidator();
const say = (text: string): void => void process.stderr.write(`real-node: ${text}\n`);

function comparison(witness: Shapes, other: Shapes): string[] {
  return Object.keys({ ...witness, ...other }).flatMap((name) =>
    unexpected(name, differences(witness[name] ?? [], other[name] ?? [])).map((line) => `${name}: ${line}`),
  );
}

describe('the simulated cluster answers like a real node', () => {
  let net: RunningLocalnet;
  let simulated: Observed;
  let notified: Shapes;

  beforeAll(async () => {
    net = await startSimulated();
    simulated = await observeCalls(net.rpcUrl, await simulatedSubjects(net));
  });
  afterAll(() => net?.stop());

  it('in every field of the shapes recorded from one', async () => {
    const subjects = await simulatedSubjects(net);
    notified = await observeSubscriptions(net.wsUrl, { program: subjects.program, wallet: accountKey(0) }, () =>
      net.step(10),
    );
    const recorded = readRecorded();
    say(`${CALLS.length} calls and ${SUBSCRIPTIONS.length} subscriptions compared with shapes of ${recorded.node}`);
    expect(Object.keys(recorded.shapes).length).toBe(CALLS.length + SUBSCRIPTIONS.length);
    expect(comparison(recorded.shapes, { ...simulated.shapes, ...notified })).toEqual([]);
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
    const lookupSignature = await traffic.lookup();
    const failedSignature = await traffic.failing();
    const slot = (await traffic.connection.getSignatureStatus(lookupSignature)).value?.slot ?? 0;
    const tip = await ask<number>(validator.rpcUrl, 'getSlot', [{ commitment: 'confirmed' }]);
    const { program: owner, accounts } = own;
    const { wallet } = traffic;
    subjects = { program: owner, accounts, wallet, signature, lookupSignature, failedSignature, slot, tip };
    real = await observeCalls(validator.rpcUrl, subjects);
    const version = await ask<Record<string, string>>(validator.rpcUrl, 'getVersion');
    say(`${CALLS.length} calls and ${SUBSCRIPTIONS.length} subscriptions on Agave ${version['solana-core']}`);
  });
  afterAll(async () => {
    await Promise.all([validator?.stop(), net?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('has the shapes that were recorded, for calls and notifications', async () => {
    const changing = { program: SYSTEM_PROGRAM, wallet: subjects.wallet };
    const notifications = await observeSubscriptions(validator.wsUrl, changing, () => traffic.transfer());
    const shapes = { ...real.shapes, ...notifications };
    if (process.env.RECORD_NODE_SHAPES === '1') {
      const version = await ask<Record<string, string>>(validator.rpcUrl, 'getVersion');
      writeRecorded({ node: `Agave ${version['solana-core']}`, shapes });
    }
    const recorded = readRecorded();
    expect(comparison(shapes, recorded.shapes)).toEqual([]);
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
});
