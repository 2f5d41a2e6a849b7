// Saves a chain while it runs: the whole state from time to time, and the newest slot with every block.

import type { Ledger } from './ledger.ts';
import type { Exchange, Submission } from './ledger-types.ts';
import { type ChainIdentity, saveState, TipFile } from './state-file.ts';
import { SubmissionJournal } from './submission-journal.ts';

const SAVE_INTERVAL_MS = 10_000;

export interface Chain {
  readonly exchange: Exchange;
  readonly ledger: Ledger;
  readonly identity: ChainIdentity;
}

export function tipPath(stateFile: string): string {
  return `${stateFile}.tip`;
}

export function journalPath(stateFile: string): string {
  return `${stateFile}.submitted`;
}

/** Saves every ten seconds and at the end, one save at a time. */
export class StateKeeper {
  readonly #path: string;
  readonly #chain: Chain;
  readonly #tip: TipFile;
  readonly #journal: SubmissionJournal;
  readonly #timer: NodeJS.Timeout;
  #savedSlot = -1;
  #saving: Promise<void> = Promise.resolve();

  private constructor(path: string, chain: Chain) {
    this.#path = path;
    this.#chain = chain;
    this.#tip = new TipFile(tipPath(path), chain.ledger.genesisHash);
    this.#journal = new SubmissionJournal(journalPath(path), chain.ledger.genesisHash);
    this.#timer = setInterval(() => {
      this.#save().catch((error: unknown) => process.stderr.write(`localnet: state not saved: ${String(error)}\n`));
    }, SAVE_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Saves once before the chain is visible, so that its genesis is never made twice. */
  static async open(path: string, chain: Chain): Promise<StateKeeper> {
    const keeper = new StateKeeper(path, chain);
    await keeper.#save();
    keeper.reached(chain.ledger.tipSlot);
    return keeper;
  }

  reached(slot: number): void {
    this.#tip.write(slot);
  }

  /** Keeps the submissions of a slot, before its block is made. */
  submitting(slot: number, submissions: readonly Submission[]): void {
    this.#journal.append(slot, submissions);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#save();
    this.#tip.close();
  }

  #save(): Promise<void> {
    const { exchange, ledger, identity } = this.#chain;
    const saved = this.#saving
      .catch(() => {})
      .then(async () => {
        if (ledger.tipSlot === this.#savedSlot) return;
        const slot = ledger.tipSlot;
        await saveState(this.#path, { identity, head: ledger.head(), exchange: exchange.snapshot() }, ledger);
        this.#savedSlot = slot;
        this.#journal.saved(slot);
      });
    this.#saving = saved;
    return saved;
  }
}
