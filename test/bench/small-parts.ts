// Small parts on hot paths, each beside what a library or the plain way costs: bounded maps, texts of keys, signatures from and to
// text, the encoding of an answer, packed accounts. `npm run bench small-parts`. One thread, no input or output.

import bs58 from 'bs58';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { base58 } from '../../api/http/base58.ts';
import { encodingFor } from '../../api/http/encodings.ts';
import { PackRoom } from '../../ingest/packed.ts';
import { loadDefinition, PUBKEY_BYTES, SIGNATURE_BYTES, signatureBytes, signatureText } from '../../schemas/index.ts';
import { seededRandom } from '../support/platform/chance.ts';
import { machine } from './harness/processes.ts';
import { report } from './harness/report.ts';

const ROUND_MS = 500;
const ROUNDS = 3;
/** Calls between two looks at the clock. */
const BATCH = 1_000;
const MAP_ENTRIES = 60_000;
const MAKERS = 50;
/** As in an account with few orders: one group of eight bytes in five is not zero. */
const USED_GROUPS = 5;
const GROUP_BYTES = 8;
const BROWSER_ENCODINGS = 'gzip, deflate, br, zstd';

/** Nanoseconds of a call, the best of some rounds. `call` gets the number of the call. */
function nanoseconds(call: (at: number) => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  let at = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const first = at;
    const startMs = performance.now();
    let passedMs = 0;
    while (passedMs < ROUND_MS) {
      for (let end = at + BATCH; at < end; at++) call(at);
      passedMs = performance.now() - startMs;
    }
    best = Math.min(best, (passedMs * 1e6) / (at - first));
  }
  return Math.round(best);
}

function compare(
  name: string,
  ours: (at: number) => unknown,
  beside: Readonly<Record<string, (at: number) => unknown>>,
) {
  const value = nanoseconds(ours);
  const others = Object.entries(beside).map(([other, call]) => [other, nanoseconds(call)] as const);
  report({ name: `small-parts: ${name}`, value, unit: 'ns', beside: Object.fromEntries(others), ...machine() });
}

const randomBytes = (count: number, bytes: number): Buffer[] => {
  const next = seededRandom(1);
  return Array.from({ length: count }, () =>
    Buffer.from(Array.from({ length: bytes }, () => Math.floor(next() * 256))),
  );
};

const bounded = new LRUCache<number, number>({ max: MAP_ENTRIES });
const plain = new Map<number, number>();
compare('an entry added to a full map', (at) => bounded.set(at, at), {
  'a Map that removes its first key': (at) => {
    plain.set(at, at);
    if (plain.size > MAP_ENTRIES) plain.delete(plain.keys().next().value as number);
  },
});

const makers = randomBytes(MAKERS, PUBKEY_BYTES);
const maker = (at: number): Buffer => makers[at % MAKERS] as Buffer;
compare('text of a known key', (at) => base58(maker(at)), { bs58: (at) => bs58.encode(maker(at)) });

const signatures = randomBytes(MAKERS, SIGNATURE_BYTES);
const texts = signatures.map((bytes) => signatureText(bytes));
compare('text of a signature', (at) => signatureText(signatures[at % MAKERS] as Buffer), {
  bs58: (at) => bs58.encode(signatures[at % MAKERS] as Buffer),
});
compare('signature from its text', (at) => signatureBytes(texts[at % MAKERS] as string), {
  bs58: (at) => bs58.decode(texts[at % MAKERS] as string),
});

compare('encoding of an answer', () => encodingFor(BROWSER_ENCODINGS), {
  'negotiator each time': () =>
    new Negotiator({ headers: { 'accept-encoding': BROWSER_ENCODINGS } }).encoding(['br', 'gzip', 'identity'], {
      preferred: ['br', 'gzip', 'identity'],
    }),
});

const definition = loadDefinition('velocity');
const user = definition.programs.find(({ accounts }) => accounts.has('User'))?.accounts.get('User');
if (!user) throw new Error('the definition has no User account');
const account = Buffer.alloc(user.layout.size);
for (let at = 0; at < account.length; at += USED_GROUPS * GROUP_BYTES) account.writeUIntLE(at + 1, at, 3);
const room = new PackRoom();
compare('an account packed', () => room.pack(account), { 'a copy of it': () => Buffer.from(account) });
