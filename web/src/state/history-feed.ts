// The feed of the history service, shared by summaries and candles.

import { signal } from '@preact/signals';
import { HistoryFeed } from '../../../client/index.ts';
import { historySocketUrl } from '../addresses.ts';

const url = historySocketUrl();
/** Null without an address of the history service. */
export const historyFeed = url === null ? null : new HistoryFeed({ url });
/** Each new connection may have missed changes. */
export const isHistoryOpen = signal(false);

historyFeed?.on('connected', () => {
  isHistoryOpen.value = true;
});
historyFeed?.on('disconnected', () => {
  isHistoryOpen.value = false;
});
