import { describe, expect, it } from 'vitest';
import { HistoryError } from '../errors.ts';
import { Projections } from './projections.ts';
import type { HistoryStore } from './store.ts';

/** A store that knows only which projections are built, and counts how often it was asked. */
function fakeStore() {
  const state = { names: [] as string[], asked: 0, away: false };
  const rows = async () => {
    state.asked++;
    if (state.away) throw new HistoryError('storeAway');
    return state.names.map((name) => ({ name }));
  };
  return { state, store: { rows } as unknown as HistoryStore };
}

describe('projections', () => {
  it('refuse what is not built, all of what is needed counting', async () => {
    const { state, store } = fakeStore();
    state.names = ['events'];
    const projections = new Projections(store, () => 0);
    await expect(projections.require('events')).resolves.toBeUndefined();
    await expect(projections.require('events', 'samples')).rejects.toMatchObject({ code: 'notBuilt' });
  });

  it('are asked for once a second at most, together once', async () => {
    const { state, store } = fakeStore();
    let nowMs = 5;
    const projections = new Projections(store, () => nowMs);
    await Promise.allSettled([projections.require('events'), projections.require('candles')]);
    nowMs += 999;
    await expect(projections.require('events')).rejects.toMatchObject({ code: 'notBuilt' });
    expect(state.asked).toBe(1);
    state.names = ['events'];
    nowMs += 1;
    await projections.require('events');
    expect(state.asked).toBe(2);
  });

  it('pass on that the store is away, and ask again at once', async () => {
    const { state, store } = fakeStore();
    state.away = true;
    const projections = new Projections(store, () => 0);
    await expect(projections.require('events')).rejects.toMatchObject({ code: 'storeAway' });
    Object.assign(state, { away: false, names: ['events'] });
    await expect(projections.require('events')).resolves.toBeUndefined();
  });
});
