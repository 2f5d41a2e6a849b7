// A connection on a socket that records every write, for tests of which frames leave together.

import type { WebSocket } from 'uWebSockets.js';
import { Registry } from 'prom-client';
import { Connection, type SocketData } from '../../../api/gateway/connection.ts';
import { gatewayMetrics } from '../../../api/gateway/metrics.ts';

const metrics = gatewayMetrics(new Registry());

export interface RecordingClient {
  readonly connection: Connection;
  /** Frames of each write. */
  readonly writes: string[][];
}

/** `onWrite` is called after each write. */
export function recordingClient(onWrite: () => void = () => {}): RecordingClient {
  const writes: string[][] = [];
  let corked: string[] | null = null;
  const written = (frames: string[]): void => {
    writes.push(frames);
    onWrite();
  };
  const socket = {
    getBufferedAmount: () => 0,
    send: (frame: string | Buffer) => {
      if (corked) corked.push(String(frame));
      else written([String(frame)]);
    },
    cork: (write: () => void) => {
      corked = [];
      write();
      written(corked);
      corked = null;
    },
    end: () => {},
  };
  return { connection: new Connection(socket as unknown as WebSocket<SocketData>, metrics), writes };
}
