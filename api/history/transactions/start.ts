// Opens the access to the chain that `/tx/*` needs, by the settings of the service.

import { PublicKey } from '@solana/web3.js';
import { type Config, ConfigError, type RoleContext } from '../../../platform/index.ts';
import { loadDefinition, type MarketRef, marketKey, TOPICS } from '../../../schemas/index.ts';
import { NewestFollower } from '../../views/newest.ts';
import { RpcChain } from './chain.ts';
import { ExchangeProgram } from './program.ts';
import type { TransactionServices } from './services.ts';

export interface StartedTransactions {
  /** Null: this service has no chain, or its definition has no instructions. */
  readonly services: TransactionServices | null;
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

const NOTHING: StartedTransactions = { services: null, done: Promise.resolve(), stop: async () => {} };

/** Throws ConfigError when `lookupTables` names no keys. */
export async function startTransactions({ config, log, logger }: RoleContext): Promise<StartedTransactions> {
  if (config.source === 'capture' || config.rpcUrl === '') return NOTHING;
  const program = new ExchangeProgram(loadDefinition(config.definition));
  if (!program.canTransact) return NOTHING;
  const chain = new RpcChain({ program, rpcUrl: config.rpcUrl, lookupTables: tableKeys(config) });
  const fees = new NewestFollower({ log, logger, topic: TOPICS.feeViews, name: 'FeeLevels' });
  await fees.start();
  const unitPrice = (markets: readonly MarketRef[]): number => {
    const prices = markets.map((market) => fees.get(marketKey(market))?.[config.txFeeLevel] ?? 0);
    return Math.min(config.txFeeMax, Math.ceil(Math.max(0, ...prices)));
  };
  return { services: { chain, unitPrice }, done: fees.done, stop: () => fees.stop() };
}

function tableKeys({ lookupTables }: Config): PublicKey[] {
  const keys = lookupTables.split(',').map((key) => key.trim());
  return keys
    .filter((key) => key !== '')
    .map((key) => {
      try {
        return new PublicKey(key);
      } catch {
        throw new ConfigError(`lookupTables: ${key} is not a public key`);
      }
    });
}
