import { zstdDecompressSync } from 'node:zlib';
import { Connection, PublicKey, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ACCOUNT_BYTES,
  ACCOUNT_COUNT,
  accountData,
  accountKey,
  createFakeExchange,
  FIRST_SLOT,
  key,
  OTHER_PROGRAM,
  PROGRAM,
  SHORT_LIVED,
  signature,
} from '../../test/support/localnet/fake-exchange.ts';
import { ask, call, post, startFake } from '../../test/support/localnet/test-client.ts';
import type { RunningLocalnet } from '../server.ts';
import { startLocalnet } from '../server.ts';

const SEED = 1;
const STEPS = 39;
const TIP = FIRST_SLOT + STEPS;
const FINALIZED = TIP - 32;

let localnet: RunningLocalnet;
let connection: Connection;
let url: string;

beforeAll(async () => {
  localnet = await startFake();
  url = localnet.rpcUrl;
  await localnet.step(STEPS);
  connection = new Connection(url, { commitment: 'confirmed', wsEndpoint: localnet.wsUrl });
});
afterAll(() => localnet.stop());

describe('accounts over web3.js', () => {
  it('returns every account of a program with the context of the commitment', async () => {
    const { context, value } = await connection.getProgramAccounts(new PublicKey(PROGRAM), { withContext: true });
    expect(context.slot).toBe(TIP);
    expect(value).toHaveLength(ACCOUNT_COUNT);
    const last = value.find(({ pubkey }) => pubkey.toBase58() === accountKey(TIP % ACCOUNT_COUNT));
    expect(last?.account.data.equals(accountData(TIP % ACCOUNT_COUNT, TIP))).toBe(true);
    expect(last?.account.owner.toBase58()).toBe(PROGRAM);
    expect(last?.account.lamports).toBe(1_000_000 + (TIP % ACCOUNT_COUNT));
    const finalized = await connection.getProgramAccounts(new PublicKey(PROGRAM), {
      commitment: 'finalized',
      withContext: true,
    });
    expect(finalized.context.slot).toBe(FINALIZED);
    const older = finalized.value.find(({ pubkey }) => pubkey.toBase58() === accountKey(FINALIZED % ACCOUNT_COUNT));
    expect(older?.account.data.readBigUInt64LE(16)).toBe(BigInt(FINALIZED));
  });

  it('filters by bytes in both encodings and by size', async () => {
    const programId = new PublicKey(PROGRAM);
    const kind = Buffer.alloc(8, 2);
    const base58 = await connection.getProgramAccounts(programId, {
      filters: [{ memcmp: { offset: 0, bytes: bs58.encode(kind) } }, { dataSize: ACCOUNT_BYTES }],
    });
    expect(base58.map(({ account }) => account.data[8])).toEqual([1, 3, 5, 7, 9]);
    const base64 = await connection.getProgramAccounts(programId, {
      filters: [{ memcmp: { offset: 0, bytes: kind.toString('base64'), encoding: 'base64' } }],
    });
    expect(base64).toHaveLength(5);
    expect(await connection.getProgramAccounts(programId, { filters: [{ dataSize: 7 }] })).toEqual([]);
    const beyond = { memcmp: { offset: ACCOUNT_BYTES - 1, bytes: bs58.encode([7, 7]) } };
    expect(await connection.getProgramAccounts(programId, { filters: [beyond] })).toEqual([]);
  });

  it('slices data, even beyond its end', async () => {
    const programId = new PublicKey(PROGRAM);
    const sliced = await connection.getProgramAccounts(programId, { dataSlice: { offset: 8, length: 8 } });
    expect(sliced.map(({ account }) => account.data.length)).toEqual(Array(ACCOUNT_COUNT).fill(8));
    const empty = await connection.getProgramAccounts(programId, { dataSlice: { offset: 0, length: 0 } });
    expect(empty.every(({ account }) => account.data.length === 0)).toBe(true);
    const tail = await connection.getAccountInfo(new PublicKey(accountKey(0)), {
      dataSlice: { offset: ACCOUNT_BYTES - 2, length: 10 },
    });
    expect(tail?.data).toEqual(Buffer.from([0, 7]));
  });

  it('compresses with zstd', async () => {
    const config = { encoding: 'base64+zstd', commitment: 'confirmed' };
    interface Keyed {
      pubkey: string;
      account: { data: [string, string]; space: number };
    }
    const accounts = await ask<Keyed[]>(url, 'getProgramAccounts', [PROGRAM, config]);
    for (const { pubkey, account } of accounts) {
      expect(account.data[1]).toBe('base64+zstd');
      expect(account.space).toBe(ACCOUNT_BYTES);
      const data = zstdDecompressSync(Buffer.from(account.data[0], 'base64'));
      expect(pubkey).toBe(accountKey(data[8] ?? -1));
      expect(data.length).toBe(ACCOUNT_BYTES);
    }
  });

  it('returns one or several accounts, and null for a missing one', async () => {
    const info = await connection.getAccountInfoAndContext(new PublicKey(accountKey(3)));
    expect(info.context.slot).toBe(TIP);
    expect(info.value?.data[8]).toBe(3);
    expect(await connection.getAccountInfo(new PublicKey(key('nobody')))).toBeNull();
    expect(await connection.getAccountInfo(new PublicKey(SHORT_LIVED))).toBeNull();
    const keys = [accountKey(0), key('nobody'), accountKey(2)].map((pubkey) => new PublicKey(pubkey));
    const several = await connection.getMultipleAccountsInfo(keys);
    expect(several.map((account) => account?.data[8])).toEqual([0, undefined, 2]);
    expect(await connection.getBalance(new PublicKey(accountKey(4)))).toBe(1_000_004);
  });

  it('prints accounts like a node', async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 'x',
        method: 'getAccountInfo',
        params: [accountKey(1), { commitment: 'processed', dataSlice: { offset: 0, length: 4 }, encoding: 'base58' }],
      }),
    });
    expect(await response.text()).toBe(
      `{"jsonrpc":"2.0","result":{"context":{"apiVersion":"2.2.16","slot":${TIP}},"value":{"data":["${bs58.encode([2, 2, 2, 2])}",` +
        `"base58"],"executable":false,"lamports":1000001,"owner":"${PROGRAM}","rentEpoch":18446744073709551615,"space":1000}},"id":"x"}`,
    );
  });
});

describe('chain over web3.js', () => {
  it('returns slots, heights and times', async () => {
    expect(await connection.getSlot()).toBe(TIP);
    expect(await connection.getSlot('finalized')).toBe(FINALIZED);
    expect(await ask(url, 'getSlot')).toBe(FINALIZED);
    expect(await connection.getBlockHeight('processed')).toBe(STEPS + 1);
    expect(await connection.getBlockTime(FIRST_SLOT + 5)).toBe(1_700_000_002);
    expect(await connection.getFirstAvailableBlock()).toBe(FIRST_SLOT);
    expect(await connection.getMinimumLedgerSlot()).toBe(FIRST_SLOT);
    const epoch = await connection.getEpochInfo();
    expect(epoch).toMatchObject({ absoluteSlot: TIP, blockHeight: STEPS + 1, epoch: 2, slotsInEpoch: 432_000 });
    expect(epoch.slotIndex).toBe(TIP - 2 * 432_000);
    expect(await connection.getTransactionCount()).toBe(2 * (STEPS + 1));
  });

  it('returns its identity', async () => {
    expect(await connection.getGenesisHash()).toBe(localnet.ledger.genesisHash);
    expect(bs58.decode(await connection.getGenesisHash())).toHaveLength(32);
    expect((await connection.getVersion())['solana-core']).toMatch(/^\d+\.\d+\.\d+$/);
    expect(await ask(url, 'getHealth')).toBe('ok');
    expect(await (await fetch(`${url}/health`)).text()).toBe('ok');
  });

  it('returns blockhashes with limited validity', async () => {
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    expect(lastValidBlockHeight).toBe(STEPS + 1 + 150);
    expect((await connection.isBlockhashValid(blockhash)).value).toBe(true);
    expect((await connection.isBlockhashValid(key('other'))).value).toBe(false);
  });

  it('estimates fees, the same for the same keys and slot', async () => {
    const request = [{ accountKeys: [PROGRAM], options: { includeAllPriorityFeeLevels: true } }];
    const first = await ask<{ priorityFeeLevels: Record<string, number> }>(url, 'getPriorityFeeEstimate', request);
    expect(await ask(url, 'getPriorityFeeEstimate', request)).toEqual(first);
    expect(Object.keys(first.priorityFeeLevels)).toEqual(['min', 'low', 'medium', 'high', 'veryHigh', 'unsafeMax']);
    const levels = Object.values(first.priorityFeeLevels);
    expect(levels).toEqual([...levels].sort((x, y) => x - y));
    const one = await ask(url, 'getPriorityFeeEstimate', [
      { accountKeys: [PROGRAM], options: { priorityLevel: 'High' } },
    ]);
    expect(one).toEqual({ priorityFeeEstimate: first.priorityFeeLevels.high });
    const recent = await connection.getRecentPrioritizationFees();
    expect(recent).toHaveLength(STEPS + 1);
    expect(recent.at(-1)?.slot).toBe(TIP);
  });
});

describe('transactions over web3.js', () => {
  const wanted = signature(SEED, FIRST_SLOT + 20, 0);

  it('returns a parsable transaction with logs, keys and time', async () => {
    const found = await connection.getTransaction(wanted, { maxSupportedTransactionVersion: 0 });
    expect(found?.slot).toBe(FIRST_SLOT + 20);
    expect(found?.blockTime).toBe(1_700_000_008);
    expect(found?.version).toBe(0);
    expect(found?.meta?.err).toBeNull();
    expect(found?.meta?.logMessages?.[0]).toBe(`Program ${PROGRAM} invoke [1]`);
    expect(found?.meta?.computeUnitsConsumed).toBe(1000);
    expect(found?.transaction.signatures).toEqual([wanted]);
    const keys = found?.transaction.message.staticAccountKeys.map((pubkey) => pubkey.toBase58());
    expect(keys).toEqual([key('payer'), accountKey((FIRST_SLOT + 20) % ACCOUNT_COUNT), PROGRAM]);
    const instruction = found?.transaction.message.compiledInstructions[0];
    expect(keys?.[instruction?.programIdIndex ?? -1]).toBe(PROGRAM);
  });

  it('returns the error and the inner calls of a failed one, parsed as well', async () => {
    const failed = signature(SEED, FIRST_SLOT + 20, 1);
    const found = await connection.getParsedTransaction(failed, { maxSupportedTransactionVersion: 0 });
    expect(found?.meta?.err).toEqual({ InstructionError: [0, { Custom: 6000 }] });
    expect(found?.transaction.message.instructions[0]?.programId.toBase58()).toBe(OTHER_PROGRAM);
    expect(found?.meta?.innerInstructions?.[0]?.instructions[0]?.programId.toBase58()).toBe(PROGRAM);
    expect(found?.transaction.message.accountKeys[0]).toMatchObject({ signer: true, writable: true });
    expect(found?.transaction.message.accountKeys.at(-1)).toMatchObject({ signer: false, writable: false });
  });

  it('returns the wire bytes in base64', async () => {
    const config = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
    const found = await ask<{ transaction: [string, string] }>(url, 'getTransaction', [wanted, config]);
    const parsed = VersionedTransaction.deserialize(Buffer.from(found.transaction[0], 'base64'));
    expect(bs58.encode(parsed.signatures[0] ?? [])).toBe(wanted);
    expect(parsed.message.staticAccountKeys.map(String)).toContain(PROGRAM);
    expect(parsed.version).toBe(0);
  });

  it('returns null for an unknown one, and for one that the commitment has not reached', async () => {
    const options = { maxSupportedTransactionVersion: 0 } as const;
    expect(await connection.getTransaction(signature(7, 7, 7), options)).toBeNull();
    const newest = signature(SEED, TIP, 0);
    expect(await connection.getTransaction(newest, options)).not.toBeNull();
    expect(await connection.getTransaction(newest, { ...options, commitment: 'finalized' })).toBeNull();
  });

  it('rejects a client that does not accept version 0', async () => {
    const { error } = await call(url, 'getTransaction', [wanted, { commitment: 'confirmed' }]);
    expect(error?.code).toBe(-32015);
    expect(error?.message).toContain('"maxSupportedTransactionVersion": 0');
  });

  it('pages signatures back to a known one', async () => {
    const program = new PublicKey(OTHER_PROGRAM);
    const first = await connection.getSignaturesForAddress(program, { limit: 3 });
    expect(first.map(({ slot }) => slot)).toEqual([TIP, TIP - 1, TIP - 2]);
    expect(first[0]).toMatchObject({ signature: signature(SEED, TIP, 1), memo: null, confirmationStatus: 'confirmed' });
    expect(first[0]?.err).toEqual({ InstructionError: [0, { Custom: 6000 }] });
    const before = first.at(-1)?.signature ?? '';
    const second = await connection.getSignaturesForAddress(program, { before, until: signature(SEED, TIP - 5, 1) });
    expect(second.map(({ slot }) => slot)).toEqual([TIP - 3, TIP - 4]);
    const finalized = await connection.getSignaturesForAddress(program, { limit: 1 }, 'finalized');
    expect(finalized[0]).toMatchObject({ slot: FINALIZED, confirmationStatus: 'finalized' });
  });

  it('returns the status of signatures', async () => {
    const { value } = await connection.getSignatureStatuses([
      signature(SEED, FIRST_SLOT, 0),
      signature(SEED, TIP, 1),
      signature(9, 9, 9),
    ]);
    expect(value[0]).toMatchObject({ slot: FIRST_SLOT, confirmations: null, confirmationStatus: 'finalized' });
    expect(value[1]).toMatchObject({ slot: TIP, confirmations: 0, confirmationStatus: 'confirmed' });
    expect(value[2]).toBeNull();
  });

  it('returns blocks with their transactions', async () => {
    const slot = FIRST_SLOT + 3;
    const block = await connection.getBlock(slot, { maxSupportedTransactionVersion: 0 });
    expect(block?.parentSlot).toBe(slot - 1);
    expect(block?.transactions.map(({ transaction }) => transaction.signatures[0])).toEqual([
      signature(SEED, slot, 0),
      signature(SEED, slot, 1),
    ]);
    expect(block?.blockhash).toBe(localnet.ledger.history.block(slot)?.blockhash);
    const signatures = await connection.getBlockSignatures(slot);
    expect(signatures.signatures).toHaveLength(2);
    expect(await connection.getBlocks(slot, slot + 2)).toEqual([slot, slot + 1, slot + 2]);
  });
});

describe('errors', () => {
  const codeOf = async (method: string, params?: unknown): Promise<[number | undefined, string | undefined]> => {
    const { error } = await call(url, method, params);
    return [error?.code, error?.message];
  };

  it('answers invalid JSON, invalid requests and unknown methods with errors', async () => {
    expect(await post(url, '{oops')).toEqual({
      jsonrpc: '2.0',
      error: { code: -32700, message: 'Parse error' },
      id: null,
    });
    expect(await post(url, '{"id":1}')).toMatchObject({ error: { code: -32600, message: 'Invalid request' } });
    expect(await post(url, '[]')).toMatchObject({ error: { code: -32600 } });
    expect(await codeOf('getNothing')).toEqual([-32601, 'Method not found']);
  });

  it('rejects parameters with the texts of a node', async () => {
    expect(await codeOf('getAccountInfo')).toEqual([-32602, '`params` should have at least 1 argument(s)']);
    expect(await codeOf('getAccountInfo', ['0OIl'])).toEqual([-32602, 'Invalid param: Invalid']);
    expect(await codeOf('getAccountInfo', ['abc'])).toEqual([-32602, 'Invalid param: WrongSize']);
    expect(await codeOf('getTransaction', ['abc'])).toEqual([-32602, 'Invalid param: WrongSize']);
    expect((await codeOf('getAccountInfo', [5]))[1]).toBe(
      'Invalid params: invalid type: integer `5`, expected a string.',
    );
    // A node takes a level that it does not know for none.
    const finalized = await ask(url, 'getSlot', [{ commitment: 'finalized' }]);
    expect(await ask(url, 'getSlot', [{ commitment: 'sure' }])).toBe(finalized);
    expect((await codeOf('getAccountInfo', [PROGRAM, { encoding: 'hex' }]))[1]).toContain('unknown variant `hex`');
    expect(await codeOf('getAccountInfo', { pubkey: PROGRAM })).toEqual([-32602, '`params` should be an array']);
    const keys = Array(101).fill(PROGRAM);
    expect(await codeOf('getMultipleAccounts', [keys])).toEqual([-32602, 'Too many inputs provided; max 100']);
    expect(await codeOf('getSignaturesForAddress', [PROGRAM, { limit: 0 }])).toEqual([
      -32602,
      'Invalid limit; max 1000',
    ]);
    expect((await codeOf('getSignaturesForAddress', [PROGRAM, { limit: 1001 }]))[0]).toBe(-32602);
    expect((await codeOf('getTransaction', [signature(1, 1, 1), { commitment: 'processed' }]))[1]).toBe(
      'Method does not support commitment below `confirmed`',
    );
  });

  it('rejects the same filters as a node', async () => {
    const memcmp = { memcmp: { offset: 0, bytes: '2' } };
    expect(await codeOf('getProgramAccounts', [PROGRAM, { filters: Array(5).fill(memcmp) }])).toEqual([
      -32602,
      'Too many filters provided; max 4',
    ]);
    const long = { memcmp: { offset: 0, bytes: Buffer.alloc(129).toString('base64'), encoding: 'base64' } };
    expect((await codeOf('getProgramAccounts', [PROGRAM, { filters: [long] }]))[1]).toBe('Invalid param: DataTooLarge');
    expect(
      (await codeOf('getProgramAccounts', [PROGRAM, { filters: [{ memcmp: { offset: 0, bytes: '0' } }] }]))[0],
    ).toBe(-32602);
    expect((await codeOf('getProgramAccounts', [PROGRAM, { filters: [{ other: 1 }] }]))[0]).toBe(-32602);
  });

  it('rejects base58 for long data', async () => {
    const [code, message] = await codeOf('getProgramAccounts', [PROGRAM, { encoding: 'base58' }]);
    expect(code).toBe(-32600);
    expect(message).toContain('less than 128 bytes, please use Base64 encoding');
  });

  it('reports when it has not reached the requested minimum slot', async () => {
    const { error } = await call(url, 'getSlot', [{ commitment: 'processed', minContextSlot: TIP + 1 }]);
    expect(error).toEqual({
      code: -32016,
      message: 'Minimum context slot has not been reached',
      data: { contextSlot: TIP },
    });
    const params = [accountKey(0), { commitment: 'processed', encoding: 'base64', minContextSlot: TIP }];
    expect((await call(url, 'getAccountInfo', params)).error).toBeUndefined();
  });

  it('distinguishes future, dropped and unknown blocks', async () => {
    expect((await codeOf('getBlock', [TIP + 1, { commitment: 'confirmed' }]))[0]).toBe(-32004);
    expect((await codeOf('getBlockTime', [5]))[0]).toBe(-32001);
  });
});

describe('envelope', () => {
  it('answers a batch in order without its notifications', async () => {
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'getSlot', params: [{ commitment: 'processed' }] },
      { jsonrpc: '2.0', method: 'getSlot' },
      { jsonrpc: '2.0', id: 'two', method: 'getNothing' },
      { jsonrpc: '2.0', id: 3, method: 'getProgramAccounts', params: [OTHER_PROGRAM] },
      7,
    ];
    const answers = (await post(url, JSON.stringify(batch))) as { id: unknown; result?: unknown; error?: unknown }[];
    expect(answers.map(({ id }) => id)).toEqual([1, 'two', 3, null]);
    expect(answers[0]?.result).toBe(TIP);
    expect(answers[2]?.result).toEqual([]);
    expect(await post(url, '{"jsonrpc":"2.0","method":"getSlot"}')).toBeNull();
  });

  it('batches over web3.js', async () => {
    const signatures = [0, 1, 2].map((back) => signature(SEED, TIP - back, 0));
    const found = await connection.getTransactions(signatures, { maxSupportedTransactionVersion: 0 });
    expect(found.map((transaction) => transaction?.slot)).toEqual([TIP, TIP - 1, TIP - 2]);
  });

  it('accepts browsers and rejects anything except a JSON POST', async () => {
    const preflight = await fetch(url, { method: 'OPTIONS' });
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'text/plain' } })).status).toBe(
      415,
    );
  });

  it('writes a complete answer of many megabytes as of one slot, while slots continue', async () => {
    const count = 4000;
    const big = (options: Parameters<typeof createFakeExchange>[0]): ReturnType<typeof createFakeExchange> => {
      const exchange = createFakeExchange(options);
      const owner = key('big program');
      const accounts = Array.from({ length: count }, (_, index) => ({
        pubkey: key(`big ${index}`),
        owner,
        lamports: 1,
        data: Buffer.alloc(4560, index % 251),
      }));
      return { ...exchange, genesis: () => accounts };
    };
    const running = await startLocalnet({ speed: 400, rpcPort: 0, wsPort: 0, createExchange: big });
    try {
      const config = { encoding: 'base64', withContext: true, commitment: 'processed' };
      interface Answer {
        context: { slot: number };
        value: { account: { data: [string] } }[];
      }
      const answered = await ask<Answer>(running.rpcUrl, 'getProgramAccounts', [key('big program'), config]);
      expect(answered.value).toHaveLength(count);
      expect(Buffer.from(answered.value[count - 1]?.account.data[0] ?? '', 'base64')[0]).toBe((count - 1) % 251);
      expect(running.ledger.tipSlot).toBeGreaterThan(answered.context.slot);
    } finally {
      await running.stop();
    }
  });
});
