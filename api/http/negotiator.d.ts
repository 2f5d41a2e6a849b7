// Types of negotiator 1.0.0. Those of @types/negotiator lack the option `preferred`.

declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string>> });
    /** The best of `available`; the earliest in `preferred` among equal weights. Undefined when none is acceptable. */
    encoding<T extends string>(available: readonly T[], options: { readonly preferred: readonly T[] }): T | undefined;
  }
}
