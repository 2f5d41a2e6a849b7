import { describe, expect, it } from 'vitest';
import { keyText } from '../schemas/index.ts';
import { key, USER, update, userBytes } from '../test/support/ingest/accounts.ts';
import { AccountStore } from './account-store.ts';
import { StoredAccount } from './stored-account.ts';

const state = (n: number, slot: number) =>
  update(key(n), USER.owner, userBytes({ user: n, orders: [], positions: [] }), slot);

describe('stored accounts', () => {
  it('are packed when they appear, and when so many others have changed since', () => {
    const store = new AccountStore(2);
    const set = (n: number, slot: number, isActive: boolean) => {
      const { data } = state(n, slot);
      const account = new StoredAccount({ ...state(n, slot), data }, 'user');
      store.set(account, isActive);
      // Packed data are made anew at each access.
      return () => account.data === data;
    };
    const appeared = set(1, 1, false);
    expect(appeared()).toBe(false);
    const changes = [2, 3, 4].map((n) => set(n, 2, true));
    expect(changes.map((isPlain) => isPlain())).toEqual([false, true, true]);
    expect(store.get(keyText(key(2)))?.data).toEqual(state(2, 2).data);
  });

  it('count the open ones', () => {
    const store = new AccountStore();
    for (const n of [1, 2, 2]) store.set(new StoredAccount(state(n, 1), 'user'), false);
    expect(store.open).toBe(2);
    store.set(new StoredAccount({ ...state(1, 2), data: new Uint8Array(0) }, 'user'), false);
    expect(store.open).toBe(1);
    store.clear();
    expect([store.open, store.isEmpty]).toEqual([0, true]);
  });
});
