import { describe, expect, it } from 'vitest';
import { checkedName } from '../../test/support/api/contracts.ts';
import { trade } from '../../test/support/api/stage.ts';
import { tradeJson } from './trade-body.ts';

describe('a fill on the trades channel', () => {
  it.each([
    [2n ** 53n - 1n, 9007199254740991],
    [2n ** 53n, 9007199254740992],
    [2n ** 53n + 1n, '9007199254740993'],
    [2n ** 64n - 1n, '18446744073709551615'],
  ])('has every digit of record id %s, as a number where that is exact', (fillRecordId, expected) => {
    const data = tradeJson(trade(fillRecordId), null);
    expect(JSON.parse(data)).toMatchObject({ fillRecordId: expected });
    expect(checkedName('feed', { channel: 'trades_perp_0', data })).toBe('trades');
  });
});
