// The account readers of a chain definition, compiled into reads at fixed offsets.

import type { ChainDefinition } from '../schemas/index.ts';
import { type CompiledAccount, compileAccount, discriminatorOf } from './decode/account.ts';
import { type ClobReader, compileClob } from './decode/clob.ts';
import { DefinitionError } from './decode/layout.ts';
import {
  compileExchangeState,
  compilePerpMarket,
  compileSpotMarket,
  type ExchangeState,
  type MarketReader,
} from './decode/market.ts';
import { type BuilderReaders, compileBuilders, compileUnstakingPeriod } from './decode/plain-states.ts';
import { compileUser, type UserReader } from './decode/user.ts';
import type { Field } from './decode/values.ts';
import { compileVaults, type VaultReaders } from './decode/vault.ts';

export interface Readers {
  readonly exchangeId: string;
  readonly user: UserReader;
  readonly markets: ReadonlyMap<bigint, MarketReader>;
  readonly state: { readonly account: CompiledAccount; readonly read: Field<ExchangeState> } | null;
  readonly clobId: string | null;
  readonly clob: ClobReader | null;
  readonly vaultsId: string | null;
  readonly vaults: VaultReaders;
  readonly builders: BuilderReaders;
  /** Seconds, of a SpotMarket account. */
  readonly unstakingPeriod: Field<bigint> | null;
  /** All discriminators of each program (base58), including kinds that ingest does not read. */
  readonly discriminators: ReadonlyMap<string, ReadonlySet<bigint>>;
}

/** Compiles the account readers. Throws DefinitionError when the definition has no User or PerpMarket account. */
export function compileReaders(definition: ChainDefinition): Readers {
  const exchange = definition.programs.find((program) => program.accounts.has('User'));
  const user = exchange?.accounts.get('User');
  const perp = exchange?.accounts.get('PerpMarket');
  const spot = exchange?.accounts.get('SpotMarket');
  const state = exchange?.accounts.get('State');
  if (!exchange || !user || !perp) throw new DefinitionError(`${definition.name} has no User or no PerpMarket`);
  const markets = [compilePerpMarket(perp), ...(spot ? [compileSpotMarket(spot)] : [])];
  const book = definition.programs.find((program) => program.accounts.has('ClobHeaderV0'));
  const vaults = definition.programs.find((program) => program.accounts.has('Vault'));
  const header = book?.accounts.get('ClobHeaderV0');
  const node = book?.types.get('OrderNodeV0');
  return {
    exchangeId: exchange.programId,
    user: compileUser(user),
    markets: new Map(markets.map((market) => [market.account.discriminator, market])),
    state: state ? { account: compileAccount(state), read: compileExchangeState(state) } : null,
    clobId: book?.programId ?? null,
    clob: header && node ? compileClob(header, node) : null,
    vaultsId: vaults?.programId ?? null,
    vaults: vaults ? compileVaults(vaults) : new Map(),
    builders: compileBuilders(exchange),
    unstakingPeriod: spot ? compileUnstakingPeriod(spot) : null,
    discriminators: new Map(
      definition.programs.map((program) => [
        program.programId,
        new Set([...program.accounts.values()].map((account) => discriminatorOf(account.discriminator))),
      ]),
    ),
  };
}
