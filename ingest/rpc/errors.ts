// Errors of a node, classified by their remedy: asking later, asking another node, or none.

/** `later`: any node may answer after a pause. `elsewhere`: another node may. `never`: no node will. */
export type Remedy = 'later' | 'elsewhere' | 'never';

/** Codes of JSON-RPC answers (docs/internals/ingest.md, "Errors of a node"). */
const REMEDIES: ReadonlyMap<number, Remedy> = new Map([
  [-32004, 'later'], // block not available yet
  [-32005, 'later'], // node unhealthy
  [-32007, 'elsewhere'], // slot skipped, or missing after a ledger jump
  [-32009, 'elsewhere'], // slot skipped, or missing in long-term storage
  [-32001, 'elsewhere'], // block cleaned up
  [-32010, 'elsewhere'], // key excluded from the account index
  [-32011, 'elsewhere'], // no transaction history
  [-32014, 'later'], // block status not available yet
  [-32015, 'never'], // unsupported transaction version
  [-32016, 'later'], // minimum context slot not reached
  [-32019, 'elsewhere'], // long-term storage unreachable
  [-32429, 'later'], // rate limit, of some providers
  [-32600, 'elsewhere'],
  [-32601, 'elsewhere'],
  [-32602, 'never'],
  [-32603, 'later'],
  [429, 'later'], // rate limit of an item in a batch, of some providers
]);
/** Codes that speak of the node, not of the item: unhealthy, or its rate limit. */
const OF_NODE: ReadonlySet<number> = new Set([-32005, -32429, 429]);
/** The node has not reached the `minContextSlot` of the request. */
export const BEHIND = -32016;
export const UNKNOWN_METHOD = -32601;
const SKIPPED: ReadonlySet<number> = new Set([-32007, -32009]);

/** The node answered with an error, or did not answer. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  /** JSON-RPC code or HTTP status; null when the node did not answer. */
  readonly code: number | null;
  readonly remedy: Remedy;
  /** The node did not get to answer: the request failed, or the node is unhealthy or limits its rate. */
  readonly isTransport: boolean;

  constructor(
    message: string,
    code: number | null = null,
    options: ErrorOptions & { readonly remedy?: Remedy; readonly isTransport?: boolean } = {},
  ) {
    super(message, options);
    this.code = code;
    this.remedy = options.remedy ?? (code === null ? 'later' : (REMEDIES.get(code) ?? 'elsewhere'));
    this.isTransport = options.isTransport ?? (code !== null && OF_NODE.has(code));
  }

  /** The node is unhealthy or limits its rate, whatever it was asked for. */
  get isBusy(): boolean {
    return this.code !== null && OF_NODE.has(this.code);
  }

  /** The slot has no block, or this node lost it. */
  get isSkippedSlot(): boolean {
    return this.code !== null && SKIPPED.has(this.code);
  }
}
