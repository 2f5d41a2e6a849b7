// The closed table of faults between the chain and its readers. Each one happens at real nodes, providers or load balancers.

/** Where a fault acts: on a whole HTTP answer, on one call, or on one notification. */
export type FaultPlace = 'http' | 'call' | 'notification';

interface KindOfFault {
  readonly place: FaultPlace;
  /** Methods or notifications that the fault can act on; null: any. */
  readonly methods: readonly string[] | null;
  readonly about: string;
}

const PROGRAM_ACCOUNTS = ['getProgramAccounts', 'getProgramAccountsV2'];

export const FAULT_KINDS = {
  rateLimit: { place: 'http', methods: null, about: 'HTTP 429, with `Retry-After` when `retryAfterSeconds` is given' },
  unavailable: { place: 'http', methods: null, about: 'HTTP 503' },
  hangUp: { place: 'http', methods: null, about: 'the connection closes without an answer' },
  slow: { place: 'http', methods: null, about: 'the answer starts after `ms`' },
  cutBody: { place: 'http', methods: null, about: 'the connection closes after `share` of the answer' },
  unhealthy: { place: 'call', methods: null, about: 'error -32005, `slots` behind' },
  error: { place: 'call', methods: null, about: 'error `code` with `message`, by default -32603' },
  behind: { place: 'call', methods: null, about: 'a second node answers, `slots` blocks behind' },
  slotJump: { place: 'call', methods: ['getSlot', 'slotNotification'], about: 'a slot that is `slots` too high' },
  nullTransaction: { place: 'call', methods: ['getTransaction'], about: 'null for `ms`, or for ever' },
  nullLogs: { place: 'call', methods: ['getTransaction', 'getBlock'], about: '`meta.logMessages` is null' },
  emptyPage: { place: 'call', methods: ['getSignaturesForAddress'], about: 'an empty page' },
  shortPage: { place: 'call', methods: ['getSignaturesForAddress'], about: 'only the newest `share` of the page' },
  emptyAccounts: { place: 'call', methods: PROGRAM_ACCOUNTS, about: 'no account at all' },
  cutAccounts: { place: 'call', methods: PROGRAM_ACCOUNTS, about: 'only the first `share` of the accounts' },
  loseNotification: { place: 'notification', methods: null, about: 'a notification is lost' },
  duplicateNotification: { place: 'notification', methods: null, about: 'a notification comes twice' },
  reorderNotification: { place: 'notification', methods: null, about: 'a notification comes some notifications later' },
  alterNotification: {
    place: 'notification',
    methods: ['accountUpdate'],
    about: 'the gRPC server sends an account with another last byte',
  },
  lateNotification: {
    place: 'notification',
    methods: ['stream'],
    about: 'the gRPC server sends everything `ms` late, in order',
  },
  silentSocket: { place: 'notification', methods: null, about: 'one socket gets nothing for `ms`, or until it closes' },
  endStream: {
    place: 'notification',
    methods: ['stream'],
    about: 'the gRPC server ends a stream, once a slot at most',
  },
} as const satisfies Readonly<Record<string, KindOfFault>>;

export type FaultKind = keyof typeof FAULT_KINDS;

export function isFaultKind(text: unknown): text is FaultKind {
  return typeof text === 'string' && Object.hasOwn(FAULT_KINDS, text);
}

/** One switched-on fault. Absent numbers have the defaults of `FAULT_DEFAULTS`. */
export interface FaultRequest {
  readonly kind: FaultKind;
  /** From 0 to 1. Default 1. */
  readonly probability?: number;
  /** The fault ends after so many strikes. Default: never. */
  readonly count?: number;
  /** JSON-RPC methods, `logsNotification` and so on, or `accountUpdate` and so on of gRPC. Default: all that the kind can act on. */
  readonly methods?: readonly string[];
  /** Signatures, addresses or account keys. Default: all. */
  readonly keys?: readonly string[];
  readonly retryAfterSeconds?: number;
  readonly ms?: number;
  readonly slots?: number;
  readonly share?: number;
  readonly code?: number;
  readonly message?: string;
}

export const FAULT_DEFAULTS = {
  /** A typical lag between two nodes of one provider. */
  slots: 8,
  /** Far enough ahead that a reader which believes it stops moving. */
  jumpSlots: 5000,
  slowMs: 2000,
  /** Five slots: a node at the other end of the world under load. */
  lateMs: 2000,
  share: 0.5,
} as const;

/** Longest distance in notifications between a reordered one and its place. */
export const REORDER_DISTANCE_MAX = 8;
