import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIRST_SLOT, PROGRAM } from '../test/support/localnet/fake-exchange.ts';
import { ask, call, RawPubSub, startFake } from '../test/support/localnet/test-client.ts';
import { NODE_FLAGS } from '../test/support/platform/children.ts';
import { until } from '../test/support/platform/eventually.ts';
import type { RunningLocalnet } from './server.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'localnet-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The whole chain as a client reads it, byte for byte. */
async function visible(running: RunningLocalnet): Promise<unknown> {
  const url = running.rpcUrl;
  const config = { encoding: 'base64', withContext: true };
  const slots = await ask<number[]>(url, 'getBlocks', [FIRST_SLOT, { commitment: 'confirmed' }]);
  const version = { maxSupportedTransactionVersion: 0, commitment: 'confirmed' };
  return {
    genesis: await ask(url, 'getGenesisHash'),
    processed: await ask(url, 'getProgramAccounts', [PROGRAM, { ...config, commitment: 'processed' }]),
    finalized: await ask(url, 'getProgramAccounts', [PROGRAM, { ...config, commitment: 'finalized' }]),
    signatures: await ask(url, 'getSignaturesForAddress', [PROGRAM, { commitment: 'confirmed' }]),
    blocks: await Promise.all(slots.map((slot) => ask(url, 'getBlock', [slot, version]))),
    transactionCount: await ask(url, 'getTransactionCount'),
    counts: await ask(url, 'localnet_eventCounts'),
  };
}

describe('startLocalnet', () => {
  it('makes the same chain from the same options', async () => {
    const one = await startFake({ seed: 5 });
    const same = await startFake({ seed: 5 });
    const other = await startFake({ seed: 6 });
    await Promise.all([one, same, other].map((running) => running.step(40)));
    expect(await visible(one)).toEqual(await visible(same));
    expect(await ask(one.rpcUrl, 'getLatestBlockhash')).not.toEqual(await ask(other.rpcUrl, 'getLatestBlockhash'));
    expect(one.ledger.genesisHash).not.toBe(other.ledger.genesisHash);
    await Promise.all([one, same, other].map((running) => running.stop()));
  });

  it('continues its chain from the state file without a difference', async () => {
    const stateFile = join(folder, 'deep', 'state');
    const whole = await startFake();
    await whole.step(60);
    const first = await startFake({ stateFile });
    await first.step(45);
    const before = await visible(first);
    await first.stop();
    // Another genesis time in the options: the chain keeps its first one.
    const second = await startFake({ stateFile, genesisTime: 5 });
    expect(await visible(second)).toEqual(before);
    await second.step(15);
    expect(await visible(second)).toEqual(await visible(whole));
    await Promise.all([whole.stop(), second.stop()]);
    expect(existsSync(`${stateFile}.new`)).toBe(false);
  });

  it('publishes finalized accounts of blocks from before the restart', async () => {
    const stateFile = join(folder, 'state');
    const first = await startFake({ stateFile });
    await first.step(10);
    await first.stop();
    const second = await startFake({ stateFile });
    const pubsub = await RawPubSub.open(second.wsUrl);
    await pubsub.subscribe('program', PROGRAM, { encoding: 'base64' });
    await second.step(23);
    const slots = (await pubsub.settle()).map(
      ({ params }) => (params.result as { context: { slot: number } }).context.slot,
    );
    expect(slots).toEqual([FIRST_SLOT, FIRST_SLOT, FIRST_SLOT + 1]);
    pubsub.close();
    await second.stop();
  });

  it('replays to the last published slot after a kill', async () => {
    const stateFile = join(folder, 'state');
    const running = await startFake({ stateFile });
    await running.step(30);
    // A kill leaves the state saved at the start, and the tip written with every slot.
    const killed = join(folder, 'killed');
    for (const ending of ['', '.tip']) cpSync(`${stateFile}${ending}`, `${killed}${ending}`);
    const restarted = await startFake({ stateFile: killed });
    expect(restarted.ledger.tipSlot).toBe(running.ledger.tipSlot);
    expect(await visible(restarted)).toEqual(await visible(running));
    await Promise.all([running.stop(), restarted.stop()]);
  });

  it('rejects a state of other options, and a truncated one', async () => {
    const stateFile = join(folder, 'state');
    const running = await startFake({ stateFile, seed: 1 });
    await running.stop();
    await expect(startFake({ stateFile, seed: 2 })).rejects.toThrow('remove it or give the same options');
    truncateSync(stateFile, 600);
    await expect(startFake({ stateFile, seed: 1 })).rejects.toThrow('truncated');
  });

  it('fails when its port is taken, and leaves nothing open', async () => {
    const running = await startFake();
    const rpcPort = Number(new URL(running.rpcUrl).port);
    await expect(startFake({ rpcPort })).rejects.toThrow('EADDRINUSE');
    await running.stop();
    await running.stop();
    const again = await startFake({ rpcPort });
    await again.stop();
  });

  it('makes slots by itself, faster at a higher speed, and none while paused', async () => {
    const running = await startFake({ speed: 40 });
    await until(() => running.ledger.tipSlot > FIRST_SLOT + 3);
    await ask(running.rpcUrl, 'localnet_setSpeed', { speed: 4000 });
    await until(() => running.ledger.tipSlot > FIRST_SLOT + 100);
    expect(await ask(running.rpcUrl, 'localnet_pause')).toMatchObject({ paused: true });
    const slot = running.ledger.tipSlot;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(running.ledger.tipSlot).toBe(slot);
    expect(await ask(running.rpcUrl, 'localnet_step', { slots: 7 })).toEqual({ slot: slot + 7 });
    expect(await ask(running.rpcUrl, 'localnet_resume')).toMatchObject({ paused: false, speed: 4000 });
    await until(() => running.ledger.tipSlot > slot + 20);
    expect((await call(running.rpcUrl, 'localnet_step', { slots: 1 })).error?.code).toBe(-32000);
    await running.stop();
  });

  it('runs overlapping steps one after the other', async () => {
    const running = await startFake();
    expect(await Promise.all([running.step(5), running.step(3)])).toEqual([FIRST_SLOT + 5, FIRST_SLOT + 8]);
    await running.stop();
  });

  it('reports the truth and its own state', async () => {
    const running = await startFake();
    await running.step(4);
    expect(await ask(running.rpcUrl, 'localnet_eventCounts')).toEqual({ WriteRecord: 5 });
    const events = await ask<{ slot: number }[]>(running.rpcUrl, 'localnet_events', { from: 1, limit: 2 });
    expect(events.map(({ slot }) => slot)).toEqual([FIRST_SLOT + 1, FIRST_SLOT + 2]);
    expect(await ask(running.rpcUrl, 'localnet_restingOrders')).toEqual([]);
    expect(await ask(running.rpcUrl, 'localnet_markets')).toEqual([]);
    expect(await ask(running.rpcUrl, 'localnet_status')).toMatchObject({
      slot: FIRST_SLOT + 4,
      blockHeight: 5,
      paused: true,
      speed: 0,
      connections: 0,
      transactionCount: 10,
    });
    expect((await call(running.rpcUrl, 'localnet_setSpeed', { speed: -1 })).error?.code).toBe(-32602);
    await running.stop();
  });
});

describe('the process', () => {
  it('prints its addresses, continues after SIGKILL, and ends on SIGTERM', async () => {
    const stateFile = join(folder, 'state');
    const first = await startProcess(stateFile);
    await until(async () => (await ask<number>(first.rpcUrl, 'getSlot', [{ commitment: 'processed' }])) > 0);
    await ask(first.rpcUrl, 'localnet_pause');
    const genesis = await ask(first.rpcUrl, 'getGenesisHash');
    await ask(first.rpcUrl, 'localnet_step', { slots: 5 });
    const slot = await ask<number>(first.rpcUrl, 'getSlot', [{ commitment: 'processed' }]);
    first.child.kill('SIGKILL');
    const second = await startProcess(stateFile);
    expect(await ask(second.rpcUrl, 'getGenesisHash')).toBe(genesis);
    expect(await ask<number>(second.rpcUrl, 'getSlot', [{ commitment: 'processed' }])).toBeGreaterThanOrEqual(slot);
    const ended = new Promise((resolve) => second.child.once('exit', (code) => resolve(code)));
    second.child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});

async function startProcess(stateFile: string): Promise<{ child: ChildProcess; rpcUrl: string }> {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const sizes = ['--accounts', '40', '--orders-per-market', '20'];
  const args = [...NODE_FLAGS, main, '--rpc-port', '0', '--ws-port', '0', '--state-file', stateFile, ...sizes];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, rpcUrl: (JSON.parse(line) as { rpcUrl: string }).rpcUrl };
  }
  throw new Error('the process ended without output');
}
