import { generateKeyPairSync, sign } from 'node:crypto';
import { Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { readSignedMessage } from '../api/history/wallet/signed-headers.ts';
import { rawRequest } from '../test/support/api/wallet-requests.ts';
import { browserWallet, keyFileWallet, type WalletSigner, walletHeaders } from './wallet.ts';

const NOW_MS = 1_780_000_000_999;
const nowMs = () => NOW_MS;
const ACCOUNT = Keypair.generate().publicKey.toBase58();
const fileOf = (pair: Keypair) => JSON.stringify(Array.from(pair.secretKey));

/** The message as the service reads it. */
const read = (headers: object) => readSignedMessage(rawRequest({ ...headers }), Math.floor(NOW_MS / 1000));

describe('headers', () => {
  it('of a key file are those that the service accepts', async () => {
    const pair = Keypair.generate();
    const signer = await keyFileWallet(fileOf(pair));
    expect(signer.address).toBe(pair.publicKey.toBase58());
    const headers = await walletHeaders(signer, { action: 'getNotifications', nowMs });
    expect(read(headers)).toMatchObject({
      signer: signer.address,
      action: 'getNotifications',
      ts: 1_780_000_000,
      isDelegate: false,
      velocityUserAccount: null,
    });
  });

  it('differ for equal requests, so that a write can be repeated', async () => {
    const signer = await keyFileWallet(fileOf(Keypair.generate()));
    const sign = async () => (await walletHeaders(signer, { action: 'a', nowMs }))['x-signature'];
    expect(await sign()).not.toBe(await sign());
  });

  it('of a delegate name the account', async () => {
    const signer = await keyFileWallet(fileOf(Keypair.generate()));
    const headers = await walletHeaders(signer, { action: 'requestExport', delegateOf: ACCOUNT, nowMs });
    expect(read(headers)).toMatchObject({ isDelegate: true, velocityUserAccount: ACCOUNT });
  });

  it('carry ASCII alone', async () => {
    const signer = await keyFileWallet(fileOf(Keypair.generate()));
    await expect(walletHeaders(signer, { action: 'über' })).rejects.toThrow(RangeError);
  });

  it('have base58 of bytes with zeros in front', async () => {
    const signature = new Uint8Array(64);
    signature[63] = 7;
    const signer: WalletSigner = { address: ACCOUNT, signMessage: async () => signature };
    expect(bs58.decode((await walletHeaders(signer, { action: 'a' }))['x-signature'])).toEqual(signature);
  });
});

describe('a browser wallet', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = new PublicKey(Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url'));
  const signed = async (message: Uint8Array) => new Uint8Array(sign(null, message, privateKey));

  it('signs, whether it returns the signature alone or in an object', async () => {
    const plain = browserWallet({ publicKey: key, signMessage: signed });
    const wrapped = browserWallet({
      publicKey: key,
      signMessage: async (message) => ({ signature: await signed(message) }),
    });
    for (const signer of [plain, wrapped]) {
      expect(read(await walletHeaders(signer, { action: 'a', nowMs }))).toMatchObject({ signer: key.toBase58() });
    }
  });

  it('is refused while it is not connected or cannot sign, and its own refusal is passed on', async () => {
    expect(() => browserWallet({ publicKey: null, signMessage: signed })).toThrow('not connected');
    expect(() => browserWallet({ publicKey: key })).toThrow('cannot sign messages');
    const refusing = browserWallet({ publicKey: key, signMessage: () => Promise.reject(new Error('User rejected')) });
    await expect(walletHeaders(refusing, { action: 'a' })).rejects.toThrow('User rejected');
  });
});

describe('a key file', () => {
  it.each(['', 'secret', '{}', '[1,2]', JSON.stringify(Array(64).fill(256)), JSON.stringify(Array(64).fill('1'))])(
    'is refused when it is none: %.10s',
    async (text) => {
      await expect(keyFileWallet(text)).rejects.toThrow('a key file is a JSON array of 64 bytes');
    },
  );

  it('is refused when its public key is of another pair', async () => {
    const mixed = [...Keypair.generate().secretKey.slice(0, 32), ...Keypair.generate().secretKey.slice(32)];
    await expect(keyFileWallet(JSON.stringify(mixed))).rejects.toThrow('does not belong');
  });
});
