// User accounts decoded by ingest beside Anchor's coder, in one run over the same bytes.
// `npm run bench decode`; one JSON line per figure. Network and log are not measured.

import { BorshAccountsCoder, type Idl } from '@coral-xyz/anchor';
import { compileAccount, compileReaders, compileUser, Differ, type UserReader } from '../../ingest/index.ts';
import { type AccountDefinition, loadDefinition } from '../../schemas/index.ts';
import { randomAccount, setField } from '../support/ingest/bytes.ts';
import { report } from './harness/report.ts';

const ACCOUNTS = 200;
const OPEN_ORDERS = 8;
const ROUND_MS = 1_000;
const ROUNDS = 3;

function accountsOf(definition: AccountDefinition): Buffer[] {
  return Array.from({ length: ACCOUNTS }, (_, seed) => {
    const bytes = randomAccount(definition, seed + 1);
    for (let slot = 0; slot < 32; slot++) {
      setField(bytes, definition.layout, `orders.${slot}.status`, slot < OPEN_ORDERS ? 'open' : 'init');
      setField(bytes, definition.layout, `orders.${slot}.bit_flags`, 0);
    }
    return bytes;
  });
}

/** Reads the parts of a new account that ingest needs: open orders, used positions, flags. Returns a checksum. */
function readNeeded(user: UserReader, data: Buffer): number {
  const view = user.account.open(data);
  let sum = user.subAccountId(view) + user.authority(view).length;
  for (let slot = 0; slot < user.orders.length; slot++) {
    if (user.isResting(view, slot)) sum += user.order(view, slot)?.orderId ?? 0;
  }
  for (let index = 0; index < user.positions.length; index++) {
    if (user.isPositionUsed(view, index)) sum += user.position(view, index).marketIndex;
  }
  return sum;
}

/** Best of some rounds, accounts per second. */
function measure(accounts: readonly Buffer[], decode: (data: Buffer) => unknown): number {
  for (const data of accounts) decode(data);
  let best = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const startMs = performance.now();
    let count = 0;
    while (performance.now() - startMs < ROUND_MS) {
      for (const data of accounts) decode(data);
      count += accounts.length;
    }
    best = Math.max(best, (count * 1000) / (performance.now() - startMs));
  }
  return best;
}

const definition = loadDefinition('velocity');
const program = definition.programs.find(({ accounts }) => accounts.has('User'));
const userDefinition = program?.accounts.get('User');
if (!program || !userDefinition) throw new Error('the definition has no User account');
const accounts = accountsOf(userDefinition);
const user = compileUser(userDefinition);
const full = compileAccount(userDefinition);
const coder = new BorshAccountsCoder(program.idl as Idl);

const anchor = measure(accounts, (data) => coder.decode('User', data));
const whole = measure(accounts, (data) => full.decode(data));
const needed = measure(accounts, (data) => readNeeded(user, data));

// A live update: one order of a known account has changed.
const pubkey = new Uint8Array(32).fill(7);
const owner = new Uint8Array(32);
const first = accounts[0] ?? Buffer.alloc(0);
const variants = [first, Buffer.from(first)];
setField(variants[1] ?? first, userDefinition.layout, 'orders.3.price', 123_456n);
let slot = 0;
const differ = new Differ(compileReaders(definition), () => pubkey);
const exchangeId = (await import('bs58')).default.decode(program.programId);
owner.set(exchangeId);
const update = measure([first], () => {
  const data = variants[++slot & 1] ?? first;
  differ.account({ kind: 'account', slot, writeVersion: null, pubkey, owner, data }, () => {});
});

const beside = {
  anchorPerSecond: Math.round(anchor),
  bytes: full.bytes,
  openOrders: OPEN_ORDERS,
  node: process.version,
};
report({ name: 'decode: what ingest needs of a User account', value: needed, unit: 'accounts/s', beside });
report({
  name: 'decode: ratio to Anchor, what ingest needs',
  value: needed / anchor,
  unit: 'x',
  beside,
  bar: { atLeast: 20 },
});
report({ name: 'decode: every field of a User account', value: whole, unit: 'accounts/s', beside });
report({ name: 'decode: ratio to Anchor, every field', value: whole / anchor, unit: 'x', beside });
report({ name: 'decode: live update of one order, diffed', value: update, unit: 'accounts/s', beside });
