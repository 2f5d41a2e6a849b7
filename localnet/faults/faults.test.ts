import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accountKey, PROGRAM } from '../../test/support/localnet/fake-exchange.ts';
import { ask, call, type Notification, post, RawPubSub, startFake } from '../../test/support/localnet/test-client.ts';
import { until } from '../../test/support/platform/eventually.ts';
import type { RunningLocalnet } from '../server.ts';

interface Listed {
  readonly signature: string;
  readonly slot: number;
}
interface Keyed {
  readonly pubkey: string;
}
interface Page {
  readonly accounts: Keyed[];
  readonly paginationKey: string | null;
}
interface Did {
  readonly counts: Record<string, number>;
  readonly reports: { readonly kind: string; readonly key: string | null; readonly detail: Record<string, unknown> }[];
}

describe('faults of a node', () => {
  let net: RunningLocalnet;
  const fault = (request: object): Promise<unknown> => ask(net.rpcUrl, 'localnet_fault', [request]);
  const did = (): Promise<Did> => ask<Did>(net.rpcUrl, 'localnet_did');
  const listed = (): Promise<Listed[]> =>
    ask<Listed[]>(net.rpcUrl, 'getSignaturesForAddress', [PROGRAM, { commitment: 'confirmed' }]);
  const transaction = (signature: string): Promise<{ meta: { logMessages: unknown } } | null> =>
    ask(net.rpcUrl, 'getTransaction', [signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }]);
  const raw = (body: object): Promise<Response> =>
    fetch(net.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const request = (method: string, id = 1): object => ({ jsonrpc: '2.0', id, method });

  beforeEach(async () => {
    net = await startFake();
    await net.step(50);
  });
  afterEach(() => net.stop());

  it('refuses HTTP requests with 429, with and without Retry-After, and with 503', async () => {
    await fault({ kind: 'rateLimit', count: 1, retryAfterSeconds: 3 });
    await fault({ kind: 'unavailable', count: 1, methods: ['getHealth'] });
    const limited = await raw(request('getSlot'));
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3']);
    expect((await raw(request('getHealth'))).status).toBe(503);
    await fault({ kind: 'rateLimit', count: 1 });
    const silent = await raw([request('getSlot')]);
    expect([silent.status, silent.headers.get('retry-after')]).toEqual([429, null]);
    expect((await raw(request('getSlot'))).status).toBe(200);
    expect((await did()).counts).toEqual({ rateLimit: 2, unavailable: 1 });
  });

  it('strikes with each of several faults of one kind', async () => {
    await fault({ kind: 'rateLimit', probability: 0.3, retryAfterSeconds: 3 });
    await fault({ kind: 'rateLimit', probability: 0.3 });
    for (let count = 0; count < 100; count += 1) await raw(request('getSlot'));
    const { active } = await ask<{ active: { strikes: number }[] }>(net.rpcUrl, 'localnet_faults');
    for (const { strikes } of active) expect(strikes).toBeGreaterThan(10);
  });

  it('closes the connection without an answer, or in the middle of one', async () => {
    await fault({ kind: 'hangUp', count: 1 });
    await expect(raw(request('getSlot'))).rejects.toThrow();
    await fault({ kind: 'cutBody', count: 1 });
    await expect(raw(request('getEpochInfo')).then((response) => response.text())).rejects.toThrow();
    expect(await ask(net.rpcUrl, 'getHealth')).toBe('ok');
  });

  it('fails single items of a batch', async () => {
    await fault({ kind: 'error', methods: ['getSlot'], code: -32014, message: 'Block status not yet available' });
    await fault({ kind: 'unhealthy', methods: ['getHealth'], slots: 40 });
    const batch = [request('getSlot', 1), request('getVersion', 2), request('getHealth', 3)];
    const answers = (await post(net.rpcUrl, JSON.stringify(batch))) as { error?: { code: number; data?: unknown } }[];
    expect(answers.map(({ error }) => error?.code)).toEqual([-32014, undefined, -32005]);
    expect(answers[2]?.error?.data).toEqual({ numSlotsBehind: 40 });
    expect(await ask(net.rpcUrl, 'localnet_clearFaults')).toEqual({ cleared: 2 });
    expect(await ask(net.rpcUrl, 'getHealth')).toBe('ok');
  });

  it('hides some transactions for a while, others for ever, always the same ones', async () => {
    await fault({ kind: 'nullTransaction', probability: 0.5 });
    const signatures = (await listed()).map(({ signature }) => signature);
    const hidden = async (): Promise<string[]> => {
      const answers = await Promise.all(signatures.map(async (one) => ((await transaction(one)) === null ? one : '')));
      return answers.filter((one) => one !== '');
    };
    const first = await hidden();
    expect(first.length).toBeGreaterThan(20);
    expect(first.length).toBeLessThan(signatures.length - 20);
    expect(await hidden()).toEqual(first);
    await ask(net.rpcUrl, 'localnet_clearFaults');
    await fault({ kind: 'nullTransaction', ms: 20, count: 1 });
    expect(await transaction(signatures[0] ?? '')).toBeNull();
    await until(async () => (await transaction(signatures[0] ?? '')) !== null);
  });

  it('leaves logs out, in single transactions and in blocks alike', async () => {
    const signature = (await listed())[0]?.signature ?? '';
    await fault({ kind: 'nullLogs', keys: [signature] });
    expect((await transaction(signature))?.meta.logMessages).toBeNull();
    const config = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
    const block = await ask<{ transactions: { meta: { logMessages: unknown } }[] }>(net.rpcUrl, 'getBlock', [
      await ask(net.rpcUrl, 'getSlot', [{ commitment: 'confirmed' }]),
      config,
    ]);
    const logs = block.transactions.map(({ meta }) => meta.logMessages);
    expect(logs.filter((lines) => lines === null)).toHaveLength(1);
    expect(logs).toHaveLength(2);
  });

  it('shortens and empties pages of signatures and lists of accounts', async () => {
    const whole = await listed();
    await fault({ kind: 'shortPage', count: 1, share: 0.25 });
    expect(await listed()).toEqual(whole.slice(0, Math.floor(whole.length / 4)));
    await fault({ kind: 'emptyPage', count: 1 });
    expect(await listed()).toEqual([]);
    const accounts = (): Promise<Keyed[]> => ask(net.rpcUrl, 'getProgramAccounts', [PROGRAM, { encoding: 'base64' }]);
    const all = await accounts();
    await fault({ kind: 'cutAccounts', count: 1, share: 0.5 });
    expect(await accounts()).toEqual(all.slice(0, Math.floor(all.length / 2)));
    await fault({ kind: 'emptyAccounts', count: 1 });
    expect(await accounts()).toEqual([]);
    expect(await accounts()).toEqual(all);
    const details = (await did()).reports.map(({ kind, detail }) => [kind, detail.left]);
    expect(details).toEqual([
      ['shortPage', Math.floor(whole.length / 4)],
      ['emptyPage', undefined],
      ['cutAccounts', Math.floor(all.length / 2)],
      ['emptyAccounts', 0],
    ]);
  });

  it('answers from a second node that is behind, and minContextSlot shows it', async () => {
    const tip = await ask<number>(net.rpcUrl, 'getSlot', [{ commitment: 'processed' }]);
    await fault({ kind: 'behind', slots: 7, methods: ['getAccountInfo', 'getSlot'] });
    expect(await ask(net.rpcUrl, 'getSlot', [{ commitment: 'processed' }])).toBe(tip - 7);
    const config = { encoding: 'base64', commitment: 'processed' };
    const old = await ask<{ context: { slot: number } }>(net.rpcUrl, 'getAccountInfo', [accountKey(0), config]);
    expect(old.context.slot).toBe(tip - 7);
    const { error } = await call(net.rpcUrl, 'getAccountInfo', [accountKey(0), { ...config, minContextSlot: tip }]);
    expect([error?.code, error?.data]).toEqual([-32016, { contextSlot: tip - 7 }]);
    const { error: page } = await call(net.rpcUrl, 'getSignaturesForAddress', [
      PROGRAM,
      { commitment: 'confirmed', minContextSlot: tip + 1 },
    ]);
    expect(page?.code).toBe(-32016);
  });

  it('names slots that are far ahead, in calls and in notifications', async () => {
    const tip = await ask<number>(net.rpcUrl, 'getSlot', [{ commitment: 'processed' }]);
    await fault({ kind: 'slotJump', count: 1, methods: ['getSlot'] });
    expect(await ask(net.rpcUrl, 'getSlot', [{ commitment: 'processed' }])).toBe(tip + 5000);
    expect(await ask(net.rpcUrl, 'getSlot', [{ commitment: 'processed' }])).toBe(tip);
    const client = await RawPubSub.open(net.wsUrl);
    await client.subscribe('slot');
    await fault({ kind: 'slotJump', count: 1, methods: ['slotNotification'], slots: 100 });
    await net.step(2);
    const slots = (await client.settle()).map(({ params }) => (params.result as { slot: number }).slot);
    expect(slots).toEqual([tip + 101, tip + 2]);
    client.close();
  });

  it('loses, doubles and reorders notifications, the same ones for the same chain', async () => {
    const run = async (seed: number): Promise<{ keys: string[]; counts: Record<string, number> }> => {
      const other = await startFake({ seed });
      const client = await RawPubSub.open(other.wsUrl);
      await client.subscribe('logs', 'all', { commitment: 'confirmed' });
      for (const kind of ['loseNotification', 'duplicateNotification', 'reorderNotification']) {
        await ask(other.rpcUrl, 'localnet_fault', [{ kind, probability: 0.1 }]);
      }
      await other.step(200);
      const keys = (await client.settle()).map(signatureOf);
      const { counts } = await ask<Did>(other.rpcUrl, 'localnet_did');
      client.close();
      await other.stop();
      return { keys, counts };
    };
    const [first, again] = [await run(5), await run(5)];
    expect(first).toEqual(again);
    const { loseNotification = 0, duplicateNotification = 0, reorderNotification = 0 } = first.counts;
    expect(Math.min(loseNotification, duplicateNotification, reorderNotification)).toBeGreaterThan(10);
    const distinct = new Set(first.keys);
    expect(first.keys.length - distinct.size).toBe(duplicateNotification);
    // A held notification may still wait at the end.
    expect(400 - distinct.size - loseNotification).toBeLessThanOrEqual(8);
  });

  it('loses the notifications of the named accounts, and no other', async () => {
    const client = await RawPubSub.open(net.wsUrl);
    await client.subscribe('program', PROGRAM, { commitment: 'confirmed', encoding: 'base64' });
    const notified = async () => {
      await net.step(40);
      const all = await client.settle();
      return new Set(all.map(({ params }) => (params.result as { value: Keyed }).value.pubkey));
    };
    expect([...(await notified())]).toContain(accountKey(0));
    await fault({ kind: 'loseNotification', methods: ['programNotification'], keys: [accountKey(0)] });
    const later = [...(await notified())];
    expect(later).not.toContain(accountKey(0));
    expect(later).toContain(accountKey(1));
    client.close();
  });

  it('silences one socket while another one and the calls go on', async () => {
    const quiet = await RawPubSub.open(net.wsUrl);
    const lively = await RawPubSub.open(net.wsUrl);
    for (const client of [quiet, lively]) await client.subscribe('slot');
    await fault({ kind: 'silentSocket', count: 1 });
    await net.step(3);
    expect(await quiet.settle()).toHaveLength(0);
    expect(await lively.settle()).toHaveLength(3);
    expect((await did()).reports.map(({ kind, key }) => [kind, key])).toEqual([['silentSocket', '0']]);
    quiet.close();
    lively.close();
  });

  it('serves accounts in pages, whose shortness is not their end', async () => {
    const all = (await ask<Keyed[]>(net.rpcUrl, 'getProgramAccounts', [PROGRAM, { encoding: 'base64' }])).length;
    const walk = async (config: object): Promise<Page[]> => {
      const pages: Page[] = [];
      let key: string | null = null;
      do {
        const options = { commitment: 'finalized', ...config, ...(key === null ? {} : { paginationKey: key }) };
        const page: Page = await ask<Page>(net.rpcUrl, 'getProgramAccountsV2', [PROGRAM, options]);
        pages.push(page);
        key = page.paginationKey;
      } while (key !== null);
      return pages;
    };
    const pages = await walk({ limit: 3 });
    const keys = pages.flatMap(({ accounts }) => accounts.map(({ pubkey }) => pubkey));
    expect(new Set(keys).size).toBe(all);
    expect(keys).toHaveLength(all);
    const filtered = await walk({ limit: 3, filters: [{ dataSize: 1 }] });
    expect(filtered.length).toBe(pages.length);
    expect(filtered.flatMap(({ accounts }) => accounts)).toEqual([]);
    const slot = await ask<number>(net.rpcUrl, 'getSlot');
    const changed = (await walk({ limit: 10_000, changedSinceSlot: slot - 1 }))[0]?.accounts ?? [];
    expect(changed.length).toBeGreaterThan(0);
    expect(changed.length).toBeLessThan(all);
    expect((await call(net.rpcUrl, 'getProgramAccountsV2', [PROGRAM, { limit: 10_001 }])).error?.code).toBe(-32602);
    const within = await ask<{ context: { slot: number }; value: Page }>(net.rpcUrl, 'getProgramAccountsV2', [
      PROGRAM,
      { withContext: true },
    ]);
    expect([within.context.slot, within.value.paginationKey]).toEqual([slot, null]);
  });

  it('gives subscribers of one account its older state when a fork loses, and nobody else', async () => {
    const other = await startFake({ seed: 6, profile: 'mainnet' });
    const client = await RawPubSub.open(other.wsUrl);
    const numbers = new Map<number, number>();
    for (let index = 0; index < 10; index++) {
      const config = { commitment: 'processed', encoding: 'base64' };
      numbers.set(await client.subscribe('account', accountKey(index), config), index);
    }
    const program = await client.subscribe('program', PROGRAM, { commitment: 'processed', encoding: 'base64' });
    let reverted = 0;
    let last = 0;
    for (let slot = 0; slot < 250; slot++) {
      const before = other.ledger.abandoned.length;
      await other.step(1);
      const notifications = await client.settle();
      const ofProgram = notifications.filter(({ params }) => params.subscription === program).length;
      const ofAccounts = notifications.length - ofProgram;
      if (other.ledger.abandoned.length > before) reverted += ofAccounts - ofProgram;
      else last = Math.max(last, ofAccounts - ofProgram);
    }
    expect(other.ledger.abandoned.length).toBeGreaterThan(2);
    expect(reverted).toBeGreaterThan(0);
    expect(last).toBeLessThanOrEqual(0);
    client.close();
    await other.stop();
  });

  it('touches no answer at the address of the truth', async () => {
    await fault({ kind: 'hangUp', methods: ['getSlot'] });
    await fault({ kind: 'error', methods: ['getHealth'] });
    await fault({ kind: 'emptyAccounts' });
    const accounts = (url: string) => ask<Keyed[]>(url, 'getProgramAccounts', [PROGRAM, { encoding: 'base64' }]);
    expect(await ask(net.faultlessUrl, 'getSlot', [{ commitment: 'processed' }])).toBe(net.ledger.tipSlot);
    expect(await ask(net.faultlessUrl, 'getHealth')).toBe('ok');
    expect((await accounts(net.faultlessUrl)).length).toBeGreaterThan(0);
    expect((await did()).reports).toEqual([]);
    expect(await accounts(net.rpcUrl)).toEqual([]);
    expect(await ask(net.faultlessUrl, 'localnet_clearFaults')).toEqual({ cleared: 3 });
  });

  it('names the known faults when asked for an unknown one', async () => {
    const { error } = await call(net.rpcUrl, 'localnet_fault', [{ kind: 'meteor' }]);
    expect(error?.code).toBe(-32602);
    expect(error?.message).toContain('rateLimit');
  });
});

function signatureOf({ params }: Notification): string {
  return (params.result as { value: { signature: string } }).value.signature;
}
