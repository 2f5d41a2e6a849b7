// Wallet signatures of the history service: the claims of the log, and accounts from the cluster.

import type { RoleContext } from '../../../platform/index.ts';
import { IngestedSlot } from '../../views/ingested-slot.ts';
import { RpcAccountSource } from './account-source.ts';
import { SignatureClaims } from './claims.ts';
import { type WalletAuth, type WalletParts, Wallets } from './wallets.ts';

export interface RunningWallets {
  readonly auth: WalletAuth;
  /** Settles when following ends. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** Rejects when the log cannot be read. */
export async function startWallets(
  ctx: RoleContext,
  { now, count }: Pick<WalletParts, 'now' | 'count'>,
): Promise<RunningWallets> {
  const { config } = ctx;
  const claims = new SignatureClaims({ ...ctx, now });
  const slots = new IngestedSlot(ctx);
  const accounts = new RpcAccountSource({
    rpcUrl: config.source === 'capture' ? '' : config.rpcUrl,
    definition: config.definition,
    ingestedSlot: () => slots.slot,
  });
  await Promise.all([claims.start(), slots.start()]);
  return {
    auth: new Wallets({ accounts, claims, now, ...(count ? { count } : {}) }),
    done: Promise.all([claims.done, slots.done]).then(() => {}),
    stop: async () => {
      await Promise.all([claims.stop(), slots.stop()]);
    },
  };
}
