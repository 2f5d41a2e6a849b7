// The entry point for integrators. Runs in Node and in browsers.

export * from './accounts/index.ts';
export * from './feed/index.ts';
export * from './history/index.ts';
export * from './orderbook/index.ts';
export {
  type BrowserWallet,
  browserWallet,
  keyFileWallet,
  type SignedRequestOptions,
  type WalletHeaders,
  type WalletSigner,
  walletHeaders,
} from './wallet.ts';
