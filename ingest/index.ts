// From chain to log: the only entry point of ingest/.

export { recordCapture } from './capture/record.ts';
export { compileAccount } from './decode/account.ts';
export { compileUser, type UserReader } from './decode/user.ts';
export { Differ } from './differ.ts';
export { startFees } from './fees/role.ts';
export { createForkMetrics } from './forks/metrics.ts';
export { ForkStates } from './forks/states.ts';
export { createIngestMetrics } from './metrics.ts';
export { openSource } from './open.ts';
export { compileReaders } from './readers.ts';
export { type IngestParts, startIngest, userAddress } from './role.ts';
export { RpcSource } from './rpc.ts';
export * from './source.ts';
