// Reads the exchange's output as a stranger would, with Anchor's own coders: for tests, which compare it with the model.

import type { Idl } from '@coral-xyz/anchor';
import anchor from '@coral-xyz/anchor';
import { PublicKey } from '@solana/web3.js';
import { chainDefinition } from '../../../localnet/exchange/accounts.ts';
import type { LedgerAccount } from '../../../localnet/ledger-types.ts';
import { variantName } from '../../../schemas/index.ts';

export interface ReadRecord {
  readonly name: string;
  readonly data: unknown;
}

interface Coders {
  readonly events: InstanceType<typeof anchor.BorshEventCoder>;
  readonly accounts: InstanceType<typeof anchor.BorshAccountsCoder>;
}

const ACCOUNT_BYTES_MAX = 16_384;
let coders: Map<string, Coders> | undefined;

function codersOf(program: string): Coders | undefined {
  coders ??= new Map(
    chainDefinition().programs.map(({ programId, idl }) => [
      programId,
      {
        events: new anchor.BorshEventCoder(idl as Idl),
        accounts: new anchor.BorshAccountsCoder(idl as Idl),
      },
    ]),
  );
  return coders.get(program);
}

/** Records of a transaction's log, by the invoke stack; throws when the stack does not come out even. */
export function readLog(lines: readonly string[]): ReadRecord[] {
  const stack: string[] = [];
  const records: ReadRecord[] = [];
  for (const line of lines) {
    const invoke = /^Program (\w+) invoke \[(\d+)\]$/.exec(line);
    if (invoke) {
      stack.push(invoke[1] ?? '');
      if (stack.length !== Number(invoke[2])) throw new Error(`wrong depth: ${line}`);
    } else if (/^Program \w+ (success|failed)/.test(line)) {
      if (stack.pop() !== line.split(' ')[1]) throw new Error(`wrong program: ${line}`);
    } else {
      const body = /^Program (?:data|log): ([A-Za-z0-9+/=]+)$/.exec(line)?.[1];
      const record = body === undefined ? null : codersOf(stack.at(-1) ?? '')?.events.decode(body);
      if (record) records.push({ name: record.name, data: plain(record.data) });
    }
  }
  if (stack.length > 0) throw new Error('a program never ended');
  return records;
}

export interface ReadAccount {
  readonly name: string;
  readonly data: Record<string, unknown>;
  /** What Anchor encodes for the decoded values, discriminator included. */
  readonly encoded: Uint8Array;
}

/** Decodes an account and encodes it again, both with Anchor's coder. */
export function readAccount(account: LedgerAccount): ReadAccount {
  const program = chainDefinition().programs.find(({ programId }) => programId === account.owner);
  const accounts = codersOf(account.owner)?.accounts;
  if (!program || !accounts) throw new Error(`no coder for the owner of ${account.pubkey}`);
  const bytes = Buffer.from(account.data);
  const name = [...program.accounts.values()].find(({ discriminator }) =>
    bytes.subarray(0, 8).equals(Buffer.from(discriminator)),
  )?.name;
  if (!name) throw new Error(`unknown discriminator in ${account.pubkey}`);
  const decoded: unknown = accounts.decode(name, bytes);
  // The coder's own `encode` allots 1000 bytes; its layouts take any buffer.
  const { accountLayouts } = accounts as unknown as {
    accountLayouts: Map<string, { layout: { encode(value: unknown, buffer: Buffer): number } }>;
  };
  const buffer = Buffer.alloc(ACCOUNT_BYTES_MAX);
  const length = accountLayouts.get(name)?.layout.encode(decoded, buffer) ?? 0;
  return {
    name,
    data: plain(decoded) as Record<string, unknown>,
    encoded: Buffer.concat([bytes.subarray(0, 8), buffer.subarray(0, length)]),
  };
}

/** Anchor's values as the truth writes them: strings for 64 bits and more, base58 keys, camelCase variants. */
function plain(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (anchor.BN.isBN(value)) return (value as { toString(): string }).toString();
  if (value instanceof PublicKey) return value.toBase58();
  if (Array.isArray(value)) return value.map(plain);
  const entries = Object.entries(value);
  const [only] = entries;
  const isVariant = entries.length === 1 && only !== undefined && Object.keys(only[1] ?? {}).length === 0;
  if (isVariant && typeof only[1] === 'object' && /^[A-Z]/.test(only[0])) return variantName(only[0]);
  return Object.fromEntries(entries.map(([key, inner]) => [key, plain(inner)]));
}

/** Where a decoded account differs from the model, as a path; null when they agree. Null in the model is a zeroed struct. */
export function difference(model: unknown, decoded: unknown, path = ''): string | null {
  if (model === null) return difference(0, firstScalar(decoded), `${path} (free)`);
  if (Array.isArray(model) || ArrayBuffer.isView(model)) {
    for (const [index, item] of [...(model as unknown as Iterable<unknown>)].entries()) {
      const found = difference(item, (decoded as unknown[])[index], `${path}[${index}]`);
      if (found) return found;
    }
    return null;
  }
  if (typeof model === 'object') {
    for (const [key, item] of Object.entries(model as object)) {
      const found = difference(item, (decoded as Record<string, unknown>)[key], `${path}.${key}`);
      if (found) return found;
    }
    return null;
  }
  return String(model) === String(decoded)
    ? null
    : `${path}: ${String(model)} in the model, ${String(decoded)} in bytes`;
}

function firstScalar(value: unknown): unknown {
  const scalars = Object.values(value as object).filter((item) => /^\d+$/.test(String(item)));
  return scalars.every((item) => Number(item) === 0) ? 0 : scalars;
}
