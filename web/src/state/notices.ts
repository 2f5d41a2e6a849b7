// Events of the feed, in words, newest first: losses, resumes, gaps, new epochs. The trading view shows them.

import { signal } from '@preact/signals';

export type NoticeKind =
  | 'connected'
  | 'lost'
  | 'resumed'
  | 'snapshot'
  | 'gap'
  | 'mismatch'
  | 'epoch'
  | 'malformed'
  | 'refused'
  | 'shutdown';

export interface Notice {
  readonly id: number;
  readonly atMs: number;
  readonly kind: NoticeKind;
  readonly text: string;
}

const KEPT = 50;
let lastId = 0;

export const notices = signal<readonly Notice[]>([]);
/** How often each kind happened since the page was opened. */
export const noticeCounts = signal<Readonly<Partial<Record<NoticeKind, number>>>>({});

export function notice(kind: NoticeKind, text: string): void {
  lastId += 1;
  notices.value = [{ id: lastId, atMs: Date.now(), kind, text }, ...notices.value].slice(0, KEPT);
  noticeCounts.value = { ...noticeCounts.value, [kind]: (noticeCounts.value[kind] ?? 0) + 1 };
}
