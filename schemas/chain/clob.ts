// Constants of the market-level order account that its IDL does not express: the layout behind the header, and flag bits.
// Source: docs/internals/accounts.md, "Market-level order account"; idl/clob.json repeats the offsets as constants.

/** First byte of the first OrderNodeV0. */
export const CLOB_NODES_OFFSET = 9648;
export const CLOB_NODE_BYTES = 104;

export const CLOB_NODE_FLAGS = { open: 1, ask: 2, takerOrigin: 4, reduceOnly: 8 } as const;

/** Bit of Order.bit_flags: the order in the User account shadows a book node, and the node has the true size. */
export const ORDER_FLAG_PLACED_ON_CLOB = 64;
