// Hundreds of thousands of user accounts as prebuilt answers to the two calls that read all accounts of a kind.

import { createHash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import bs58 from 'bs58';
import { fieldOf, loadDefinition } from '../../../schemas/index.ts';

const PAGE_ACCOUNTS = 10_000;

export interface ManyUsers {
  readonly count: number;
  /** Whether the filters of a call ask for users. */
  asksFor(params: readonly unknown[]): boolean;
  /** The whole answer, in parts. Numbers of the call that may change stand in its first part. */
  answer(call: { readonly id: unknown; readonly params: readonly unknown[] }, slot: number): Iterable<string | Buffer>;
  page(call: { readonly id: unknown; readonly params: readonly unknown[] }, slot: number): Iterable<string | Buffer>;
}

/** As spread as addresses of a chain. */
const addressOf = (name: string): Buffer => createHash('sha256').update(name).digest();

/** Users like the given ones, each with an address and an authority of its own. */
export function manyUsers(templates: readonly Buffer[], count: number): ManyUsers {
  const program = loadDefinition('velocity').programs[0];
  const user = program?.accounts.get('User');
  const authorityAt = user && fieldOf(user.layout, 'authority')?.offset;
  if (!program || !user || authorityAt === undefined) throw new Error('no User account');
  const discriminator = bs58.encode(user.discriminator);
  const element = (number: number): string => {
    const data = Buffer.from(templates[number % templates.length] ?? Buffer.alloc(0));
    const key = addressOf(`user ${number}`);
    addressOf(`authority ${number}`).copy(data, authorityAt);
    const text = zstdCompressSync(data).toString('base64');
    const account = `{"data":["${text}","base64+zstd"],"executable":false,"lamports":1,"owner":"${program.programId}","rentEpoch":0,"space":${data.length}}`;
    return `{"account":${account},"pubkey":"${bs58.encode(key)}"}`;
  };
  const pages: Buffer[] = [];
  for (let from = 0; from < count; from += PAGE_ACCOUNTS) {
    const numbers = Array.from({ length: Math.min(PAGE_ACCOUNTS, count - from) }, (_, index) => from + index);
    pages.push(Buffer.from(numbers.map(element).join(',')));
  }
  const asksFor = (params: readonly unknown[]): boolean => JSON.stringify(params).includes(`"${discriminator}"`);
  return {
    count,
    asksFor,
    *answer({ id }, slot) {
      yield `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"context":{"slot":${slot}},"value":[`;
      for (const [index, page] of pages.entries()) {
        if (index > 0) yield ',';
        yield page;
      }
      yield ']}}';
    },
    *page({ id, params }, slot) {
      const { paginationKey } = params[1] as { readonly paginationKey?: string };
      const index = Number(paginationKey ?? 0);
      const next = index + 1 < pages.length ? `"${index + 1}"` : 'null';
      yield `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"context":{"slot":${slot}},"value":{"accounts":[`;
      yield pages[index] ?? Buffer.alloc(0);
      yield `],"paginationKey":${next}}}}`;
    },
  };
}
