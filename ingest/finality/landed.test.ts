import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../platform/index.ts';
import type { TransactionPlace } from '../source.ts';
import { LandedAgain } from './landed.ts';

/** A finalized chain with some transactions, and the places written; `isLost` names what no node returns. */
function landedAgain(isLost: (signature: string) => boolean = () => false) {
  const chain = new Map<string, number>();
  const written: TransactionPlace[] = [];
  const unchecked: number[] = [];
  const asked: string[][] = [];
  const landed = new LandedAgain({
    reader: {
      lacking: async () => [],
      landed: async (signatures) => {
        asked.push([...signatures]);
        return signatures.flatMap((signature) => {
          const slot = chain.get(signature);
          return slot === undefined ? [] : [{ signature, slot }];
        });
      },
    },
    write: async (places) => {
      written.push(...places.filter(({ signature }) => !isLost(signature)));
      return places.filter(({ signature }) => isLost(signature));
    },
    unchecked: (transactions) => void unchecked.push(transactions),
    logger: silentLogger(),
  });
  return { landed, chain, written, unchecked, asked };
}

describe('a transaction of a dropped slot', () => {
  it('is written once with its new slot when it lands again, now or later', async () => {
    const { landed, chain, written, asked } = landedAgain();
    landed.dropped(100, ['a', 'b', 'c']);
    chain.set('a', 103);
    await landed.round(150);
    await landed.round(160);
    chain.set('b', 165);
    await landed.round(200);
    expect(written).toEqual([
      { signature: 'a', slot: 103 },
      { signature: 'b', slot: 165 },
    ]);
    expect(asked).toEqual([
      ['a', 'b', 'c'],
      ['b', 'c'],
      ['b', 'c'],
    ]);
  });

  it('is forgotten when it has expired', async () => {
    const { landed, asked, unchecked } = landedAgain();
    landed.dropped(100, ['a']);
    await landed.round(400);
    await landed.round(401);
    await landed.round(402);
    expect(asked).toEqual([['a'], ['a']]);
    expect(unchecked).toEqual([]);
  });

  it('that a node still shows in its dropped slot is no news', async () => {
    const { landed, chain, written } = landedAgain();
    landed.dropped(100, ['a']);
    chain.set('a', 100);
    await landed.round(150);
    expect(written).toEqual([]);
  });

  it('is asked for again while no node returns it, and counted at last', async () => {
    const { landed, chain, written, asked, unchecked } = landedAgain(() => true);
    landed.dropped(100, ['a']);
    chain.set('a', 103);
    await landed.round(150);
    await landed.round(401);
    await landed.round(500);
    expect(asked).toEqual([['a'], ['a']]);
    expect([written, unchecked]).toEqual([[], [1]]);
  });
});
