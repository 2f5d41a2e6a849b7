// Requests to the history REST, typed by its contract: reads, writes, CSV as a stream, wallet signatures.

import type { Params, PartOf, RequestOptions, RestMethod, RestOptions, RestRequest } from '../rest/reader.ts';
import { type HistoryOperations as Operations, SIGNED_OPERATIONS } from './contract.ts';
import { csvRows } from './csv.ts';
import { type CsvPath, type HistoryParams, HistoryReader } from './reader.ts';

/** The request that a signature is for. */
export interface UnsignedRequest {
  readonly method: RestMethod;
  /** As in the contract, for example `/notifications/{walletAddress}`. */
  readonly path: string;
}

export interface HistoryOptions extends RestOptions {
  /** Makes the wallet-signature headers of one attempt. Called anew for each, because a signature serves once. */
  readonly sign?: (request: UnsignedRequest) => Promise<Readonly<Record<string, string>>>;
}

const SIGNED: ReadonlySet<string> = new Set(SIGNED_OPERATIONS);

export class HistoryClient extends HistoryReader {
  readonly #sign: HistoryOptions['sign'];

  constructor(options: HistoryOptions) {
    super(options);
    this.#sign = options.sign;
  }

  /** Sends a request of any method, such as `POST /notifications/devices`. */
  async send<K extends keyof Operations>(
    operation: K,
    params: PartOf<Operations, K, 'params'>,
    body?: PartOf<Operations, K, 'body'>,
    options?: RequestOptions,
  ): Promise<PartOf<Operations, K, 'answer'>> {
    const [method, path] = operation.split(' ') as [RestMethod, string];
    const request = { method, path, params: params as Params, body, accept: 'application/json' };
    const text = await (await this.request(request, options)).text();
    return (text === '' ? undefined : JSON.parse(text)) as PartOf<Operations, K, 'answer'>;
  }

  /** Rows of the whole period while they arrive, by column name. Values are text. */
  async *csv<P extends CsvPath>(
    path: P,
    params: HistoryParams<P>,
    options?: RequestOptions,
  ): AsyncGenerator<Record<string, string>, void, undefined> {
    const csv = { ...(params as Params), format: 'csv' };
    const response = await this.request({ method: 'GET', path, params: csv, accept: 'text/csv' }, options);
    if (response.body) yield* csvRows(response.body);
  }

  protected override request(request: RestRequest, options?: RequestOptions): Promise<Response> {
    const { method, path } = request;
    if (isSigned(request) && !this.#sign) {
      throw new Error(`${method} ${path} needs a wallet signature: pass the option sign`);
    }
    return super.request(request, options);
  }

  protected override async signature(request: RestRequest): Promise<Readonly<Record<string, string>>> {
    const { method, path } = request;
    return isSigned(request) && this.#sign ? this.#sign({ method, path }) : {};
  }
}

function isSigned({ method, path }: RestRequest): boolean {
  return SIGNED.has(`${method} ${path}`);
}
