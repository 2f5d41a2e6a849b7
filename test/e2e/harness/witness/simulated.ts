// The simulated cluster with a small scripted exchange, as the other side of the comparison.

import type { RunningLocalnet } from '../../../../localnet/index.ts';
import { ACCOUNT_COUNT, accountKey, key, PROGRAM } from '../../../support/localnet/fake-exchange.ts';
import { ask, startFake } from '../../../support/localnet/test-client.ts';
import type { Subjects } from './calls.ts';
import type { GenesisAccount } from './validator.ts';

/** Enough for a finalized block with transactions, and for tables in use. */
const SLOTS = 80;

interface Listed {
  readonly signature: string;
  readonly slot: number;
  readonly err: unknown;
}

export async function startSimulated(): Promise<RunningLocalnet> {
  const net = await startFake({ profile: 'mainnet' });
  await net.step(SLOTS);
  return net;
}

export async function simulatedSubjects({ rpcUrl }: RunningLocalnet): Promise<Subjects> {
  const wallet = key('payer');
  const config = { commitment: 'confirmed' };
  const listed = await ask<Listed[]>(rpcUrl, 'getSignaturesForAddress', [wallet, config]);
  const loads = async ({ signature }: Listed): Promise<boolean> => {
    const { meta } = await ask<{ meta: { loadedAddresses: { writable: string[] } } }>(rpcUrl, 'getTransaction', [
      signature,
      { ...config, maxSupportedTransactionVersion: 0 },
    ]);
    return meta.loadedAddresses.writable.length > 0;
  };
  let lookup: Listed | undefined;
  for (const one of listed) if (one.err === null && lookup === undefined && (await loads(one))) lookup = one;
  const failed = listed.find(({ err }) => err !== null);
  if (lookup === undefined || failed === undefined) throw new Error('the simulated chain lacks a transaction');
  return {
    program: PROGRAM,
    accounts: Array.from({ length: ACCOUNT_COUNT }, (_, index) => accountKey(index)),
    wallet,
    signature: listed.at(-1)?.signature ?? '',
    lookupSignature: lookup.signature,
    failedSignature: failed.signature,
    slot: lookup.slot,
    tip: await ask<number>(rpcUrl, 'getSlot', [config]),
  };
}

/** The program's accounts as the simulated chain has them at `confirmed`. */
export async function simulatedAccounts({ rpcUrl }: RunningLocalnet): Promise<GenesisAccount[]> {
  const found = await ask<{ pubkey: string; account: { lamports: number; owner: string; data: [string, string] } }[]>(
    rpcUrl,
    'getProgramAccounts',
    [PROGRAM, { commitment: 'confirmed', encoding: 'base64' }],
  );
  return found.map(({ pubkey, account: { lamports, owner, data } }) => ({ pubkey, owner, lamports, data: data[0] }));
}
