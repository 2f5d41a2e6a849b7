// Signs requests that act for a wallet: notifications, statements. Needs Web Crypto only for key files, and no package.

/** Something that signs for one wallet: a browser wallet, a key file, or a signer of your own. */
export interface WalletSigner {
  /** Public key, base58. */
  readonly address: string;
  /** Ed25519 signature (64 bytes) over exactly these bytes. */
  signMessage(message: Uint8Array): Promise<Uint8Array>;
}

export interface SignedRequestOptions {
  /** Action of the request. Creating an export needs `requestExport`; other endpoints take any text in ASCII. */
  readonly action: string;
  /** Account (base58) whose delegate the wallet is. The request is then for the owner of the account. */
  readonly delegateOf?: string;
  /** Wall clock, milliseconds. Default: Date.now. The service accepts a clock 5 minutes ahead or 60 minutes behind. */
  readonly nowMs?: () => number;
}

/** The headers of one signed request. */
export interface WalletHeaders {
  readonly 'x-wallet-address': string;
  readonly 'x-signature': string;
  readonly 'x-signed-message': string;
}

/**
 * Headers of one request. Sign each request anew: a write takes a signature once, and a message is valid for an hour. Rejects
 * with the error of the signer, and with a RangeError for text that no header can carry.
 */
export async function walletHeaders(signer: WalletSigner, options: SignedRequestOptions): Promise<WalletHeaders> {
  const { action, delegateOf, nowMs = Date.now } = options;
  const message = JSON.stringify({
    action,
    ts: Math.floor(nowMs() / 1000),
    walletAddress: signer.address,
    // Without it, two equal requests of one second would have one signature.
    nonce: crypto.randomUUID(),
    ...(delegateOf === undefined ? {} : { isDelegate: true, velocityUserAccount: delegateOf }),
  });
  if (!/^[ -~]*$/.test(message)) throw new RangeError('action and delegateOf must be ASCII text');
  const signature = await signer.signMessage(new TextEncoder().encode(message));
  return { 'x-wallet-address': signer.address, 'x-signature': base58(signature), 'x-signed-message': message };
}

/** The part of a browser wallet (Solana wallet adapter, or an injected provider) that signs messages. */
export interface BrowserWallet {
  /** null while the wallet is not connected. */
  readonly publicKey: { toBase58(): string } | null;
  /** Some wallets return the signature alone, some in an object. */
  signMessage?(message: Uint8Array): Promise<Uint8Array | { readonly signature: Uint8Array }>;
}

/** A signer that asks a browser wallet. Throws an Error while the wallet is not connected, or cannot sign messages. */
export function browserWallet(wallet: BrowserWallet): WalletSigner {
  const address = wallet.publicKey?.toBase58();
  if (address === undefined) throw new Error('the wallet is not connected');
  if (!wallet.signMessage) throw new Error('the wallet cannot sign messages');
  return {
    address,
    signMessage: async (message) => {
      const signed = await wallet.signMessage?.(message);
      if (!signed) throw new Error('the wallet cannot sign messages');
      return signed instanceof Uint8Array ? signed : signed.signature;
    },
  };
}

const SEED_BYTES = 32;
const KEY_FILE_BYTES = 64;
/** The bytes of a PKCS #8 key before its seed (RFC 8410, 7). */
const PKCS8_HEAD = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/**
 * A signer from the text of a Solana key file: a JSON array of 64 bytes, the seed and the public key. Rejects with an Error that
 * says nothing of the key when the text is no key file, or when its halves do not belong together.
 */
export async function keyFileWallet(text: string): Promise<WalletSigner> {
  const bytes = keyFileBytes(text);
  const seed = bytes.slice(0, SEED_BYTES);
  const publicKey = bytes.slice(SEED_BYTES);
  const pkcs8 = Uint8Array.from([...PKCS8_HEAD, ...seed]);
  const privateKey = await crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, ['sign']);
  const signMessage = async (message: Uint8Array) =>
    new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, Uint8Array.from(message)));
  const verifying = await crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify']);
  const isPair = await crypto.subtle.verify('Ed25519', verifying, Uint8Array.from(await signMessage(seed)), seed);
  if (!isPair) throw new Error('the public key of the key file does not belong to its private key');
  return { address: base58(publicKey), signMessage };
}

function keyFileBytes(text: string): Uint8Array<ArrayBuffer> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Refused below. The error of JSON.parse would quote the key.
  }
  const isByte = (each: unknown) => Number.isInteger(each) && Number(each) >= 0 && Number(each) <= 255;
  if (!Array.isArray(value) || value.length !== KEY_FILE_BYTES || !value.every(isByte)) {
    throw new Error('a key file is a JSON array of 64 bytes');
  }
  return Uint8Array.from(value as number[]);
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Base58 with the alphabet of Bitcoin. */
function base58(bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = value * 256n + BigInt(byte);
  let text = '';
  for (; value > 0n; value /= 58n) text = ALPHABET.charAt(Number(value % 58n)) + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return ALPHABET.charAt(0).repeat(zeros < 0 ? bytes.length : zeros) + text;
}
