// Keeps submissions that no saved state has yet: one line for each block that had some. A restarted cluster
//  computes those blocks again, with the same submissions.

import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Submission } from './ledger-types.ts';

interface Line {
  readonly genesisHash: string;
  /** Slot of the block of these submissions. */
  readonly slot: number;
  readonly submissions: readonly unknown[];
}

interface Entry {
  readonly slot: number;
  readonly submissions: readonly Submission[];
}

export class SubmissionJournal {
  readonly #path: string;
  readonly #genesisHash: string;
  #entries: Entry[];

  /** Opens the journal of the chain with this genesis. Lines of another chain are dropped, and so is an incomplete last line. */
  constructor(path: string, genesisHash: string) {
    this.#path = path;
    this.#genesisHash = genesisHash;
    mkdirSync(dirname(path), { recursive: true });
    this.#entries = readLines(path)
      .filter((line) => line.genesisHash === genesisHash)
      .map(({ slot, submissions }) => ({ slot, submissions: submissions.map(fromJson) }));
  }

  append(slot: number, submissions: readonly Submission[]): void {
    const entry = { slot, submissions };
    this.#entries.push(entry);
    appendFileSync(this.#path, this.#line(entry));
  }

  /** Submissions of the block of a slot. */
  of(slot: number): readonly Submission[] {
    return this.#entries.find((entry) => entry.slot === slot)?.submissions ?? [];
  }

  /** Forgets submissions of blocks up to `slot`, which a saved state has. */
  saved(slot: number): void {
    const kept = this.#entries.filter((entry) => entry.slot > slot);
    if (kept.length === this.#entries.length) return;
    this.#entries = kept;
    writeFileSync(`${this.#path}.new`, kept.map((entry) => this.#line(entry)).join(''));
    renameSync(`${this.#path}.new`, this.#path);
  }

  #line({ slot, submissions }: Entry): string {
    const line: Line = { genesisHash: this.#genesisHash, slot, submissions: submissions.map(toJson) };
    return `${JSON.stringify(line)}\n`;
  }
}

function readLines(path: string): Line[] {
  if (!existsSync(path)) return [];
  // A kill in the middle of a write leaves a last line without its end; its block was never made.
  const complete = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return complete.map((line) => JSON.parse(line) as Line);
}

function toJson(submission: Submission): unknown {
  if (submission.kind === 'transaction') {
    return { kind: 'transaction', wire: Buffer.from(submission.wire).toString('base64') };
  }
  return {
    ...submission,
    lamports: String(submission.lamports),
    tokens: submission.tokens.map(({ spotMarketIndex, amount }) => ({ spotMarketIndex, amount: String(amount) })),
  };
}

function fromJson(value: unknown): Submission {
  const json = value as { kind: string; wire: string };
  if (json.kind === 'transaction') return { kind: 'transaction', wire: Buffer.from(json.wire, 'base64') };
  const fund = value as {
    signature: string;
    wallet: string;
    lamports: string;
    tokens: { spotMarketIndex: number; amount: string }[];
    openAccount: boolean;
  };
  return {
    kind: 'fund',
    signature: fund.signature,
    wallet: fund.wallet,
    lamports: BigInt(fund.lamports),
    tokens: fund.tokens.map(({ spotMarketIndex, amount }) => ({ spotMarketIndex, amount: BigInt(amount) })),
    openAccount: fund.openAccount,
  };
}
