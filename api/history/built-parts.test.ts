import { describe, expect, it } from 'vitest';
import { HistoryError } from '../http/errors.ts';
import { BuiltParts } from './built-parts.ts';
import type { HistoryStore } from './store.ts';

/** A store that answers only which parts are built, and counts its queries. */
function fakeStore() {
  const state = { names: [] as string[], queries: 0, away: false };
  const rows = async () => {
    state.queries++;
    if (state.away) throw new HistoryError('storeAway');
    return state.names.map((name) => ({ name }));
  };
  return { state, store: { rows } as unknown as HistoryStore };
}

describe('built parts', () => {
  it('are required all together: one missing part refuses the request', async () => {
    const { state, store } = fakeStore();
    state.names = ['events'];
    const parts = new BuiltParts(store, () => 0);
    await expect(parts.require('events')).resolves.toBeUndefined();
    await expect(parts.require('events', 'samples')).rejects.toMatchObject({ code: 'notBuilt' });
  });

  it('are read at most once a second, with one query for concurrent requests', async () => {
    const { state, store } = fakeStore();
    let nowMs = 5;
    const parts = new BuiltParts(store, () => nowMs);
    await Promise.allSettled([parts.require('events'), parts.require('candles')]);
    nowMs += 999;
    await expect(parts.require('events')).rejects.toMatchObject({ code: 'notBuilt' });
    expect(state.queries).toBe(1);
    state.names = ['events'];
    nowMs += 1;
    await parts.require('events');
    expect(state.queries).toBe(2);
  });

  it('report a store that is away, and read again at once', async () => {
    const { state, store } = fakeStore();
    state.away = true;
    const parts = new BuiltParts(store, () => 0);
    await expect(parts.require('events')).rejects.toMatchObject({ code: 'storeAway' });
    Object.assign(state, { away: false, names: ['events'] });
    await expect(parts.require('events')).resolves.toBeUndefined();
  });
});
