import { describe, expect, it } from 'vitest';
import { Ledger, type LedgerOptions } from './ledger.ts';
import type { LedgerAccount, LedgerTransaction } from './ledger-types.ts';

const OWNER = 'owner';

function ledger(options: Partial<LedgerOptions> = {}): Ledger {
  return new Ledger({ genesisHash: 'genesis', genesisSlot: 99, genesisTime: 1000, ...options });
}

function account(pubkey: string, byte: number, owner = OWNER): LedgerAccount {
  return { pubkey, owner, lamports: 5, data: Buffer.from(byte < 0 ? [] : [byte]) };
}

function transaction(signature: string, keys: string[], writes: LedgerAccount[] = []): LedgerTransaction {
  return { signature, err: null, logMessages: ['line'], accountKeys: keys, writes };
}

function fill(target: Ledger, from: number, to: number, perBlock: (slot: number) => LedgerTransaction[]): void {
  for (let slot = from; slot <= to; slot++)
    target.append({ slot, blockTime: 1000 + slot, transactions: perBlock(slot) });
}

describe('Ledger', () => {
  it('shows each commitment level the accounts of its own slot', () => {
    const chain = ledger({ lags: { processed: 0, confirmed: 2, finalized: 5 } });
    chain.begin([account('a', 0)]);
    fill(chain, 100, 110, (slot) => [transaction(`s${slot}`, ['a'], [account('a', slot)])]);
    expect(chain.slotAt('processed')).toBe(110);
    expect(chain.slotAt('confirmed')).toBe(108);
    expect(chain.slotAt('finalized')).toBe(105);
    expect(chain.account('a', 'processed')?.data[0]).toBe(110);
    expect(chain.account('a', 'confirmed')?.data[0]).toBe(108);
    expect(chain.account('a', 'finalized')?.data[0]).toBe(105);
    expect(chain.accounts.versions()).toHaveLength(6);
  });

  it('reads the genesis where a level has not reached a block', () => {
    const chain = ledger();
    chain.begin([account('a', 1)]);
    fill(chain, 100, 101, () => [transaction('s', ['a'], [account('a', 2)])]);
    expect(chain.slotAt('finalized')).toBe(99);
    expect(chain.account('a', 'finalized')?.data[0]).toBe(1);
    expect(chain.blockhashAt('finalized')).toBe('genesis');
    expect(chain.heightAt('processed')).toBe(2);
  });

  it('keeps the last of several writes in a slot and orders them by write version', () => {
    const chain = ledger();
    const stored = chain.append({
      slot: 100,
      blockTime: 1,
      transactions: [
        transaction('s1', ['a'], [account('a', 1), account('a', 2)]),
        transaction('s2', ['a'], [account('a', 3)]),
      ],
    });
    expect(chain.account('a', 'processed')?.data[0]).toBe(3);
    const versions = stored.transactions.flatMap(({ writes }) => writes.map((write) => write.writeVersion));
    expect(versions).toEqual([...versions].sort((x, y) => x - y));
    expect(new Set(versions).size).toBe(3);
  });

  it('hides a closed account at once and drops it once all levels have closed it', () => {
    const chain = ledger({ lags: { processed: 0, confirmed: 0, finalized: 2 } });
    chain.begin([account('a', 1), account('b', 1)]);
    fill(chain, 100, 100, () => [transaction('s', ['a'], [account('a', -1)])]);
    expect(chain.account('a', 'processed')).toBeNull();
    expect(chain.account('a', 'finalized')?.data[0]).toBe(1);
    expect(chain.accounts.ownedAt(OWNER, 100).map(({ pubkey }) => pubkey)).toEqual(['b']);
    expect(chain.accounts.ownedAt(OWNER, 99)).toHaveLength(2);
    fill(chain, 101, 102, () => []);
    expect(chain.accounts.size).toBe(1);
  });

  it('lists an account under the owner it had at the slot', () => {
    const chain = ledger({ lags: { processed: 0, confirmed: 0, finalized: 3 } });
    chain.begin([account('a', 1)]);
    fill(chain, 100, 100, () => [transaction('s', ['a'], [account('a', 2, 'new owner')])]);
    expect(chain.accounts.ownedAt(OWNER, 100)).toHaveLength(0);
    expect(chain.accounts.ownedAt(OWNER, 99)).toHaveLength(1);
    expect(chain.accounts.ownedAt('new owner', 100)).toHaveLength(1);
    fill(chain, 101, 104, () => []);
    expect(chain.accounts.ownedAt('new owner', 104)).toHaveLength(1);
  });

  it('pages signatures of an address newest first, between until and before', () => {
    const chain = ledger();
    fill(chain, 100, 109, (slot) => [
      transaction(`a${slot}`, ['x', 'y']),
      transaction(`b${slot}`, slot % 2 === 0 ? ['x'] : ['y']),
    ]);
    const page = (before: string | null, until: string | null, limit = 100, highestSlot = 109): string[] =>
      chain.history.mentioning('x', { before, until, limit, highestSlot }).map(({ signature }) => signature);
    expect(page(null, null, 3)).toEqual(['a109', 'b108', 'a108']);
    expect(page('a108', null, 2)).toEqual(['a107', 'b106']);
    expect(page(null, 'a107')).toEqual(['a109', 'b108', 'a108']);
    expect(page('a109', 'b106')).toEqual(['b108', 'a108', 'a107']);
    expect(page('b107', null, 1)).toEqual(['a107']);
    expect(page(null, null, 1, 105)).toEqual(['a105']);
    expect(page('unknown', null)).toEqual([]);
    expect(page(null, 'unknown')).toHaveLength(15);
  });

  it('drops the oldest blocks with their transactions and index entries', () => {
    const chain = ledger({ retainedBlocks: 1 });
    fill(chain, 100, 399, (slot) => [transaction(`s${slot}`, ['x', `only ${slot}`])]);
    // Blockhashes stay valid for 150 blocks, so the ledger keeps at least that many.
    expect(chain.history.blockCount).toBe(152);
    expect(chain.history.transactionCount).toBe(152);
    expect(chain.history.transaction('s100')).toBeNull();
    expect(chain.history.mentioning('only 100', { before: null, until: null, limit: 1, highestSlot: 999 })).toEqual([]);
    expect(chain.history.mentioning('x', { before: null, until: null, limit: 1000, highestSlot: 999 })).toHaveLength(
      152,
    );
    expect(chain.history.oldest()?.slot).toBe(248);
  });

  it('drops blocks above the byte bound', () => {
    const chain = ledger({ retainedBytes: 1 });
    fill(chain, 100, 399, (slot) => [transaction(`s${slot}`, ['x'])]);
    expect(chain.history.blockCount).toBe(152);
  });

  it('drops account states that every level has published', () => {
    const chain = ledger({ lags: { processed: 0, confirmed: 0, finalized: 2 } });
    fill(chain, 100, 110, (slot) => [transaction(`s${slot}`, ['a'], [account('a', slot)])]);
    expect(chain.history.transaction('s107')?.writes).toHaveLength(0);
    expect(chain.history.transaction('s108')?.writes).toHaveLength(1);
  });

  it('knows blockhashes for 150 blocks and chains them', () => {
    const chain = ledger();
    fill(chain, 100, 300, (slot) => [transaction(`s${slot}`, ['x'])]);
    const blocks = [...chain.history.range(0, 300)];
    expect(new Set(blocks.map(({ blockhash }) => blockhash)).size).toBe(blocks.length);
    expect(chain.history.block(201)?.previousBlockhash).toBe(chain.history.block(200)?.blockhash);
    expect(chain.isBlockhashValid(chain.history.block(150)?.blockhash ?? '', 'processed')).toBe(true);
    expect(chain.isBlockhashValid(chain.history.block(149)?.blockhash ?? '', 'processed')).toBe(false);
  });

  it('rejects a slot that does not come after the newest', () => {
    const chain = ledger();
    fill(chain, 100, 100, () => []);
    expect(() => fill(chain, 100, 100, () => [])).toThrow('does not come after');
  });
});
