// The entry point of the localnet: a simulated cluster with a seeded exchange, inside this process.

export { AccountLogReader, type LoggedSlot } from './account-log.ts';
export type { FeedMessage } from './grpc/messages.ts';
export type { AccountVersion, StoredBlock, StoredTransaction } from './ledger.ts';
export type * from './ledger-types.ts';
export { type LocalnetOptions, type RunningLocalnet, startLocalnet } from './server.ts';
