// Statement exports: jobs of wallets that workers turn into files. Units: see index.ts.

/** A wallet asks for a statement. */
export interface ExportRequested {
  /** UUID of the job. */
  readonly requestId: string;
  readonly authority: Uint8Array;
  readonly fileType: string;
  /** Unix seconds, both inclusive. */
  readonly fromTs: number;
  readonly toTs: number;
  /** Sub-accounts. */
  readonly users: readonly Uint8Array[];
  readonly market: string | null;
  /** Wall clock of the service, Unix milliseconds. */
  readonly atMs: number;
}

/**
 * A worker takes a job until a time, or renews its claim. A claim that ends at `atMs` gives the job back. The first claim in the
 * log counts; another one counts only after the end of the one before.
 */
export interface ExportClaimed {
  readonly requestId: string;
  /** Unique text of the claim; renewals repeat it. */
  readonly claim: string;
  /** Host and process of the worker, for operators. */
  readonly host: string;
  readonly pid: number;
  readonly atMs: number;
  readonly untilMs: number;
}

/** The outcome of a job. It counts when its claim has the job. */
export interface ExportFinished {
  readonly requestId: string;
  readonly claim: string;
  /** `ready`, `empty` or `failed`. */
  readonly outcome: string;
  /** Why it failed; otherwise null. */
  readonly reason: string | null;
  /** Rows of the file, without the header line. */
  readonly rows: number;
  /** Compressed size. */
  readonly bytes: number;
  /** Name of the file in the store; null without a file. */
  readonly file: string | null;
  readonly atMs: number;
}

/** A job and its files are removed. */
export interface ExportExpired {
  readonly requestId: string;
  readonly atMs: number;
}
