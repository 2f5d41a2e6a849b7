import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningLocalnet } from '../../localnet/index.ts';
import { ask } from '../support/localnet/test-client.ts';
import { eventually } from '../support/platform/eventually.ts';
import { isSoak, times } from '../support/platform/times.ts';
import { CONFIRMED, type Subjects } from './harness/real-node/call.ts';
import { CALLS } from './harness/real-node/calls.ts';
import { LOST_CALLS } from './harness/real-node/history-calls.ts';
import { followAsIngest, formsOf, noting, readAsIngest } from './harness/real-node/ingester.ts';
import { unexpected } from './harness/real-node/known.ts';
import {
  type Observed,
  observeCalls,
  observeRefusals,
  observeSubscriptions,
  type Shapes,
} from './harness/real-node/observe.ts';
import { readRecorded, writeRecorded } from './harness/real-node/recorded.ts';
import { DRIFT, recordedExchange } from './harness/real-node/recorded-exchange.ts';
import { RecordedRoles } from './harness/real-node/recorded-roles.ts';
import { differences } from './harness/real-node/shape.ts';
import {
  SIMULATED_CHANGES,
  simulatedAccounts,
  simulatedSubjects,
  startSimulated,
} from './harness/real-node/simulated.ts';
import { type Changing, REFUSALS, SUBSCRIPTIONS } from './harness/real-node/subscriptions.ts';
import { Traffic } from './harness/real-node/traffic.ts';
import { FIRST_SLOT, findValidator, Validator } from './harness/real-node/validator.ts';

const SYSTEM_PROGRAM = '11111111111111111111111111111111';
const LOG_BYTES_MAX = 10_000;
/** More than the simulated chain has when the calls are made. */
const RETAINED_BLOCKS = 250;
/** Reasons of gaps (ingest/rpc/transaction-audit.ts). */
const OUTAGE = 'not connected';
const JUMP = 'the node lost these blocks at a jump to a newer snapshot';
/** Longer than the time after which ingest takes a node for silent. */
const PAUSE_MS = 5_000;
/** A validator that moves confirms a transaction within seconds. */
const STALLED_MS = 60_000;
const size = (levels: object) => Object.keys(levels).length;
const SHAPES = CALLS.length + LOST_CALLS.length + SUBSCRIPTIONS.length + REFUSALS.length;
const ASKED = `${CALLS.length + LOST_CALLS.length} calls, ${SUBSCRIPTIONS.length} subscriptions and ${REFUSALS.length} refusals`;

const program = findValidator();
/** `RECORD_NODE_SHAPES=1` writes the shapes of the validator instead of comparing with them. */
const isRecording = process.env.RECORD_NODE_SHAPES === '1';
/** A validator keeps a core busy, so a run of all tests leaves out the tests that start another one. */
const canLose = isSoak || isRecording;
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
    say(`${ASKED} of the simulated cluster compared with shapes recorded from ${recorded.node}`);
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
  const exchange = recordedExchange();
  let validator: Validator;
  let roles: RecordedRoles | null = null;
  let traffic: Traffic;
  let subjects: Subjects;
  let changing: Changing;
  let node = '';
  let observed: Shapes = {};
  let real: Observed;
  let notified: Shapes;
  let simulated: Observed;
  /** A slot that the books have reached before the node loses its blocks. */
  let reached = 0;

  beforeAll(async () => {
    net = await startSimulated();
    const own = await simulatedSubjects(net);
    simulated = await observeCalls(net.rpcUrl, own);
    const genesis = [...(await simulatedAccounts(net)), ...(exchange?.accounts ?? [])];
    validator = await Validator.start(program ?? '', folder, genesis);
    if (exchange === null) say('no recorded accounts: the pipeline does not run on the validator');
    const starting = exchange === null ? null : RecordedRoles.start(validator, folder, exchange);
    // A validator keeps a core busy at all times, so tests wait together where they can.
    starting?.catch(() => {});
    traffic = new Traffic(validator);
    await traffic.fund();
    const signature = await traffic.transfer();
    const failedSignature = await traffic.failing();
    changing = { program: SYSTEM_PROGRAM, wallet: traffic.wallet, kind: await traffic.votes() };
    const [looked, observed] = await Promise.all([
      traffic.lookup(),
      observeSubscriptions(validator.wsUrl, changing, () => traffic.transfer()),
    ]);
    const { signature: lookupSignature, lookedUp, slot } = looked;
    notified = observed;
    const tip = await ask<number>(validator.rpcUrl, 'getSlot', [{ commitment: 'confirmed' }]);
    const { program: owner, accounts } = own;
    const { wallet } = traffic;
    const ofTransactions = { wallet, signature, lookupSignature, lookedUp, failedSignature, slot, tip };
    subjects = { program: owner, accounts, ...ofTransactions, skippedSlot: FIRST_SLOT - 1 };
    real = await observeCalls(validator.rpcUrl, subjects);
    const version = await ask<Record<string, string>>(validator.rpcUrl, 'getVersion');
    node = `Agave ${version['solana-core']}`;
    say(`${ASKED} on ${node}${canLose ? '' : ', without those of a node that lost blocks'}`);
    roles = await starting;
  });
  afterAll(async () => {
    await Promise.all([roles?.stop(), net?.stop()]);
    await validator?.stop();
    rmSync(folder, { recursive: true, force: true });
    if (isRecording && Object.keys(observed).length === SHAPES) writeRecorded({ node, shapes: observed });
  });

  /** Compares with the recorded shapes of the same names, except when they are recorded anew. */
  function expectRecorded(shapes: Shapes): void {
    observed = { ...observed, ...shapes };
    if (isRecording) return;
    const { shapes: recorded } = readRecorded();
    const same = Object.fromEntries(Object.keys(shapes).map((name) => [name, recorded[name] ?? []]));
    expect(comparison(shapes, same)).toEqual([]);
  }

  it('has the shapes that were recorded, for calls and notifications', async () => {
    const refusals = await observeRefusals(validator.wsUrl, changing);
    expectRecorded({ ...real.shapes, ...refusals, ...notified });
  });

  it('has the same values where both have the same accounts', () => {
    const names = Object.keys(real.values);
    expect(names.length).toBe(CALLS.filter(({ sameValues }) => sameValues).length);
    for (const name of names) expect(simulated.values[name], name).toEqual(real.values[name]);
  });

  it('is asked in every form that ingest uses, and ingest reads the same from both', async () => {
    const forms = new Set<string>();
    const transport = noting(forms);
    const read = readAsIngest(validator.rpcUrl, subjects, transport);
    const simulatedRead = readAsIngest(net.rpcUrl, await simulatedSubjects(net), transport);
    expect(await read).toEqual(await simulatedRead);
    await followAsIngest(validator, transport, forms);
    const suite = formsOf([...CALLS, ...LOST_CALLS], SUBSCRIPTIONS, subjects);
    expect([...forms].filter((form) => !suite.has(form))).toEqual([]);
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

  it.runIf(exchange !== null)('feeds the pipeline, whose books are those of the recorded orders', async () => {
    const filled = [...(exchange?.books.values() ?? [])].filter(({ bids, asks }) => size(bids) + size(asks) > 0);
    expect(filled.length).toBe(3);
    await roles?.expectBooks(await touched());
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

  it.runIf(exchange !== null)('leaves the books whole, and the gap filled, through kills of ingest too', async () => {
    await roles?.filledGap(OUTAGE);
    for (let kill = 0; kill < times(1, 10); kill++) {
      if (kill > 0) {
        await validator.restartAfterKill();
        await validator.pause();
        await sleep(PAUSE_MS);
        validator.resume();
      }
      reached = await touched();
      await roles?.restartIngestAfterKill();
      await roles?.expectBooks(reached);
      // The chain begins at a later slot than its genesis, as if its node had lost the blocks before.
      await roles?.untilFilled(JUMP);
    }
  });

  it.runIf(canLose)('has the shapes that were recorded when it lost its older blocks', async () => {
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

  it.runIf(canLose && exchange !== null)('leaves the books whole then as well, and a gap that is named', async () => {
    await roles?.expectBooks(await touched());
    // As an outage or as lost blocks.
    await roles?.openGap(reached);
  });

  /** A recorded account changes. Returns a confirmed slot after it. A validator may stand still for good after a pause: it starts anew. */
  async function touched(): Promise<number> {
    const touching = traffic.touch(exchange?.maker ?? '', DRIFT).then(() => true);
    if (!(await Promise.race([touching, sleep(STALLED_MS, false)]))) {
      say('the validator confirms nothing: it is killed and starts again');
      await validator.restartWithoutVotes();
      await touching;
    }
    return ask<number>(validator.rpcUrl, 'getSlot', [CONFIRMED]);
  }
});
