// Messages of Yellowstone gRPC (Dragon's Mouth). The package's client is native code that costs four times the CPU of
// @grpc/grpc-js per message and is absent on Linux arm64, so only its generated codecs are loaded. It names macOS builds that were
// never published, which `npm ci` refuses: `overrides` in package.json names published ones. Nothing loads them.

import { createRequire } from 'node:module';
import path from 'node:path';
import type * as yellowstone from '@triton-one/yellowstone-grpc';

export type GeyserMessages = Pick<
  typeof yellowstone,
  | 'CommitmentLevel'
  | 'SlotStatus'
  | 'SubscribeRequest'
  | 'SubscribeUpdate'
  | 'SubscribeReplayInfoRequest'
  | 'SubscribeReplayInfoResponse'
  | 'PingRequest'
  | 'PongResponse'
  | 'GetSlotRequest'
  | 'GetSlotResponse'
  | 'GetVersionRequest'
  | 'GetVersionResponse'
>;
export type {
  SubscribeRequest as GeyserRequest,
  SubscribeUpdate as GeyserUpdate,
} from '@triton-one/yellowstone-grpc';

/** A request of a stream that asks for nothing. */
export const NO_GEYSER_FILTERS: yellowstone.SubscribeRequest = {
  accounts: {},
  slots: {},
  transactions: {},
  transactionsStatus: {},
  blocks: {},
  blocksMeta: {},
  entry: {},
  accountsDataSlice: [],
};

/** The codecs, loaded at the first call: they are half a megabyte of code. */
export function geyserMessages(): GeyserMessages {
  loaded ??= load();
  return loaded;
}
let loaded: GeyserMessages | null = null;

/** The package's entry loads the native client, so this goes past it to the file with the codecs. */
function load(): GeyserMessages {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('@triton-one/yellowstone-grpc');
  return require(path.join(path.dirname(entry), 'grpc', 'geyser.js')) as GeyserMessages;
}

interface Codec<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

/** One method of the service, in the form that @grpc/grpc-js takes on both sides. */
function method<Q, A>(name: string, request: Codec<Q>, answer: Codec<A>, isStream: boolean) {
  return {
    path: `/geyser.Geyser/${name}`,
    requestStream: isStream,
    responseStream: isStream,
    requestSerialize: (message: Q) => Buffer.from(request.encode(message).finish()),
    requestDeserialize: (bytes: Buffer) => request.decode(bytes),
    responseSerialize: (message: A) => Buffer.from(answer.encode(message).finish()),
    responseDeserialize: (bytes: Buffer) => answer.decode(bytes),
  };
}

/** The methods of `geyser.Geyser` that this project uses or serves. */
export function geyserService() {
  const m = geyserMessages();
  return {
    subscribe: method('Subscribe', m.SubscribeRequest, m.SubscribeUpdate, true),
    subscribeReplayInfo: method(
      'SubscribeReplayInfo',
      m.SubscribeReplayInfoRequest,
      m.SubscribeReplayInfoResponse,
      false,
    ),
    ping: method('Ping', m.PingRequest, m.PongResponse, false),
    getSlot: method('GetSlot', m.GetSlotRequest, m.GetSlotResponse, false),
    getVersion: method('GetVersion', m.GetVersionRequest, m.GetVersionResponse, false),
  };
}
