import bs58 from 'bs58';
import { beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../platform/index.ts';
import type { AccountUpdate } from '../source.ts';
import { KeyCache } from './notifications.ts';
import { OtherOracles } from './other-oracles.ts';

const [MARKET, OWN, FIRST, SECOND, PROGRAM] = [1, 2, 3, 4, 5].map((fill) => new Uint8Array(32).fill(fill)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

function account(pubkey: Uint8Array, data: Uint8Array = Buffer.alloc(0)): AccountUpdate {
  return { kind: 'account', slot: 1, writeVersion: null, pubkey, owner: PROGRAM, data };
}
/** A market whose bytes are its oracle keys. */
const market = (...oracles: readonly Uint8Array[]) => account(MARKET, Buffer.concat(oracles));

/** A node whose accounts contain its slot. */
class Node {
  slot = 10;
  isDown = false;
  reads: string[][] = [];
  readonly subscribed: string[] = [];
  readonly notified = new Map<string, (result: unknown) => void>();

  async subscribe(method: string, [key]: readonly unknown[], notified: (result: unknown) => void): Promise<void> {
    if (this.isDown) throw new Error('down');
    this.subscribed.push(`${method} ${key}`);
    this.notified.set(String(key), notified);
  }

  async accounts(keys: readonly string[]) {
    if (this.isDown) throw new Error('down');
    this.reads.push([...keys]);
    const owner = bs58.encode(PROGRAM);
    return { slot: this.slot, accounts: keys.map((pubkey) => ({ pubkey, owner, data: Buffer.from([this.slot]) })) };
  }
}

describe('oracles of other programs', () => {
  let node: Node;
  let delivered: string[];
  let oracles: OtherOracles;
  const text = ({ pubkey, slot, data }: AccountUpdate) => `${pubkey[0]} ${slot} ${data[0]}`;
  beforeEach(() => {
    node = new Node();
    delivered = [];
    oracles = new OtherOracles(
      {
        rpc: node,
        logger: silentLogger(),
        accountCommitment: 'confirmed',
        keys: new KeyCache(),
        oraclesOf: (markets) =>
          markets.flatMap(({ data }) =>
            [...Array(data.length / 32).keys()].map((at) => data.subarray(at * 32, at * 32 + 32)),
          ),
      },
      node,
      { notified: (update) => delivered.push(text(update)), read: (update) => delivered.push(text(update)) },
    );
  });

  it('are subscribed to and read at the start; oracles of the exchange come with their program', async () => {
    expect((await oracles.begin([market(OWN, FIRST), account(OWN)])).map(text)).toEqual(['3 10 10']);
    expect(node.subscribed).toEqual([`accountSubscribe ${bs58.encode(FIRST)}`]);
    const value = { data: ['Bw==', 'base64'], owner: bs58.encode(PROGRAM) };
    node.notified.get(bs58.encode(FIRST))?.({ context: { slot: 12 }, value });
    expect(delivered).toEqual(['3 12 7']);
  });

  it('are read at each refresh, so that a silent subscription does no lasting harm', async () => {
    await oracles.begin([market(FIRST)]);
    for (node.slot of [20, 30]) await oracles.refresh();
    expect(delivered).toEqual(['3 20 20', '3 30 30']);
    expect(node.subscribed.length).toBe(1);
  });

  it('are not requested when no market has one', async () => {
    await oracles.begin([market(OWN), account(OWN)]);
    oracles.market(market(OWN));
    await oracles.refresh();
    expect([node.subscribed, node.reads, delivered]).toEqual([[], [], []]);
  });

  it('named by a market later are followed from the next refresh on, even when the node is down at first', async () => {
    await oracles.begin([market(FIRST)]);
    for (let times = 0; times < 3; times++) oracles.market(market(SECOND));
    node.isDown = true;
    await oracles.refresh();
    node.isDown = false;
    await oracles.refresh();
    await oracles.refresh();
    expect(node.subscribed).toEqual([FIRST, SECOND].map((key) => `accountSubscribe ${bs58.encode(key)}`));
    expect(delivered).toEqual(['3 10 10', '4 10 10', '3 10 10', '4 10 10']);
  });

  it('are requested in calls of at most 100', async () => {
    const many = Array.from({ length: 150 }, (_, at) => new Uint8Array(32).fill(at + 50));
    expect(await oracles.begin([market(...many)])).toHaveLength(150);
    expect(node.reads.map(({ length }) => length)).toEqual([100, 50]);
  });
});
