// One spelling of names for both IDL formats: snake_case fields, lower camel case enum variants.

/** `last24hAvgFundingRate` -> `last_24h_avg_funding_rate`, `sqrtK` -> `sqrt_k`. Snake case stays as it is. */
export function snakeCase(name: string): string {
  if (!/[A-Z]/.test(name)) return name;
  return name
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replace(/([a-z])([A-Z0-9])/g, '$1_$2')
    .replace(/([0-9])([A-Z])/g, '$1_$2')
    .toLowerCase();
}

/** `OrderFilledWithAMMJitLPSplit` -> `orderFilledWithAmmJitLpSplit`, `Pyth1K` -> `pyth1K`. */
export function variantName(name: string): string {
  const words = name.replace(/[A-Z]{2,}/g, (run, at: number) => {
    const beginsWord = /[a-z]/.test(name[at + run.length] ?? '');
    const head = beginsWord ? run.slice(0, -1) : run;
    return head.charAt(0) + head.slice(1).toLowerCase() + (beginsWord ? run.slice(-1) : '');
  });
  return words.charAt(0).toLowerCase() + words.slice(1);
}
