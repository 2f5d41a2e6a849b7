import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMessage, loadDefinition, snakeCase, withVaultProgram } from '../../schemas/index.ts';
import { blankAccount, randomAccount, setField } from '../../test/support/ingest/bytes.ts';
import type { Output } from '../diff/output.ts';
import { Differ } from '../differ.ts';
import { compileReaders } from '../readers.ts';
import { accountFilters } from '../rpc/account-filters.ts';
import type { AccountUpdate } from '../source.ts';
import { compileAccount } from './account.ts';
import { compileVaults } from './vault.ts';

const PROGRAM = bs58.encode(new Uint8Array(32).fill(9));
const definition = withVaultProgram(loadDefinition('velocity'), PROGRAM);
const program = definition.programs.find(({ programId }) => programId === PROGRAM);
if (!program) throw new Error('no vault program');
const accountOf = (name: string) => {
  const account = program.accounts.get(name);
  if (!account) throw new Error(`no ${name}`);
  return account;
};
const [VAULT, DEPOSITOR] = [accountOf('Vault'), accountOf('VaultDepositor')];
const KEY = new Uint8Array(32).fill(5);
const readers = compileVaults(program);
const readerOf = (account: typeof VAULT) => {
  const read = readers.get(compileAccount(account).discriminator);
  if (!read) throw new Error(`no reader of ${account.name}`);
  return read;
};

/** Program fields whose name differs from the message member. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  managementFeeRate: 'management_fee',
  profitShareRate: 'profit_share',
  hasProtocol: 'vault_protocol',
};

function placeOf(member: string): readonly string[] {
  const request = /^(manager_)?request_(\w+)$/.exec(snakeCase(member));
  if (!request) return [ELSEWHERE[member] ?? snakeCase(member)];
  return [request[1] ? 'last_manager_withdraw_request' : 'last_withdraw_request', request[2] ?? ''];
}

function update(account: typeof VAULT, data: Uint8Array, slot: number, owner = PROGRAM): AccountUpdate {
  const pubkey = Uint8Array.from(account.discriminator).fill(account === VAULT ? 1 : 2);
  return {
    kind: 'account',
    slot,
    writeVersion: null,
    pubkey: Uint8Array.from({ length: 32 }, (_, index) => pubkey[index] ?? 0),
    owner: bs58.decode(owner),
    data,
  };
}

describe('vault accounts', () => {
  it.each([VAULT, DEPOSITOR])('yield messages with the values of a full decode of $name, for any bytes', (account) => {
    const whole = compileAccount(account);
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const bytes = randomAccount(account, seed);
        if (account === VAULT) setField(bytes, account.layout, 'name', Buffer.from('Basis One'.padEnd(32)));
        const { name, value } = readerOf(account)(bytes, KEY, 77);
        const { slot, ...members } = value;
        expect(slot).toBe(77);
        const decoded = whole.decode(bytes);
        for (const [member, found] of Object.entries(members)) {
          const isKey = (account === VAULT ? 'vault' : 'depositor') === member;
          const expected = placeOf(member).reduce<unknown>(
            (at, step) => (at as Record<string, unknown>)[step],
            decoded,
          );
          expect(found, member).toEqual(isKey ? KEY : member === 'name' ? 'Basis One' : expected);
        }
        if (name === 'VaultState') expect(encodeMessage(name, value).length).toBeGreaterThan(0);
        else expect(encodeMessage(name, value).length).toBeGreaterThan(0);
      }),
      { numRuns: 30 },
    );
  });

  it('are emitted in full by the first read, then only when they change', () => {
    const differ = new Differ(compileReaders(definition), () => KEY);
    const emitted: Output[] = [];
    const take = (output: Output) => emitted.push(output);
    const vault = blankAccount(VAULT);
    setField(vault, VAULT.layout, 'total_shares', 100n);
    differ.snapshotBegin();
    differ.account(update(VAULT, vault, 5), take);
    differ.account(update(DEPOSITOR, blankAccount(DEPOSITOR), 5), take);
    expect(emitted).toEqual([]);
    differ.snapshotEnd(5, take);
    expect(emitted.map(({ name }) => name).sort()).toEqual(['VaultDepositorState', 'VaultState']);
    emitted.length = 0;
    differ.account(update(VAULT, Uint8Array.from(vault), 6), take);
    expect(emitted).toEqual([]);
    const grown = Uint8Array.from(vault);
    setField(Buffer.from(grown.buffer), VAULT.layout, 'total_shares', 101n);
    differ.account(update(VAULT, grown, 7), take);
    differ.account(update(VAULT, vault, 6), take);
    expect(emitted).toMatchObject([{ name: 'VaultState', value: { slot: 7, totalShares: 101n } }]);
  });

  it('count only under the configured program', () => {
    const emitted: Output[] = [];
    const differ = new Differ(compileReaders(definition), () => KEY);
    differ.account(update(VAULT, blankAccount(VAULT), 5, bs58.encode(KEY)), (output) => emitted.push(output));
    expect(emitted.map(({ name }) => name)).toEqual(['DeadLetter']);
    const filters = accountFilters(definition).filter(({ name }) => name.startsWith('Vault'));
    expect(filters.map((one) => [one.program, one.name])).toEqual([
      [PROGRAM, 'Vault'],
      [PROGRAM, 'VaultDepositor'],
    ]);
    expect(accountFilters(withVaultProgram(definition, '')).some(({ name }) => name.startsWith('Vault'))).toBe(false);
  });
});
