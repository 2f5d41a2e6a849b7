// A wallet on a simulated cluster inside the test: it is funded, and its transactions are built with the service's own code.

import { Connection, Keypair, PublicKey, type TransactionInstruction, VersionedTransaction } from '@solana/web3.js';
import { assemble } from '../../../api/history/transactions/assemble.ts';
import type { Exchange } from '../../../api/history/transactions/calls.ts';
import { RpcChain } from '../../../api/history/transactions/chain.ts';
import { ExchangeProgram } from '../../../api/history/transactions/program.ts';
import type { RunningLocalnet } from '../../../localnet/index.ts';
import { loadDefinition } from '../../../schemas/index.ts';

export const PROGRAM = new ExchangeProgram(loadDefinition('velocity'));

export interface TestWallet {
  readonly key: Keypair;
  /** Key of its first user account. */
  readonly account: PublicKey;
  readonly chain: RpcChain;
  readonly connection: Connection;
  exchange(): Promise<Exchange>;
  /** A signed transaction of the instructions, with the newest blockhash. */
  signed(instructions: readonly TransactionInstruction[]): Promise<Uint8Array>;
}

/** Funds a new wallet with 10 SOL and 10,000 USDT and opens its account. Makes two slots. */
export async function fundedWallet(localnet: RunningLocalnet, seed = 1): Promise<TestWallet> {
  const key = Keypair.fromSeed(Uint8Array.from({ length: 32 }, (_, index) => (index + seed) & 0xff));
  const wish = {
    wallet: key.publicKey.toBase58(),
    lamports: 10_000_000_000,
    tokens: [{ spotMarketIndex: 0, amount: '10000000000' }],
    openAccount: true,
  };
  await rpc(localnet, 'localnet_fund', wish);
  await localnet.step(2);
  return walletOn(localnet, key);
}

/** The wallet of a key that is already funded. */
export function walletOn(localnet: RunningLocalnet, key: Keypair): TestWallet {
  const chain = new RpcChain({
    program: PROGRAM,
    rpcUrl: localnet.rpcUrl,
    lookupTables: [new PublicKey(localnet.lookupTable)],
  });
  return {
    key,
    account: PROGRAM.address('user', key.publicKey.toBuffer(), Buffer.alloc(2)),
    chain,
    connection: new Connection(localnet.rpcUrl, 'confirmed'),
    exchange: async () => ({ program: PROGRAM, markets: await chain.markets() }),
    signed: async (instructions) => {
      const made = await assemble(chain, { payer: key.publicKey, instructions, unitPrice: 1, simulate: false });
      if (!(made instanceof VersionedTransaction)) throw new Error(made.error);
      made.sign([key]);
      return made.serialize();
    },
  };
}

export async function rpc<T>(localnet: Pick<RunningLocalnet, 'rpcUrl'>, method: string, params: unknown): Promise<T> {
  const response = await fetch(localnet.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as {
    result: T;
    error?: { code: number; message: string; data?: unknown };
  };
  if (error) throw Object.assign(new Error(error.message), error);
  return result;
}
