// Sizes of Ed25519 keys and signatures (RFC 8032), which the chain uses for all of its addresses and transactions.

/** A public key: the address of a wallet, an account or a program. */
export const PUBKEY_BYTES = 32;
/** A signature. The first one of a transaction names it. */
export const SIGNATURE_BYTES = 64;
