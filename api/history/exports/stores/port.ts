// Where statement files are. Two adapters: S3-compatible storage and the data directory. The contract suite
// test/support/api/file-store-contract.ts tests the promises of these comments.

import type { Readable } from 'node:stream';

export interface FileStore {
  /** For status lines and test reports. */
  readonly kind: 'folder' | 's3';
  /**
   * Stores a file. It exists as a whole or not at all: a killed process, a failing body or an aborted signal leave no readable
   * file. Rejects with the body's error, or with the store's.
   */
  put(name: string, body: Readable, signal: AbortSignal): Promise<void>;
  /** A URL that anyone may read the file with until it expires. Every call makes a new one. */
  url(name: string, request: UrlRequest): Promise<string>;
  /** Removes all files of a job, finished or not. Removing none is no error. */
  remove(requestId: string): Promise<void>;
  close(): Promise<void>;
}

export interface UrlRequest {
  /** File name that browsers save under. */
  readonly saveAs: string;
  /** Unix seconds. */
  readonly nowS: number;
  readonly validS: number;
  /** Origin of the history service, where the adapter has no server of its own. */
  readonly origin: string;
}

/** Name of the file that one claim writes. No two workers write the same file. */
export function fileNameOf(requestId: string, claim: string): string {
  return `${requestId}.${claim}.csv.gz`;
}

/** Every name of `fileNameOf`, and nothing that leaves a folder. */
const FILE_NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[0-9a-f]{32}\.csv\.gz$/;

/** Request id in a file name; null for any other text. */
export function requestIdOf(name: string): string | null {
  return FILE_NAME.exec(name)?.[1] ?? null;
}
