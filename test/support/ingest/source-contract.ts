// The contract of every source over a node, whichever way its live updates come: run against the RPC and the gRPC source.

import { describe, expect, it, type TestContext } from 'vitest';
import type { RpcSourceOptions } from '../../../ingest/rpc.ts';
import type { ResumePoint, Source } from '../../../ingest/source.ts';
import { type LocalnetOptions, type RunningLocalnet, startLocalnet } from '../../../localnet/index.ts';
import { stepInTurns } from '../localnet/step-in-turns.ts';
import { ask } from '../localnet/test-client.ts';
import { SourceReading } from './source-reading.ts';

export type ContractOptions = Partial<Pick<RpcSourceOptions, 'silenceMs' | 'auditMs' | 'queueMax'>>;
export type MakeSource = (net: RunningLocalnet, options: ContractOptions) => Source;

const ALL = 1_000_000;
const QUEUE_MAX = 500;
/** Far shorter than the product's interval: a resume point follows an audit. */
const AUDIT_MS = 250;
/** Longer than a busy machine takes to deliver what the node has sent. */
const STOPPED_SILENCE_MS = 3_000;

interface Landed {
  readonly signature: string;
  readonly slot: number;
}

/** Signatures of the transactions with events that a reader of the chain at `confirmed` must have. */
async function truth(net: RunningLocalnet): Promise<Set<string>> {
  const params = { from: 0, limit: ALL, commitment: 'confirmed' };
  const events = await ask<{ signature: string }[]>(net.rpcUrl, 'localnet_events', params);
  return new Set(events.map(({ signature }) => signature));
}

/** Opens a cluster and reads it, for one test: both stop at its end. */
function stageOf({ onTestFinished }: Pick<TestContext, 'onTestFinished'>, make: MakeSource) {
  return {
    open: async (options: LocalnetOptions = {}): Promise<RunningLocalnet> => {
      const small = { seed: 5, accounts: 12, ordersPerMarket: 6, activity: 0.5, keepEvents: true };
      const net = await startLocalnet({ rpcPort: 0, wsPort: 0, grpcPort: 0, speed: 0, ...small, ...options });
      onTestFinished(() => net.stop());
      return net;
    },
    read: (
      net: RunningLocalnet,
      options: ContractOptions = {},
      resume: ResumePoint | null = null,
      taken?: (updates: number) => Promise<void>,
    ): SourceReading => {
      const source = make(net, { silenceMs: 60_000, auditMs: AUDIT_MS, ...options });
      const reading = new SourceReading(source, resume, taken);
      onTestFinished(() => reading.stop());
      return reading;
    },
  };
}

export function describeSource(name: string, make: MakeSource): void {
  // Most tests wait for pauses, audits and silence, each with a cluster of its own.
  describe.concurrent(`${name} source`, () => {
    const started = async (source: SourceReading) => {
      await source.until('progress', () => source.of('progress').length > 0);
      await source.until('accounts', () => source.of('snapshotEnd').length > 0);
    };
    const expectEachOnce = async (running: RunningLocalnet, source: SourceReading) => {
      await running.settle('confirmed');
      const wanted = await truth(running);
      const delivered = () => source.of('transaction').map(({ signature }) => signature);
      await source.until('all transactions', () => {
        const has = new Set(delivered());
        return [...wanted].every((signature) => has.has(signature));
      });
      expect(delivered().length).toBe(new Set(delivered()).size);
      // A transaction of a lost fork may land again, with other events or with none: its signature alone proves nothing.
      const landed = ({ signature, slot }: Landed) => `${signature} ${slot}`;
      const lost = await ask<Landed[]>(running.rpcUrl, 'localnet_abandonedEvents');
      const phantoms = new Set(lost.filter(({ signature }) => !wanted.has(signature)).map(landed));
      expect(
        source
          .of('transaction')
          .map(landed)
          .filter((one) => phantoms.has(one)),
      ).toEqual([]);
    };

    it.for(['calm', 'mainnet'] as const)(
      'delivers each transaction once: past, live, or missed without a connection (%s)',
      async (profile, context) => {
        const { open, read } = stageOf(context, make);
        const running = await open({ profile });
        await stepInTurns(running, 30);
        const source = read(running);
        await started(source);
        await stepInTurns(running, 20);
        await ask(running.rpcUrl, 'localnet_dropConnections');
        await stepInTurns(running, 20);
        await source.until('the end of the outage', () => {
          const starts = [...source.of('snapshotEnd'), ...source.of('continued')];
          return source.of('reconnect').length > 0 && starts.length >= 2;
        });
        await stepInTurns(running, 20);
        await expectEachOnce(running, source);
        const gaps = source.of('gap').filter(({ isLasting }) => !isLasting);
        const filled = gaps.filter((gap) => gap.filled);
        for (const { fromSlot, toSlot } of gaps) {
          expect(filled.some((gap) => gap.fromSlot <= fromSlot && gap.toSlot >= toSlot)).toBe(true);
        }
      },
    );

    it('delivers each transaction once under every fault of a node', async (context) => {
      const { open, read } = stageOf(context, make);
      const running = await open({ profile: 'hostile' });
      await stepInTurns(running, 20);
      const source = read(running, { auditMs: 1_000, silenceMs: 3_000 });
      await started(source);
      await stepInTurns(running, 100);
      await running.settle('confirmed');
      running.faults.clear();
      await expectEachOnce(running, source);
    });

    it('labels slots in their order, the newest too, and ends with the orders of the chain', async (context) => {
      const { open, read } = stageOf(context, make);
      const running = await open();
      await stepInTurns(running, 10);
      const source = read(running);
      await started(source);
      await stepInTurns(running, 30);
      await source.until('the last slot', () => source.of('slot').at(-1)?.slot === running.ledger.tipSlot);
      const slots = source.of('slot').map(({ slot }) => slot);
      expect(slots).toEqual([...new Set(slots)].sort((a, b) => a - b));
      expect(source.orders().length).toBe(running.exchange.restingOrders().length);
    });

    it('has no account state of a slot after the label of that slot', async (context) => {
      const { open, read } = stageOf(context, make);
      const running = await open({ profile: 'mainnet' });
      const source = read(running);
      await started(source);
      await stepInTurns(running, 60);
      await source.until('labels', () => source.of('slot').length > 30);
      let label = -1;
      const late: number[] = [];
      const live = source.updates.slice(source.updates.findIndex(({ kind }) => kind === 'snapshotEnd'));
      for (const update of live) {
        if (update.kind === 'slot') label = update.slot;
        else if (update.kind === 'account' && update.slot <= label) late.push(update.slot);
      }
      expect(late).toEqual([]);
    });

    it('connects again when the server falls silent while the chain continues', async (context) => {
      const { open, read } = stageOf(context, make);
      const running = await open();
      const source = read(running, { auditMs: 1_000, silenceMs: 3_000 });
      await started(source);
      const labels = source.of('slot').length;
      await stepInTurns(running, 3);
      await source.until('a slot', () => source.of('slot').length > labels);
      await ask(running.rpcUrl, 'localnet_silence', { ms: 60_000 });
      await stepInTurns(running, 20);
      await source.until('a lost connection', () => source.of('reconnect').length > 0);
      await ask(running.rpcUrl, 'localnet_silence', { ms: 0 });
      await expectEachOnce(running, source);
    });

    it('stays connected when the chain itself stops', async (context) => {
      const { open, read } = stageOf(context, make);
      const running = await open();
      await stepInTurns(running, 5);
      const source = read(running, { silenceMs: STOPPED_SILENCE_MS });
      await started(source);
      await stepInTurns(running, 3);
      await source.until('the last slot', () => source.of('slot').at(-1)?.slot === running.ledger.tipSlot);
      // A busy machine may be silent for longer before the chain stops.
      const before = source.of('reconnect').length;
      await new Promise((resolve) => setTimeout(resolve, 2 * STOPPED_SILENCE_MS));
      expect(source.of('reconnect').length).toBe(before);
    });

    it('begins a margin before the resume point', async (context) => {
      const { open, read } = stageOf(context, make);
      const running = await open();
      await stepInTurns(running, 80);
      const first = read(running);
      await started(first);
      await first.stop();
      const resume = first.of('progress').at(-1)?.resume ?? null;
      await stepInTurns(running, 10);
      const second = read(running, {}, resume);
      await started(second);
      const from = (resume?.slot ?? 0) - 64;
      expect(second.of('transaction').every(({ slot }) => slot >= from)).toBe(true);
      const later = running.exchange.events(0, ALL).filter(({ slot }) => slot > (resume?.slot ?? 0));
      const has = () => new Set(second.eventIds());
      await second.until('later events', () =>
        later.every(({ signature, index }) => has().has(`${signature} ${index}`)),
      );
    });

    it('starts over on another chain', async (context) => {
      const { open, read } = stageOf(context, make);
      const running = await open();
      await stepInTurns(running, 10);
      const source = read(running, {}, { slot: 1e9, signatures: {}, chain: 'another' });
      await started(source);
      await expectEachOnce(running, source);
    });

    it('bounds its memory while nobody takes its updates, and loses none', async (context) => {
      const { open, read } = stageOf(context, make);
      const running = await open({ activity: 1, accounts: 16, ordersPerMarket: 8 });
      let release: () => void = () => {};
      let held: Promise<void> | null = null;
      let isReleased = false;
      let largest = 0;
      const source = read(running, { queueMax: QUEUE_MAX }, null, async (batch) => {
        if (held !== null || isReleased) largest = Math.max(largest, batch);
        await held;
      });
      await started(source);
      held = new Promise((resolve) => {
        release = resolve;
      });
      try {
        await stepInTurns(running, 60);
      } finally {
        isReleased = true;
        held = null;
        release();
      }
      await expectEachOnce(running, source);
      expect(largest).toBeLessThan(2 * QUEUE_MAX);
    });
  });
}
