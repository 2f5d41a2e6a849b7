// Live updates over Yellowstone gRPC, for a source that reads everything else by RPC.

import type { OpenSession } from '../rpc/session.ts';
import { Cursor } from './cursor.ts';
import { GrpcSession, type GrpcState } from './session.ts';
import { type OpenStream, openWith } from './stream.ts';

export type { OpenStream, StreamHandlers, UpdateStream } from './stream.ts';
export { readUpdate, type StreamUpdate } from './wire.ts';

export interface GrpcServers {
  /** In turn; `https:` for TLS, `http:` without. */
  readonly urls: readonly string[];
  /** Sent as `x-token`; empty: none. */
  readonly token: string;
  /** Default: over the real network. */
  readonly open?: OpenStream;
  /** Receives each delivered block. */
  readonly block?: (slot: number, blockhash: string) => void;
}

/** Sessions of one run, each continuing the one before it where that is possible, also on another server. */
export function grpcSessions(servers: GrpcServers): () => OpenSession {
  const { urls, token, open = openWith(), block = () => {} } = servers;
  return () => {
    const state: GrpcState = {
      cursor: new Cursor(),
      oracles: new Set(),
      otherOracles: null,
      read: () => {},
      mayReplay: true,
    };
    let number = 0;
    return (parts, tip) => {
      const url = urls[number % urls.length] ?? '';
      const session = new GrpcSession(parts, tip, { url, token, open, state, number: BigInt(number), block });
      number += 1;
      return session;
    };
  };
}
