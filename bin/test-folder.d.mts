/** Calls `run` with the environment of a test run. Resolves to its result. */
export function inTestFolder<T>(run: (environment: { readonly TMPDIR?: string }) => Promise<T>): Promise<T>;
