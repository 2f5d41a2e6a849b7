// Compares derived addresses with the published deployment (docs/internals/accounts.md, "Addresses").

import { describe, expect, it } from 'vitest';
import { exchangeAddress, text, u16le, u32le } from './keys.ts';

describe('derived addresses equal those of the deployed program', () => {
  it.each([
    ['State', [text('velocity_state')], '2etx5NvPNxeMZ7EfHE6GjJfW2imRYEUANehNS1WB4CVW'],
    ['signer', [text('velocity_signer')], 'FchXiT9JgMDis6CFLjz9uG5mQYkmDtHqiWtBPEYUabaK'],
    ['PerpMarket 0', [text('perp_market'), u16le(0)], 'FDejXbUrSy6zayBCL5xuk2SXLHZgr8ppfFTLcHbyJorY'],
    ['PerpMarket 1', [text('perp_market'), u16le(1)], '7s5WRWA3GahueLNfNb8bbVnHnxCssK5YjGCR3wP6Aa1t'],
    ['PerpMarket 2', [text('perp_market'), u16le(2)], 'Bx7JoyYAmBLDPnEdQsPUEhs2dDu4Ga5PoW5BhhhAcChg'],
    ['SpotMarket 0', [text('spot_market'), u16le(0)], '2QpHj5vzgCdWaGM2KSoGtYJWeSkx24cMyzUDHDrucvRc'],
    ['SpotMarket 1', [text('spot_market'), u16le(1)], '5MzQRp6hhesVuM3CSAzBfPSNP1WaJyF1ifwkmzcrWLtU'],
    ['spot vault 0', [text('spot_market_vault'), u16le(0)], 'G9NKtiafHiCTArgVouXx6XS7Jb3DqigrT6S6BgSDLrvz'],
    ['Lazer feed 6', [text('pyth_lazer'), u32le(6)], '2k3UHX6ehRFzx5fTVvbL6FwXhMjkucjJDL9MuVKLo8TV'],
    ['quoter slab 0', [text('quoter_slab'), u16le(0)], 'GF4fiJhVGbi8xPqxK73sKDFkSCkDEU7MjhkuP78jiEJs'],
    ['quoter signer', [text('quoter_signer')], '5wYB9y9RZmyRmyGrqFkJWkJD7SnU5LDFn9s5dMbK2fTq'],
  ])('%s', (_, seeds, address) => {
    expect(exchangeAddress(...seeds)).toBe(address);
  });
});
