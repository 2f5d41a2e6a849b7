// Both aggregators and the unified client, against servers that answer as the public APIs do.

import { Keypair } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Aggregators, ROUTER } from '../../test/support/client/aggregators.ts';
import { JupiterClient, type QuoteRequest, SwapClient, SwapError, SwapOptionError, TitanClient } from './index.ts';

const key = (seed: number): string => Keypair.fromSeed(new Uint8Array(32).fill(seed)).publicKey.toBase58();
const WALLET = key(10);
const REQUEST: QuoteRequest = { inputMint: key(11), outputMint: key(12), amount: 1_000_000n };
const MINE: QuoteRequest = { ...REQUEST, userPublicKey: WALLET };

let server: Aggregators;
let url: string;

beforeEach(async () => {
  server = new Aggregators();
  url = await server.start();
});
afterEach(() => server.stop());

const asked = () => server.asked.at(-1);

describe('v1 of the first aggregator', () => {
  it('quotes with its defaults, and needs no wallet', async () => {
    const quote = await new JupiterClient({ url, apiKey: 'k' }).getQuote(REQUEST);
    expect(quote).toMatchObject({ inAmount: 1_000_000n, outAmount: 2_000_000n, slippageBps: 50, swapMode: 'ExactIn' });
    expect(asked()).toMatchObject({ method: 'GET', path: '/quote', headers: { 'x-api-key': 'k' } });
    expect(asked()?.query).toEqual({
      inputMint: REQUEST.inputMint,
      outputMint: REQUEST.outputMint,
      amount: '1000000',
      slippageBps: '50',
      swapMode: 'ExactIn',
      onlyDirectRoutes: 'false',
      maxAccounts: '50',
    });
  });

  it('sends no account limit for ExactOut, and passes on direct routes and excluded venues', async () => {
    const client = new JupiterClient({ url });
    await client.getQuote({ ...REQUEST, swapMode: 'ExactOut', onlyDirectRoutes: true, excludeDexes: ['A', 'B'] });
    expect(asked()?.query).toMatchObject({ swapMode: 'ExactOut', onlyDirectRoutes: 'true', excludeDexes: 'A,B' });
    expect(asked()?.query).not.toHaveProperty('maxAccounts');
  });

  it('takes automatic slippage only with its bound and the value in USD', async () => {
    const client = new JupiterClient({ url });
    const auto = { ...REQUEST, autoSlippage: true };
    await expect(client.getQuote(auto)).rejects.toThrow(SwapOptionError);
    await expect(client.getQuote({ ...auto, maxAutoSlippageBps: 300 })).rejects.toThrow(SwapOptionError);
    expect(server.asked).toEqual([]);
    await client.getQuote({ ...auto, maxAutoSlippageBps: 300, usdEstimate: 1000 });
    expect(asked()?.query).toMatchObject({
      slippageBps: '0',
      autoSlippage: 'true',
      maxAutoSlippageBps: '300',
      autoSlippageCollisionUsdValue: '1000',
    });
  });

  it('gets a transaction for a quote and takes it apart', async () => {
    const client = new JupiterClient({ url });
    const quote = await client.getQuote(REQUEST);
    const { instructions } = await client.getRoute(quote, WALLET);
    expect(asked()).toMatchObject({ method: 'POST', path: '/swap' });
    expect(asked()?.body).toEqual({ quoteResponse: quote.route, userPublicKey: WALLET, slippageBps: 50 });
    expect(instructions.at(-1)).toMatchObject({ programId: ROUTER.toBase58(), data: Uint8Array.of(9, 8, 7) });
    expect(instructions.at(-1)?.accounts[0]).toEqual({ pubkey: WALLET, isSigner: true, isWritable: true });
  });

  it('says why a request failed', async () => {
    const client = new JupiterClient({ url });
    const circular = { ...REQUEST, outputMint: REQUEST.inputMint };
    await expect(client.getQuote(circular)).rejects.toThrow(/answered 400: Input and output.*CIRCULAR/);
    server.answer = { status: 200, body: { error: 'no route', errorCode: 'COULD_NOT_FIND_ANY_ROUTE' } };
    await expect(client.getQuote(REQUEST)).rejects.toThrow('no route (COULD_NOT_FIND_ANY_ROUTE)');
  });
});

describe('v2 of the first aggregator', () => {
  it.each([
    ['autoSlippage', { autoSlippage: true }],
    ['onlyDirectRoutes', { onlyDirectRoutes: true }],
    ['swapMode ExactOut', { swapMode: 'ExactOut' as const }],
    ['userPublicKey', { userPublicKey: '' }],
  ])('refuses %s before it sends anything', async (name, members) => {
    const client = new JupiterClient({ url, apiVersion: 'v2' });
    await expect(client.getQuote({ ...MINE, ...members })).rejects.toThrow(name);
    expect(server.asked).toEqual([]);
  });

  it('answers one request with quote and route, without tip and other instructions', async () => {
    const client = new JupiterClient({ url, apiVersion: 'v2' });
    const quote = await client.getQuote(MINE);
    const { instructions } = await client.getRoute(quote, WALLET);
    expect(server.asked.map(({ path }) => path)).toEqual(['/build']);
    expect(asked()?.query).toMatchObject({ taker: WALLET, maxAccounts: '50', slippageBps: '50' });
    const data = instructions.filter(({ programId }) => programId === ROUTER.toBase58()).map((one) => [...one.data]);
    expect(data).toEqual([[9, 8, 7]]);
  });

  it('binds a quote to its wallet and its values', async () => {
    const client = new JupiterClient({ url, apiVersion: 'v2' });
    const quote = await client.getQuote(MINE);
    await expect(client.getRoute(quote, key(13))).rejects.toThrow('bound to another wallet');
    for (const change of [{ inAmount: 5n }, { slippageBps: 900 }, { outputMint: key(14) }, { outAmount: 1n }]) {
      await expect(client.getRoute({ ...quote, ...change }, WALLET)).rejects.toThrow('was changed');
    }
    await expect(client.getRoute({ ...quote, route: { ...(quote.route as object) } }, WALLET)).rejects.toThrow(
      SwapError,
    );
  });

  it.each([
    ['a validation object', { issues: [{ path: 'amount' }] }],
    ['code and message', { code: 7, message: 'bad amount' }],
    ['error and errorCode', { error: 'none', errorCode: 'X' }],
    ['no route fields', { setupInstructions: [], swapInstruction: {} }],
  ])('takes %s in a good answer for a failure', async (_, body) => {
    server.answer = { status: 200, body };
    await expect(new JupiterClient({ url, apiVersion: 'v2' }).getQuote(MINE)).rejects.toThrow(SwapError);
  });
});

describe('the second aggregator', () => {
  it.each(['MessagePack', 'JSON by a proxy'])('gives the first quote in %s', async (form) => {
    const options = form === 'MessagePack' ? { url, authToken: 't' } : { proxyUrl: `${url}/proxy` };
    const client = new TitanClient(options);
    const quote = await client.getQuote(MINE);
    expect(quote).toMatchObject({ inAmount: 1_000_000n, outAmount: 2_000_000n });
    const request = form === 'MessagePack' ? asked()?.query : asked()?.body;
    expect(request).toMatchObject({ sizeConstraint: '857', accountsLimitTotal: '50', userPublicKey: WALLET });
    if (form === 'MessagePack') {
      expect(asked()?.headers).toMatchObject({ authorization: 'Bearer t', accept: 'application/vnd.msgpack' });
    }
    const { instructions } = await client.getRoute(quote, WALLET);
    expect(instructions.at(-1)).toMatchObject({ programId: ROUTER.toBase58(), data: Uint8Array.of(9, 8, 7) });
    await expect(client.getRoute(quote, key(13))).rejects.toThrow('another wallet');
  });

  it('needs a wallet, and says when there is no route', async () => {
    const client = new TitanClient({ proxyUrl: `${url}/proxy` });
    await expect(client.getQuote(REQUEST)).rejects.toThrow('userPublicKey is required for Titan quotes');
    server.answer = { status: 200, body: { quotes: {} } };
    await expect(client.getQuote(MINE)).rejects.toThrow('No routes available');
  });
});

describe('SwapClient', () => {
  /** Address that a client asks. */
  async function addressOf(options: Partial<ConstructorParameters<typeof SwapClient>[0]>): Promise<string> {
    const seen: string[] = [];
    const fetch = (async (input: unknown) => {
      seen.push(String(input));
      return new Response('{}');
    }) as typeof globalThis.fetch;
    await new SwapClient({ type: 'jupiter', fetch, ...options }).getQuote(MINE).catch(() => {});
    return (seen[0] ?? '').split('?')[0] ?? '';
  }

  it('forwards the version to the first aggregator, and appends it to the known hosts only', async () => {
    expect(await addressOf({})).toBe('https://api.jup.ag/swap/v1/quote');
    expect(await addressOf({ jupiterApiVersion: 'v2' })).toBe('https://api.jup.ag/swap/v2/build');
    expect(await addressOf({ url: 'https://lite-api.jup.ag/swap/' })).toBe('https://lite-api.jup.ag/swap/v1/quote');
    expect(await addressOf({ url: 'https://own.example/jup' })).toBe('https://own.example/jup/quote');
    expect(await addressOf({ type: 'titan', jupiterApiVersion: 'v2' })).toBe(
      'https://api.titan.exchange/api/v1/quote/swap',
    );
  });

  it('throws for an unknown type', () => {
    expect(() => new SwapClient({ type: 'uniswap' as 'titan' })).toThrow('Unsupported swap client type: uniswap');
  });
});
