import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BorshCoder } from '@coral-xyz/anchor';
import { afterAll, describe, expect, it } from 'vitest';
import { REFERENCE_OFFSETS } from '../../test/support/schemas/reference-offsets.ts';
import { CLOB_NODE_BYTES, CLOB_NODES_OFFSET } from './clob.ts';
import { loadDefinition, type ProgramDefinition, withVaultProgram } from './definition.ts';
import { fieldOf, type StructLayout } from './layout.ts';
import type { OldIdl } from './old-idl.ts';

const velocity = loadDefinition('velocity');
const [exchange, clob, vaults] = velocity.programs as [ProgramDefinition, ProgramDefinition, ProgramDefinition];

const SIZES = {
  User: 4560,
  UserStats: 240,
  PerpMarket: 1560,
  SpotMarket: 1064,
  State: 1752,
  PythLazerOracle: 48,
  PrelaunchOracle: 120,
  ClobHeaderV0: 9640,
  Order: 104,
  SpotPosition: 40,
  PerpPosition: 88,
  PoolBalance: 32,
  HistoricalOracleData: 48,
  HistoricalIndexData: 40,
  InsuranceClaim: 40,
  InsuranceFund: 112,
  HedgeConfig: 16,
  MarketStats: 216,
  AMM: 384,
  FeeStructure: 368,
  FeeTier: 32,
  OracleGuardRails: 48,
  TransactionFeeRails: 20,
  UserFees: 32,
  OrderNodeV0: 104,
  CrankBlock: 1064,
  Vault: 536,
  VaultDepositor: 272,
  VaultProtocol: 128,
  WithdrawRequest: 32,
};

const ACCOUNT_DISCRIMINATORS = {
  User: '9f755fe3ef973aec',
  UserStats: 'b0df881b7a4f20e3',
  PerpMarket: '0adf0c2c6bf537f7',
  SpotMarket: '64b1086ba8414127',
  State: 'd8926b5e684bb6b1',
  PythLazerOracle: '9f07a1f922517985',
  RevenueShare: '3728e4078b34b46e',
  RevenueShareEscrow: '62a7032e4ab1adfc',
  PrelaunchOracle: '5c0e8bea48f4441a',
  ClobHeaderV0: '1efee1d82e7d256d',
  Vault: 'd308e82b02987577',
  VaultDepositor: '576db66a57603fd3',
  VaultProtocol: '6a8205c37e52f935',
};

const EXCHANGE_EVENTS = {
  NewUserRecord: 'ecba71db2a3395f9',
  DeleteUserRecord: '476fbe76070384de',
  DepositRecord: 'b4f1dacf66872c86',
  FundingRateRecord: '4403ff1a855b93fe',
  FundingPaymentRecord: '083b601489c9385f',
  OrderRecord: '681340385915025a',
  OrderActionRecord: 'e0344347c2ed6d01',
  SignedMsgOrderRecord: 'd3c519128e56711b',
  LiquidationRecord: '7f11006cb60de735',
  SettlePnlRecord: '3944691a77c6d559',
  SpotInterestRecord: 'b7bacbbae1bb5f82',
  SwapRecord: 'a2bb7bc28a38faf1',
  InsuranceFundRecord: '38ded7eb4ec56392',
  InsuranceFundStakeRecord: '44429c07d894fa72',
  SpotMarketVaultDepositRecord: 'b2d917bc7fbe2049',
  RevenueShareSettleRecord: '3da2590a18143b2d',
  LPSettleRecord: 'd0bf836ead300702',
  LPSwapRecord: '9f3e82c4604fb0fe',
  LPMintRedeemRecord: '35b28e494e5b5b08',
  LPBorrowLendDepositRecord: 'f2b50b38f33d4fd2',
  AmmCurveChanged: '740c7212af1f9905',
  PerpMarketFeeSweepRecord: '376be368b3087921',
  ProtocolFeeWithdrawRecord: 'f99e34511e0b2d95',
  ProtocolUserWithdrawRecordV0: 'e141bdbab54fea64',
  TransferFeeAndPnlPoolRecord: '5c392d901a56f70c',
  TakerOriginCrossRecordV0: '7cd99d990b682391',
  TakerOriginCrossRecordV1: 'f0232db3cf1b85fe',
  AcceleratedReferralStatusChangedRecord: '5fe3a75d982a025b',
  AcceleratedReferralStatusChangedRecordV0: '3de2779b00641004',
};

const CLOB_EVENTS = {
  OrderPlaceRecordV0: '94831003103bc2e8',
  OrderCancelRecordV0: '3d6680d604baf0fd',
  OrderEvictRecordV0: '0522559e7f24e346',
  OrderExpireRecordV0: '8ce1b2d1d00610eb',
  OrdersCancelRecordV0: '43880f42a1826e6e',
  ExecuteRecordV0: 'c937d99d89446a22',
  FillRecordV0: 'b869390c0e647e91',
  CrankConditionsRecordV0: '18dd0eee9655c984',
  MarketInitializeRecordV0: 'dd1101aae20f679f',
  MarketUpdateRecordV0: '940230c94d26a23a',
  MarketResizeRecordV0: '4b1ac4318d4b7d87',
  MarketCloseRecordV0: 'dd9b18a81107679f',
  MarketAuthorityProposedRecordV0: '2e5abe63a7a5bb68',
  MarketAuthorityAcceptedRecordV0: 'afc5de1d1c6715a6',
};

const VAULT_EVENTS = {
  VaultRecord: '2681158ba4aa1086',
  VaultDepositorRecord: 'b1ac0b4a13d8950b',
  VaultDepositorV1Record: '2435de07694a064c',
  ShareTransferRecord: '9a820ad4ad689ab7',
  FuelSeasonRecord: '13897721e0f90657',
};

function layoutOf(name: string): StructLayout {
  for (const { accounts, types } of velocity.programs) {
    const layout = accounts.get(name)?.layout ?? types.get(name);
    if (layout) return layout;
  }
  throw new Error(`no layout ${name}`);
}

function sha(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function eventNames(program: ProgramDefinition): Record<string, string> {
  return Object.fromEntries([...program.events].map(([hex, { name }]) => [name, hex]));
}

describe('built-in definition', () => {
  it('names the two programs', () => {
    expect(exchange.programId).toBe('vELoC1audYbSYVRXn1vPaV8Axoa9oU6BYmNGZZBDZ1P');
    expect(clob.programId).toBe('BPX47ur8TbgZQgtJcGJvdcQMMFbmBP7ZrhpiUmLuHKqU');
  });

  it.each(Object.entries(SIZES))('knows the size of %s: %i bytes', (name, size) => {
    expect(layoutOf(name).size).toBe(size);
  });

  it.each(Object.entries(REFERENCE_OFFSETS))('places every field of %s at its known offset', (name, text) => {
    const layout = layoutOf(name);
    const wanted = text.trim().split(/\s+/);
    const found = wanted.map((entry) => {
      const [, path = '', type] = entry.split(':');
      const field = fieldOf(layout, path);
      return `${field?.offset}:${path}${type === undefined ? '' : `:${field?.type.kind}`}`;
    });
    expect(found).toEqual(wanted);
    const topLevel = wanted.filter((entry) => !/^\d+:(market_stats|amm)\./.test(entry));
    expect(layout.fields).toHaveLength(topLevel.length);
  });

  it('has no hole and no overlap in any struct', () => {
    for (const program of velocity.programs) {
      for (const layout of [...program.types.values(), ...[...program.accounts.values()].map((a) => a.layout)]) {
        let end = program.accounts.has(layout.name) ? 8 : 0;
        for (const field of layout.fields) {
          expect(`${layout.name}.${field.name} ${field.offset}`).toBe(`${layout.name}.${field.name} ${end}`);
          end += field.size;
        }
        expect(layout.size).toBe(end);
      }
    }
  });

  it('derives the known discriminators from the names', () => {
    const accounts = velocity.programs.flatMap(({ accounts }) => [...accounts.values()]);
    const found = accounts.map(({ name, discriminator }) => [name, Buffer.from(discriminator).toString('hex')]);
    expect(Object.fromEntries(found)).toEqual(ACCOUNT_DISCRIMINATORS);
    expect(eventNames(exchange)).toEqual(EXCHANGE_EVENTS);
    expect(eventNames(clob)).toEqual(CLOB_EVENTS);
    expect(eventNames(vaults)).toEqual(VAULT_EVENTS);
    for (const [name, hex] of found) expect(sha(`account:${name}`)).toBe(hex);
    for (const [name, hex] of Object.entries({ ...EXCHANGE_EVENTS, ...CLOB_EVENTS, ...VAULT_EVENTS })) {
      expect(sha(`event:${name}`)).toBe(hex);
    }
  });

  it('has the same node arena constants as the IDL', () => {
    const constants = Object.fromEntries((clob.idl.constants ?? []).map(({ name, value }) => [name, Number(value)]));
    expect(constants.NODE_COUNT_OFFSET).toBe(layoutOf('ClobHeaderV0').size);
    expect(constants.NODES_OFFSET).toBe(CLOB_NODES_OFFSET);
    expect(constants.NODE_BYTES).toBe(CLOB_NODE_BYTES);
    expect(layoutOf('OrderNodeV0').size).toBe(CLOB_NODE_BYTES);
  });

  it('gives the same sizes as Anchor', () => {
    for (const program of velocity.programs) {
      const coder = new BorshCoder(program.idl);
      for (const { name, layout } of program.accounts.values()) {
        // Anchor counts a byte for each of the two lists and what lies between them.
        const lists = name === 'RevenueShareEscrow' ? 6 : 0;
        expect(coder.accounts.size(name)).toBe(layout.size + lists);
      }
    }
  });

  it('has the vault program under the configured id only', () => {
    const program = withVaultProgram(velocity, clob.programId).programs[2];
    expect(program?.programId).toBe(clob.programId);
    expect(program?.idl.address).toBe(clob.programId);
    expect(program?.accounts).toBe(vaults.accounts);
    expect(withVaultProgram(velocity, '').programs).toEqual([exchange, clob]);
  });

  it('finds the discriminator of an event from Anchor', () => {
    const record = Buffer.alloc(8 + 8 + 2 + 24);
    record.write(EXCHANGE_EVENTS.PerpMarketFeeSweepRecord, 'hex');
    record.writeBigInt64LE(1_700_000_000n, 8);
    record.writeUInt16LE(7, 16);
    const event = new BorshCoder(exchange.idl).events.decode(record.toString('base64'));
    expect(event?.name).toBe('PerpMarketFeeSweepRecord');
    expect(event?.data.market_index).toBe(7);
  });

  it('finds fields inside structs and lists, and returns null for a missing one', () => {
    const user = layoutOf('User');
    expect(fieldOf(user, 'orders.2.price')?.offset).toBe(1128 + 2 * 104 + 8);
    expect(fieldOf(user, 'orders.32.price')).toBeNull();
    expect(fieldOf(user, 'authority.x')).toBeNull();
    expect(fieldOf(layoutOf('PerpMarket'), 'amm.mm_oracle_price')).toBeNull();
  });
});

describe('definition files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'definition-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const old: OldIdl = {
    name: 'drift',
    version: '2.0.0',
    accounts: [
      {
        name: 'Thing',
        type: {
          kind: 'struct',
          fields: [
            { name: 'authority', type: 'publicKey' },
            { name: 'sqrtK', type: 'u128' },
            { name: 'last24hAvgFundingRate', type: 'i64' },
            { name: 'lastMarkPriceTwap5min', type: 'u64' },
            { name: 'oracleSource', type: { defined: 'Source' } },
            { name: 'padding', type: { array: ['u8', 7] } },
            { name: 'parts', type: { array: [{ defined: 'Part' }, 2] } },
            { name: 'list', type: { vec: 'u32' } },
            { name: 'after', type: 'u8' },
          ],
        },
      },
    ],
    types: [
      { name: 'Part', type: { kind: 'struct', fields: [{ name: 'openOrders', type: 'u16' }] } },
      { name: 'Source', type: { kind: 'enum', variants: [{ name: 'QuoteAsset' }, { name: 'Pyth1KPull' }] } },
      { name: 'Choice', type: { kind: 'enum', variants: [{ name: 'ById', fields: ['u32'] }] } },
      { name: 'Argument', type: { kind: 'struct', fields: [{ name: 'choice', type: { defined: 'Choice' } }] } },
    ],
    events: [{ name: 'FillRecord', fields: [{ name: 'takerOrderId', type: { option: 'u32' } }] }],
  };

  function load(name: string, idl: unknown): ProgramDefinition {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, JSON.stringify(idl));
    return loadDefinition(path).programs[0] as ProgramDefinition;
  }

  it('converts an older file to the current format, with the known program id', () => {
    const program = load('old', old);
    expect(program.programId).toBe('dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH');
    const thing = program.accounts.get('Thing');
    expect(Buffer.from(thing?.discriminator ?? []).toString('hex')).toBe(sha('account:Thing'));
    expect(thing?.layout.fields.map(({ name, offset }) => `${offset}:${name}`)).toEqual([
      '8:authority',
      '40:sqrt_k',
      '56:last_24h_avg_funding_rate',
      '64:last_mark_price_twap_5min',
      '72:oracle_source',
      '73:padding',
      '80:parts',
    ]);
    expect(thing?.layout.fields[4]?.type).toEqual({
      kind: 'enum',
      name: 'Source',
      variants: ['quoteAsset', 'pyth1KPull'],
    });
    expect(thing?.layout.size).toBe(84);
    const event = program.events.get(sha('event:FillRecord'));
    expect(event?.fields).toEqual([{ name: 'taker_order_id', type: { kind: 'option', element: { kind: 'u32' } } }]);
    expect(new BorshCoder(program.idl).accounts.accountDiscriminator('Thing')).toHaveLength(8);
  });

  it('uses the address of an older file', () => {
    expect(load('other', { ...old, name: 'fork', metadata: { address: exchange.programId } }).programId).toBe(
      exchange.programId,
    );
  });

  it('refuses a file that names no program, and names the file', () => {
    expect(() => load('nobody', { ...old, name: 'nobody' })).toThrow(/nobody\.json: .*no program address/);
    expect(() => loadDefinition(join(folder, 'absent.json'))).toThrow(/absent\.json/);
  });

  it('refuses an event with an undefined type', () => {
    const idl = { ...old, events: [{ name: 'BadRecord', fields: [{ name: 'x', type: { defined: 'Gone' } }] }] };
    expect(() => load('bad', idl)).toThrow(/Gone is not defined/);
  });

  it('reads several files as one definition', () => {
    load('first', old);
    load('second', { ...old, metadata: { address: clob.programId } });
    const definition = loadDefinition(`${join(folder, 'first.json')},${join(folder, 'second.json')}`);
    expect(definition.name).toBe('first+second');
    expect(definition.programs.map(({ programId }) => programId)).toEqual([
      'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH',
      clob.programId,
    ]);
  });
});
