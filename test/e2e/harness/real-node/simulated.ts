// The simulated cluster with a small scripted exchange, as the other side of the comparison.

import type { LocalnetOptions, RunningLocalnet } from '../../../../localnet/index.ts';
import { ACCOUNT_COUNT, accountKey, key, PROGRAM } from '../../../support/localnet/fake-exchange.ts';
import { ask, startFake } from '../../../support/localnet/test-client.ts';
import { FAKE_KIND, FINALIZED, type Subjects, V0 } from './call.ts';
import type { Changing } from './subscriptions.ts';
import type { GenesisAccount } from './validator.ts';

/** Enough for finalized blocks with transactions, for tables in use, and for a skipped slot between. */
const SLOTS = 200;

interface Listed {
  readonly signature: string;
  readonly slot: number;
  readonly err: unknown;
}

export async function startSimulated(options: LocalnetOptions = {}): Promise<RunningLocalnet> {
  const net = await startFake({ profile: 'mainnet', ...options });
  await net.step(SLOTS);
  return net;
}

export async function simulatedSubjects({ rpcUrl }: RunningLocalnet): Promise<Subjects> {
  const wallet = key('payer');
  const config = { commitment: 'confirmed' };
  const listed = (await ask<Listed[]>(rpcUrl, 'getSignaturesForAddress', [wallet, config])).reverse();
  const failed = listed.findLast(({ err }) => err !== null);
  const loading = await firstLoading(
    rpcUrl,
    listed.filter(({ err }) => err === null),
  );
  if (loading === null || failed === undefined) throw new Error('the simulated chain lacks a transaction');
  return {
    program: PROGRAM,
    accounts: Array.from({ length: ACCOUNT_COUNT }, (_, index) => accountKey(index)),
    wallet,
    signature: listed[0]?.signature ?? '',
    lookupSignature: loading.signature,
    lookedUp: loading.lookedUp,
    failedSignature: failed.signature,
    slot: loading.slot,
    skippedSlot: await skippedSlot(rpcUrl, loading.slot),
    tip: await ask<number>(rpcUrl, 'getSlot', [config]),
  };
}

/** The first transaction with a key from a lookup table. */
async function firstLoading(rpcUrl: string, listed: readonly Listed[]) {
  for (const { signature, slot } of listed) {
    const { meta } = await ask<{ meta: { loadedAddresses: { writable: string[] } } }>(rpcUrl, 'getTransaction', [
      signature,
      V0,
    ]);
    const [lookedUp] = meta.loadedAddresses.writable;
    if (lookedUp !== undefined) return { signature, slot, lookedUp };
  }
  return null;
}

/** The first slot without a block from `fromSlot` on. */
async function skippedSlot(rpcUrl: string, fromSlot: number): Promise<number> {
  const slots = await ask<number[]>(rpcUrl, 'getBlocks', [fromSlot, null, FINALIZED]);
  const skipped = slots.findIndex((slot, index) => slot !== fromSlot + index);
  if (skipped < 0) throw new Error('the chain has no skipped slot');
  return fromSlot + skipped;
}

/** What changes on it with every step: half of its accounts are of the kind. */
export const SIMULATED_CHANGES: Changing = {
  program: PROGRAM,
  wallet: accountKey(0),
  kind: { program: PROGRAM, bytes: FAKE_KIND },
};

/** The program's accounts as the simulated chain has them at `confirmed`. */
export async function simulatedAccounts({ rpcUrl }: RunningLocalnet): Promise<GenesisAccount[]> {
  const found = await ask<{ pubkey: string; account: { lamports: number; owner: string; data: [string, string] } }[]>(
    rpcUrl,
    'getProgramAccounts',
    [PROGRAM, { commitment: 'confirmed', encoding: 'base64' }],
  );
  return found.map(({ pubkey, account: { lamports, owner, data } }) => ({ pubkey, owner, lamports, data: data[0] }));
}
