import bs58 from 'bs58';
import { beforeEach, describe, expect, it } from 'vitest';
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
/** A market whose bytes are the keys that it names. */
const market = (...oracles: readonly Uint8Array[]) => account(MARKET, Buffer.concat(oracles));

/** A node whose accounts hold its slot. */
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

  async getMultipleAccountsInfoAndContext(keys: readonly { toBase58(): string }[]) {
    if (this.isDown) throw new Error('down');
    this.reads.push(keys.map((key) => key.toBase58()));
    const owner = { toBytes: () => PROGRAM };
    const value = keys.map(() => ({ data: Buffer.from([this.slot]), owner, executable: false, lamports: 1 }));
    return { context: { slot: this.slot }, value };
  }
}

describe('oracles of other programs', () => {
  let node: Node;
  let told: string[];
  let oracles: OtherOracles;
  const text = ({ pubkey, slot, data }: AccountUpdate) => `${pubkey[0]} ${slot} ${data[0]}`;
  beforeEach(() => {
    node = new Node();
    told = [];
    oracles = new OtherOracles(
      {
        connection: node as never,
        accountCommitment: 'confirmed',
        keys: new KeyCache(),
        oraclesOf: (markets) =>
          markets.flatMap(({ data }) =>
            [...Array(data.length / 32).keys()].map((at) => data.subarray(at * 32, at * 32 + 32)),
          ),
      },
      node,
      (update) => told.push(text(update)),
    );
  });

  it('are followed and read at first; those of the exchange are told with their program', async () => {
    expect((await oracles.begin([market(OWN, FIRST), account(OWN)])).map(text)).toEqual(['3 10 10']);
    expect(node.subscribed).toEqual([`accountSubscribe ${bs58.encode(FIRST)}`]);
    const value = { data: ['Bw==', 'base64'], owner: bs58.encode(PROGRAM) };
    node.notified.get(bs58.encode(FIRST))?.({ context: { slot: 12 }, value });
    expect(told).toEqual(['3 12 7']);
  });

  it('are read anew at each refresh, so that a subscription that fell silent is no lasting harm', async () => {
    await oracles.begin([market(FIRST)]);
    for (node.slot of [20, 30]) await oracles.refresh();
    expect(told).toEqual(['3 20 20', '3 30 30']);
    expect(node.subscribed.length).toBe(1);
  });

  it('are not asked for where no market has one', async () => {
    await oracles.begin([market(OWN), account(OWN)]);
    oracles.market(market(OWN));
    await oracles.refresh();
    expect([node.subscribed, node.reads, told]).toEqual([[], [], []]);
  });

  it('that a market names only later are followed from the next refresh on, also when the node is away at first', async () => {
    await oracles.begin([market(FIRST)]);
    for (let times = 0; times < 3; times++) oracles.market(market(SECOND));
    node.isDown = true;
    await expect(oracles.refresh()).rejects.toThrow('down');
    node.isDown = false;
    await oracles.refresh();
    await oracles.refresh();
    expect(node.subscribed).toEqual([FIRST, SECOND].map((key) => `accountSubscribe ${bs58.encode(key)}`));
    expect(told).toEqual(['3 10 10', '4 10 10', '3 10 10', '4 10 10']);
  });

  it('are asked for in calls of at most 100', async () => {
    const many = Array.from({ length: 150 }, (_, at) => new Uint8Array(32).fill(at + 50));
    expect(await oracles.begin([market(...many)])).toHaveLength(150);
    expect(node.reads.map(({ length }) => length)).toEqual([99, 51]);
  });
});
