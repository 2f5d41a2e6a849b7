// Live updates over Yellowstone gRPC, for a source that reads everything else by RPC.

import type { OpenSession } from '../rpc/session.ts';
import { Cursor } from './cursor.ts';
import { GrpcSession, type GrpcState } from './session.ts';
import { type OpenStream, openWith } from './stream.ts';

/** Live transactions wait this long for a replay: a longer one may come after what RPC has of the same slots. */
const REPLAY_PATIENCE_MS = 5_000;
/**
 * Books stand still during a replay since the resume point, and RPC has its transactions too. A usual server replays 150 slots,
 * a large one 1,000; providers that keep hours replay for minutes.
 */
const REPLAY_SLOTS_MAX = 1_000;

export type { OpenStream, StreamHandlers, UpdateStream } from './stream.ts';
export { readUpdate, type StreamUpdate } from './wire.ts';

export interface GrpcServers {
  /** In turn; `https:` for TLS, `http:` without. */
  readonly urls: readonly string[];
  /** Sent as `x-token`; empty: none. */
  readonly token: string;
  /** Default: over the real network. */
  readonly open?: OpenStream;
  /** How long live transactions wait for the replay after a restart, milliseconds. Default: REPLAY_PATIENCE_MS. */
  readonly replayPatienceMs?: number;
  /** Oldest resume point that a restart replays from, slots behind the chain. Default: REPLAY_SLOTS_MAX. */
  readonly replaySlotsMax?: number;
  /** Receives each delivered block. */
  readonly block?: (slot: number, blockhash: string) => void;
}

/** Sessions of one run, each continuing the one before it where that is possible, also on another server. */
export function grpcSessions(servers: GrpcServers): () => OpenSession {
  const { urls, token, open = openWith(), block = () => {} } = servers;
  const { replayPatienceMs = REPLAY_PATIENCE_MS, replaySlotsMax = REPLAY_SLOTS_MAX } = servers;
  return () => {
    const state: GrpcState = {
      cursor: new Cursor(),
      oracles: new Set(),
      isWhole: false,
      otherOracles: null,
      read: () => {},
      mayReplay: true,
    };
    let number = 0;
    return (parts, before) => {
      const url = urls[number % urls.length] ?? '';
      const session = new GrpcSession(parts, before, {
        url,
        token,
        open,
        state,
        number: BigInt(number),
        replayPatienceMs,
        replaySlotsMax,
        block,
      });
      number += 1;
      return session;
    };
  };
}
