// Reads states without an event: accounts of builders, and the insurance fund of a spot market.

import {
  type AccountDefinition,
  type InsuranceFundState,
  type ProgramDefinition,
  PUBKEY_BYTES,
  type RevenueShareEscrowState,
  type RevenueShareState,
  type StructLayout,
  sizeOf,
} from '../../schemas/index.ts';
import { AccountError, compileAccount } from './account.ts';
import { DefinitionError, findField, requireField } from './layout.ts';
import { bigintField, bytesAt, type Field } from './values.ts';

export type PlainOutput =
  | { readonly name: 'RevenueShareState'; readonly value: RevenueShareState }
  | { readonly name: 'RevenueShareEscrowState'; readonly value: RevenueShareEscrowState }
  | { readonly name: 'InsuranceFundState'; readonly value: InsuranceFundState };

/** Readers by discriminator. A reader throws AccountError for data that is too short. */
export type BuilderReaders = ReadonlyMap<bigint, (data: Uint8Array, pubkey: Uint8Array, slot: number) => PlainOutput>;

/** Length of a list of borsh. */
const LENGTH_BYTES = 4;
/** The program limits both lists of an escrow to 128. */
const MAX_ENTRIES = 128;

/** Empty when the definition has no builder accounts. Throws DefinitionError when one lacks a field. */
export function compileBuilders(program: ProgramDefinition): BuilderReaders {
  const readers = new Map<bigint, (data: Uint8Array, pubkey: Uint8Array, slot: number) => PlainOutput>();
  const [share, escrow] = [program.accounts.get('RevenueShare'), program.accounts.get('RevenueShareEscrow')];
  if (share) {
    const { account, read } = compileShare(share);
    readers.set(account.discriminator, (data, pubkey, slot) => {
      return { name: 'RevenueShareState', value: { slot, account: pubkey, ...read(account.open(data)) } };
    });
  }
  if (escrow) {
    const { account, read } = compileEscrow(escrow, program);
    readers.set(account.discriminator, (data, pubkey, slot) => {
      return { name: 'RevenueShareEscrowState', value: { slot, account: pubkey, ...read(account.open(data)) } };
    });
  }
  return readers;
}

function compileShare(definition: AccountDefinition) {
  const { layout } = definition;
  const authority = keyField(layout, 'authority');
  const referrer = bigintField(requireField(layout, 'total_referrer_rewards'));
  const builder = bigintField(requireField(layout, 'total_builder_rewards'));
  const read: Field<Omit<RevenueShareState, 'slot' | 'account'>> = (view) => ({
    authority: authority(view),
    totalReferrerRewards: referrer(view),
    totalBuilderRewards: builder(view),
  });
  return { account: compileAccount(definition), read };
}

/** The layout ends before the two lists: orders, then four bytes, then builders. */
function compileEscrow(definition: AccountDefinition, program: ProgramDefinition) {
  const { layout } = definition;
  const authority = keyField(layout, 'authority');
  const referrer = keyField(layout, 'referrer');
  const order = typeOf(program, 'RevenueShareOrder');
  const builder = typeOf(program, 'BuilderInfo');
  const keyAt = requireField(builder, 'authority').offset;
  const feeAt = requireField(builder, 'max_fee_tenth_bps').offset;
  const read: Field<Omit<RevenueShareEscrowState, 'slot' | 'account'>> = (view) => {
    const orders = listAt(view, layout.size, order.size);
    const builders = listAt(view, orders.end + LENGTH_BYTES, builder.size);
    return {
      authority: authority(view),
      referrer: referrer(view),
      approvedBuilders: Array.from({ length: builders.length }, (_, index) => {
        const at = builders.start + index * builder.size;
        return { authority: bytesAt(view, at + keyAt, PUBKEY_BYTES), maxFeeTenthBps: view.getUint16(at + feeAt, true) };
      }),
    };
  };
  return { account: compileAccount(definition), read };
}

function typeOf({ types }: ProgramDefinition, name: string): StructLayout {
  const layout = types.get(name);
  if (!layout) throw new DefinitionError(`the definition has no type ${name}`);
  return layout;
}

function keyField(layout: StructLayout, name: string): Field<Uint8Array> {
  const { offset, type } = requireField(layout, name);
  return (view) => bytesAt(view, offset, sizeOf(type));
}

/** Throws AccountError for a list that does not fit into the account. */
function listAt(view: DataView, at: number, entryBytes: number) {
  const start = at + LENGTH_BYTES;
  const length = start <= view.byteLength ? view.getUint32(at, true) : MAX_ENTRIES + 1;
  const end = start + length * entryBytes;
  if (length > MAX_ENTRIES || end > view.byteLength) {
    throw new AccountError('wrong_length', `a list of RevenueShareEscrow at ${at} does not fit`);
  }
  return { start, length, end };
}

/** The fund's unstaking period in seconds; null when the definition's SpotMarket has none. */
export function compileUnstakingPeriod({ layout }: AccountDefinition): Field<bigint> | null {
  const field = findField(layout, 'insurance_fund.unstaking_period');
  return field && bigintField(field);
}
