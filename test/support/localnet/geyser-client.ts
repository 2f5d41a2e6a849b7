// A plain gRPC client of geyser.Geyser for tests: collects what a subscription gets.

import {
  type ClientDuplexStream,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { type GeyserRequest, type GeyserUpdate, geyserService, NO_GEYSER_FILTERS } from '../../../schemas/index.ts';

interface Calls {
  subscribe(metadata: Metadata): ClientDuplexStream<GeyserRequest, GeyserUpdate>;
  close(): void;
}

export class GeyserClient {
  readonly updates: GeyserUpdate[] = [];
  /** Code and text of the end; null while the call lasts. */
  ended: { readonly code: number; readonly details: string } | null = null;
  readonly call: ClientDuplexStream<GeyserRequest, GeyserUpdate>;
  readonly #client: Calls;

  constructor(url: string, token = '') {
    const Client = makeGenericClientConstructor(geyserService(), 'Geyser');
    this.#client = new Client(new URL(url).host, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
    }) as unknown as Calls;
    const metadata = new Metadata();
    if (token !== '') metadata.set('x-token', token);
    this.call = this.#client.subscribe(metadata);
    this.call.on('data', (update: GeyserUpdate) => this.updates.push(update));
    this.call.on('error', ({ code, details }: ServiceError) => {
      this.ended = { code, details };
    });
    this.call.on('end', () => {
      this.ended ??= { code: 0, details: '' };
    });
  }

  request(request: Partial<GeyserRequest>): void {
    this.call.write({ ...NO_GEYSER_FILTERS, ...request });
  }

  of<K extends 'account' | 'transaction' | 'blockMeta' | 'slot' | 'pong'>(kind: K) {
    return this.updates.flatMap((update) => {
      const one = update[kind];
      return one ? [{ ...(one as NonNullable<GeyserUpdate[K]>), filters: update.filters }] : [];
    });
  }

  close(): void {
    this.call.cancel();
    this.#client.close();
  }
}
