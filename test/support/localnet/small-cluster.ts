// A simulated cluster that stands still and is ready in a moment.

import type { LocalnetOptions } from '../../../localnet/index.ts';

export const SMALL_CLUSTER: LocalnetOptions = {
  seed: 4,
  speed: 0,
  accounts: 40,
  ordersPerMarket: 20,
  genesisTime: 1_700_000_000,
  rpcPort: 0,
  wsPort: 0,
  keepEvents: true,
};
