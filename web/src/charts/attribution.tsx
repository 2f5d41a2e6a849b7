// The notice that the licence of lightweight-charts asks for.

export function Attribution() {
  return (
    <p class="attribution">
      Charts by{' '}
      <a href="https://www.tradingview.com/" rel="noreferrer" target="_blank">
        TradingView Lightweight Charts™
      </a>
    </p>
  );
}
