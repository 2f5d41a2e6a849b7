// Loaded before ingest: notes when each account update of the stream at processed has been received, and writes that to a file at the end.
// The latency of the server begins there; what the node and the network take before is theirs.

import { writeFileSync } from 'node:fs';
import { changeModule } from '../../support/platform/changed-module.ts';
import { nowMs } from './clock.ts';

/** Names the file: lines of a write version and a time on the clock of `nowMs`. */
export const RECEIVED_FILE = 'BENCH_RECEIVED_FILE';

type Noting = typeof globalThis & { noteReceived?: (writeVersion: bigint) => void };

const file = process.env[RECEIVED_FILE];
if (file !== undefined) {
  const lines: string[] = [];
  (globalThis as Noting).noteReceived = (writeVersion) => lines.push(`${writeVersion} ${nowMs()}`);
  process.once('exit', () => {
    if (lines.length > 0) writeFileSync(file, lines.join('\n'));
  });
  changeModule({
    name: 'received',
    file: 'ingest/forks/grpc.ts',
    find: 'const update = accountUpdate(message, this.#options.number);',
    replace: `globalThis.noteReceived(message.writeVersion);
    const update = accountUpdate(message, this.#options.number);`,
  });
}
