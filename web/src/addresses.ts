// Addresses of the services, as the page server wrote them into the document.

export interface Addresses {
  readonly orderbook: string | null;
  readonly gateway: string | null;
  readonly history: string | null;
}

export const addresses: Addresses = readAddresses();

function readAddresses(): Addresses {
  const text = document.querySelector<HTMLMetaElement>('meta[name="slotbook-addresses"]')?.content ?? '';
  try {
    return JSON.parse(text) as Addresses;
  } catch {
    return { orderbook: null, gateway: null, history: null };
  }
}

/** The socket of the history service. */
export function historySocketUrl(): string | null {
  return addresses.history === null ? null : `${addresses.history.replace(/^http/, 'ws')}/ws`;
}
