"""Bridges to other libraries. Each module needs its library: `pip install slotbook[ccxt]`, `slotbook[hftbacktest]`."""
