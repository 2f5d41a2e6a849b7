// The entry point of the localnet: a simulated cluster with a seeded exchange, inside this process.

export { AccountLogReader, type LoggedAccount, type LoggedSlot } from './account-log.ts';
export type { ExchangeOptions } from './exchange/index.ts';
export type { FeedMessage } from './grpc/messages.ts';
export type { AccountVersion, Commitment, CommitmentLags, Ledger, StoredBlock, StoredTransaction } from './ledger.ts';
export type * from './ledger-types.ts';
export {
  DEFAULT_RPC_PORT,
  DEFAULT_WS_PORT,
  type ExchangeFactory,
  type LocalnetOptions,
  type RunningLocalnet,
  startLocalnet,
} from './server.ts';
