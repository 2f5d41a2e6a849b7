// Garbage on every input: no process stops, each piece is counted and parked, the books stay right.

import { beforeAll, describe, expect, it } from 'vitest';
import { openEventLog, readConfig, silentLogger } from '../../../../platform/index.ts';
import { type DeadLetter, decodeMessage, loadDefinition, TOPICS } from '../../../../schemas/index.ts';
import { eventually } from '../../../support/processes/processes.ts';
import { FeedClient } from '../keeper/feed-client.ts';
import type { Pipeline } from '../processes/pipeline.ts';
import { expectBooksEqualNaiveRebuild, expectHistoryEqualsTruth } from './checks.ts';

/** Table of the unknown record that this suite sends, which is a row that the exchange did not emit. */
export const UNKNOWN_ROWS = 'unknown';
const USER_DISCRIMINATOR = Buffer.from('9f755fe3ef973aec', 'hex');
const ORDER_RECORD_DISCRIMINATOR = Buffer.from('681340385915025a', 'hex');

/** Leaves the chain running. */
export function describeBadInput(running: () => Pipeline): void {
  describe('bad input', () => badInputTests(running));
}

function badInputTests(running: () => Pipeline): void {
  let pipeline: Pipeline;
  let programId: string;
  beforeAll(() => {
    programId = loadDefinition('velocity').programs[0]?.programId ?? '';
    pipeline = running();
  });

  const parked = async (): Promise<DeadLetter[]> => {
    const log = await openEventLog(readConfig({ SLOTBOOK_DATA_DIR: pipeline.dataDir }), silentLogger());
    try {
      const records = await log.read(TOPICS.deadLetters, 0, 0n, 10_000);
      return records.map(({ value }) => decodeMessage(value).value as DeadLetter);
    } finally {
      await log.close();
    }
  };
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(pipeline.running.get('ingest')?.endpoints.metrics ?? '')).text();
    const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'gm'))];
    return values.reduce((sum, [, value]) => sum + Number(value), 0);
  };
  const injectAccount = (pubkey: string, data: Buffer) =>
    pipeline.cluster.rpc('localnet_injectAccount', [
      { pubkey, owner: programId, lamports: 1, data: data.toString('base64') },
    ]);

  it('parks accounts of wrong length and of unknown kind', async () => {
    await injectAccount(
      'Vote111111111111111111111111111111111111111',
      Buffer.concat([USER_DISCRIMINATOR, Buffer.alloc(90, 7)]),
    );
    await injectAccount('Stake11111111111111111111111111111111111111', Buffer.alloc(300, 0xee));
    const letters = await eventually('short account parked', async () => {
      const all = await parked();
      return all.some(({ origin }) => origin.includes('Vote1111')) ? all : undefined;
    });
    expect(letters.find(({ origin }) => origin.includes('Vote1111'))?.bytes.length).toBeGreaterThan(0);
  });

  it('fills a log that was cut short from the transaction itself', async () => {
    await pipeline.cluster.rpc('localnet_truncateLogs', { transactions: 5 });
    await eventually('cut logs noticed', async () => (await metric('slotbook_ingest_gaps_total')) >= 5);
    const stored = await expectHistoryEqualsTruth(pipeline).finally(() => pipeline.cluster.rpc('localnet_resume'));
    expect(stored).toBeGreaterThan(100);
  });

  it('parks event bodies that end inside a field and keeps unknown records raw', async () => {
    const line = (bytes: Buffer) => `Program data: ${bytes.toString('base64')}`;
    await pipeline.cluster.rpc('localnet_injectTransaction', [
      {
        logMessages: [
          `Program ${programId} invoke [1]`,
          line(Buffer.concat([ORDER_RECORD_DISCRIMINATOR, Buffer.alloc(5, 1)])),
          line(Buffer.from('0123456789abcdef0011', 'hex')),
          'Program log: %%% not base64 %%%',
          'Program data: ====',
          `Program ${programId} success`,
        ],
        accountKeys: [programId],
      },
    ]);
    await eventually('cut event parked', async () =>
      (await parked()).some(({ bytes }) => Buffer.from(bytes).includes(ORDER_RECORD_DISCRIMINATOR)),
    );
  });

  it('ignores garbage from feed clients and keeps serving others', async () => {
    const rude = await FeedClient.connect(pipeline.url('gateway'));
    for (const frame of [
      '',
      '{',
      'null',
      '[]',
      '42',
      '"x"',
      '{"type":5}',
      '{"type":"subscribe"',
      '\u0000'.repeat(1000),
    ])
      rude.send(frame);
    const polite = await FeedClient.connect(pipeline.url('gateway'));
    polite.send({ type: 'subscribe', channel: 'orderbook', market: 'sol-perp', marketType: 'PERP' });
    await polite.waitFor('a book', ({ channel }) => channel === 'orderbook_perp_0_grouped_1');
    expect(rude.closed).toBeUndefined();
    rude.send({ type: 'subscribe', channel: 'candles', market: 'SOL-PERP', marketType: 'perp' });
    await eventually('closed with 1003', () => rude.closed?.code === 1003);
    polite.close();
  });

  it('survives dropped and silent connections to the cluster', async () => {
    await pipeline.cluster.rpc('localnet_dropConnections');
    await pipeline.cluster.rpc('localnet_silence', { ms: 4_000 });
    await eventually('slots go on', async () => {
      const slot = await pipeline.cluster.rpc<number>('getSlot', [{ commitment: 'confirmed' }]);
      const book = (await (await fetch(`${pipeline.url('orderbook')}/l2?marketName=SOL-PERP`)).json()) as {
        slot: number;
      };
      return slot - book.slot <= 5;
    });
    // Before any process is killed: a new one would read what garbage had spoilt again.
    await expectHistoryEqualsTruth(pipeline, UNKNOWN_ROWS);
    await expectBooksEqualNaiveRebuild(pipeline);
    await pipeline.cluster.rpc('localnet_resume');
  });
}
