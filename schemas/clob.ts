// Fixed numbers of the market-level order account that an IDL cannot say: what follows the header, and flag bits.
// Source: protocol reference 1.9; the offsets stand as constants in idl/clob.json too.

/** u32: how many nodes the arena has. Capacity also follows from the data length. */
export const CLOB_NODE_COUNT_OFFSET = 9640;
/** First byte of the first OrderNodeV0. */
export const CLOB_NODES_OFFSET = 9648;
export const CLOB_NODE_BYTES = 104;

export const CLOB_NODE_FLAGS = { open: 1, ask: 2, takerOrigin: 4, reduceOnly: 8 } as const;

/** Order.bit_flags: the slot in the User account is the shadow of a book node, which is authoritative for its size. */
export const ORDER_FLAG_PLACED_ON_CLOB = 64;
