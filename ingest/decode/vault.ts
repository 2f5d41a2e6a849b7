// Reads Vault and VaultDepositor accounts as state messages.

import type { ProgramDefinition, StructLayout, VaultDepositorState, VaultState } from '../../schemas/index.ts';
import { type CompiledAccount, compileAccount } from './account.ts';
import { requireField } from './layout.ts';
import { bigintField, bytesAt, type Field, numberField, textAt } from './values.ts';

export type VaultOutput =
  | { readonly name: 'VaultState'; readonly value: VaultState }
  | { readonly name: 'VaultDepositorState'; readonly value: VaultDepositorState };

/** Readers of vault accounts by discriminator. A reader throws AccountError for data that is too short. */
export type VaultReaders = ReadonlyMap<bigint, (data: Uint8Array, pubkey: Uint8Array, slot: number) => VaultOutput>;

/** Throws DefinitionError when an account lacks a field that the messages need. */
export function compileVaults({ accounts }: ProgramDefinition): VaultReaders {
  const readers = new Map<bigint, (data: Uint8Array, pubkey: Uint8Array, slot: number) => VaultOutput>();
  const [vault, depositor] = [accounts.get('Vault'), accounts.get('VaultDepositor')];
  if (vault) {
    const account = compileAccount(vault);
    const fields = vaultFields(vault.layout);
    readers.set(account.discriminator, (data, pubkey, slot) => {
      return { name: 'VaultState', value: { slot, vault: pubkey, ...read(account, fields, data) } };
    });
  }
  if (depositor) {
    const account = compileAccount(depositor);
    const fields = depositorFields(depositor.layout);
    readers.set(account.discriminator, (data, pubkey, slot) => {
      return { name: 'VaultDepositorState', value: { slot, depositor: pubkey, ...read(account, fields, data) } };
    });
  }
  return readers;
}

type Fields<T> = { readonly [K in keyof T]: Field<T[K]> };

function read<T extends object>(account: CompiledAccount, fields: Fields<T>, data: Uint8Array): T {
  const view = account.open(data);
  const value: Partial<T> = {};
  for (const name of Object.keys(fields) as (keyof T)[]) value[name] = fields[name](view);
  return value as T;
}

/** Compiles readers of members by the program's field names. */
function readersOf(layout: StructLayout) {
  return {
    wide: (name: string) => bigintField(requireField(layout, name)),
    small: (name: string) => numberField(requireField(layout, name)),
    key: (name: string): Field<Uint8Array> => {
      const { offset, size } = requireField(layout, name);
      return (view) => bytesAt(view, offset, size);
    },
    text: (name: string): Field<string> => {
      const { offset, size } = requireField(layout, name);
      return (view) => textAt(view, offset, size);
    },
    flag: (name: string): Field<boolean> => {
      const field = numberField(requireField(layout, name));
      return (view) => field(view) !== 0;
    },
  };
}

function vaultFields(layout: StructLayout): Fields<Omit<VaultState, 'slot' | 'vault'>> {
  const { wide, small, key, flag, text } = readersOf(layout);
  return {
    name: text('name'),
    manager: key('manager'),
    user: key('user'),
    delegate: key('delegate'),
    spotMarketIndex: small('spot_market_index'),
    userShares: wide('user_shares'),
    totalShares: wide('total_shares'),
    sharesBase: small('shares_base'),
    lastFeeUpdateTs: wide('last_fee_update_ts'),
    initTs: wide('init_ts'),
    liquidationStartTs: wide('liquidation_start_ts'),
    redeemPeriod: wide('redeem_period'),
    totalWithdrawRequested: wide('total_withdraw_requested'),
    maxTokens: wide('max_tokens'),
    minDepositAmount: wide('min_deposit_amount'),
    managementFeeRate: wide('management_fee'),
    profitShareRate: small('profit_share'),
    hurdleRate: small('hurdle_rate'),
    permissioned: flag('permissioned'),
    netDeposits: wide('net_deposits'),
    totalDeposits: wide('total_deposits'),
    totalWithdraws: wide('total_withdraws'),
    managerNetDeposits: wide('manager_net_deposits'),
    managerTotalDeposits: wide('manager_total_deposits'),
    managerTotalWithdraws: wide('manager_total_withdraws'),
    managerTotalFee: wide('manager_total_fee'),
    managerTotalProfitShare: wide('manager_total_profit_share'),
    managerRequestShares: wide('last_manager_withdraw_request.shares'),
    managerRequestValue: wide('last_manager_withdraw_request.value'),
    managerRequestTs: wide('last_manager_withdraw_request.ts'),
    hasProtocol: flag('vault_protocol'),
  };
}

function depositorFields(layout: StructLayout): Fields<Omit<VaultDepositorState, 'slot' | 'depositor'>> {
  const { wide, small, key } = readersOf(layout);
  return {
    vault: key('vault'),
    authority: key('authority'),
    vaultShares: wide('vault_shares'),
    vaultSharesBase: small('vault_shares_base'),
    requestShares: wide('last_withdraw_request.shares'),
    requestValue: wide('last_withdraw_request.value'),
    requestTs: wide('last_withdraw_request.ts'),
    netDeposits: wide('net_deposits'),
    totalDeposits: wide('total_deposits'),
    totalWithdraws: wide('total_withdraws'),
    cumulativeProfitShareAmount: wide('cumulative_profit_share_amount'),
    profitShareFeePaid: wide('profit_share_fee_paid'),
  };
}
