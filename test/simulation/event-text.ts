// Identities of events for reports.

import bs58 from 'bs58';

/** A readable identity of an event. */
export function eventText(id: string): string {
  const at = id.lastIndexOf(' ');
  return `${bs58.encode(Buffer.from(id.slice(0, at), 'latin1'))}${id.slice(at)}`;
}
