// The exchange program as its IDL describes it: instructions, accounts, errors and addresses. The same code serves each
// deployment that the chain definition names.

import type { Idl } from '@coral-xyz/anchor';
import anchor from '@coral-xyz/anchor';
import { type AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { type ChainDefinition, variantName } from '../../../schemas/index.ts';

export const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
export const TOKEN_2022_PROGRAM = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
export const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');

export interface ProgramError {
  readonly code: number;
  readonly name: string;
  readonly text: string;
}

/** Values of instruction arguments: bigint for 64 bits, keys, variants as camelCase text, null for none. */
export type Arguments = Readonly<Record<string, unknown>>;

type IdlType = NonNullable<Idl['instructions'][number]['args']>[number]['type'];

/** Discriminated text in front of a message that a wallet signs off-chain. */
type TypesCoder = { encode(name: string, value: unknown): Buffer };

export class ExchangeProgram {
  readonly programId: PublicKey;
  readonly #idl: Idl;
  readonly #instructions: anchor.BorshInstructionCoder;
  readonly #accounts: anchor.BorshAccountsCoder;
  readonly #types: TypesCoder;
  readonly #errors: ReadonlyMap<number, ProgramError>;
  /** `velocity_` or `drift_`: two seeds carry the name of the deployment. */
  readonly #seedPrefix: string;

  /** Throws an Error when no program of the definition is an exchange. */
  constructor(definition: ChainDefinition) {
    const exchange = definition.programs.find((program) => program.accounts.has('PerpMarket'));
    if (!exchange) throw new Error(`the chain definition ${definition.name} has no exchange program`);
    this.programId = new PublicKey(exchange.programId);
    this.#idl = exchange.idl;
    this.#instructions = new anchor.BorshInstructionCoder(exchange.idl);
    this.#accounts = new anchor.BorshAccountsCoder(exchange.idl);
    this.#types = new anchor.BorshCoder(exchange.idl).types;
    this.#seedPrefix = exchange.idl.metadata.name;
    this.#errors = new Map(
      (exchange.idl.errors ?? []).map(({ code, name, msg }) => [code, { code, name, text: msg ?? name }]),
    );
  }

  /** Whether the definition has all instructions that a transaction needs. */
  get canTransact(): boolean {
    return this.hasInstruction('place_perp_order');
  }

  hasInstruction(name: string): boolean {
    return this.#idl.instructions.some((instruction) => instruction.name === name);
  }

  /** Whether a struct of the IDL has this field. */
  hasField(type: string, field: string): boolean {
    return this.#fieldType(type, field) !== undefined;
  }

  /** Whether an integer fits into a field of a struct, which deployments have in different sizes. */
  fits(type: string, field: string, value: bigint): boolean {
    const found = this.#fieldType(type, field);
    const plain = typeof found === 'object' && 'option' in found ? found.option : found;
    const [, sign, bits = '0'] = /^([iu])(\d+)$/.exec(String(plain)) ?? [];
    const fitting = sign === 'i' ? BigInt.asIntN(Number(bits), value) : BigInt.asUintN(Number(bits), value);
    return fitting === value;
  }

  #fieldType(type: string, field: string): IdlType | undefined {
    const body = this.#idl.types?.find(({ name }) => name === type)?.type;
    const fields = body?.kind === 'struct' ? (body.fields ?? []) : [];
    return (fields as { readonly name: string; readonly type: IdlType }[]).find(({ name }) => name === field)?.type;
  }

  errorOf(code: number): ProgramError | null {
    return this.#errors.get(code) ?? null;
  }

  /**
   * An instruction with its named accounts in the order of the IDL and `remaining` after them. Throws an Error for an account
   * that is not given.
   */
  instruction(
    name: string,
    args: Arguments,
    accounts: Readonly<Record<string, PublicKey>>,
    remaining: readonly AccountMeta[] = [],
  ): TransactionInstruction {
    const definition = this.#idl.instructions.find((instruction) => instruction.name === name);
    if (!definition) throw new Error(`the chain definition has no instruction ${name}`);
    const keys = definition.accounts.map((account) => {
      const pubkey = accounts[account.name];
      if (pubkey === undefined) throw new Error(`instruction ${name} lacks account ${account.name}`);
      return {
        pubkey,
        isSigner: 'signer' in account && account.signer === true,
        isWritable: 'writable' in account && account.writable === true,
      };
    });
    const values = Object.fromEntries(
      definition.args.map((arg) => [arg.name, this.#toAnchor(arg.type, args[arg.name] ?? null)]),
    );
    const data = this.#instructions.encode(name, values);
    return new TransactionInstruction({ programId: this.programId, keys: [...keys, ...remaining], data });
  }

  /** Borsh bytes of a type of the IDL, without a discriminator. */
  encodeType(name: string, value: unknown): Buffer {
    return this.#types.encode(name, this.#toAnchor({ defined: { name } }, value));
  }

  /** Fields of an account by their names in the IDL. Throws an Error for another kind of account. */
  decode(name: string, data: Buffer): Record<string, unknown> {
    return this.#accounts.decode(name, data) as Record<string, unknown>;
  }

  address(...seeds: (string | Buffer)[]): PublicKey {
    const bytes = seeds.map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : seed));
    return PublicKey.findProgramAddressSync(bytes, this.programId)[0];
  }

  get state(): PublicKey {
    return this.address(`${this.#seedPrefix}_state`);
  }

  /** Authority of the vaults. */
  get signer(): PublicKey {
    return this.address(`${this.#seedPrefix}_signer`);
  }

  /** Name of that account in the IDL. */
  get signerAccount(): string {
    return `${this.#seedPrefix}_signer`;
  }

  perpMarket(index: number): PublicKey {
    return this.address('perp_market', u16(index));
  }

  spotMarket(index: number): PublicKey {
    return this.address('spot_market', u16(index));
  }

  userStats(authority: PublicKey): PublicKey {
    return this.address('user_stats', authority.toBuffer());
  }

  revenueShare(authority: PublicKey): PublicKey {
    return this.address('REV_SHARE', authority.toBuffer());
  }

  revenueShareEscrow(authority: PublicKey): PublicKey {
    return this.address('REV_ESCROW', authority.toBuffer());
  }

  /** Anchor's form of a value: BN for large integers, an object for a variant. Absent members of a struct become null. */
  #toAnchor(type: IdlType, value: unknown): unknown {
    if (typeof type === 'string') return typeof value === 'bigint' ? new anchor.BN(value.toString()) : value;
    if ('option' in type) return value === null || value === undefined ? null : this.#toAnchor(type.option, value);
    if ('vec' in type) return (value as readonly unknown[]).map((one) => this.#toAnchor(type.vec, one));
    if ('array' in type) return (value as readonly unknown[]).map((one) => this.#toAnchor(type.array[0], one));
    if ('defined' in type) return this.#definedToAnchor(type.defined.name, value);
    return value;
  }

  #definedToAnchor(name: string, value: unknown): unknown {
    const body = this.#idl.types?.find((type) => type.name === name)?.type;
    if (body?.kind === 'enum') {
      const variant = body.variants.find((one) => variantName(one.name) === value);
      if (!variant) throw new Error(`type ${name} has no variant ${String(value)}`);
      return { [variant.name]: {} };
    }
    if (body?.kind !== 'struct') throw new Error(`the chain definition has no type ${name}`);
    const given = value as Record<string, unknown>;
    const fields = (body.fields ?? []) as { name: string; type: IdlType }[];
    return Object.fromEntries(
      fields.map((field) => [field.name, this.#toAnchor(field.type, given[field.name] ?? null)]),
    );
  }
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

export function associatedTokenAddress(owner: PublicKey, mint: PublicKey, tokenProgram: PublicKey): PublicKey {
  const seeds = [owner, tokenProgram, mint].map((key) => key.toBuffer());
  return PublicKey.findProgramAddressSync(seeds, ASSOCIATED_TOKEN_PROGRAM)[0];
}
