// Raw bytes of user accounts for `/topMakers?includeAccounts=true`, read from the chain's JSON-RPC when asked.

export interface AccountReader {
  /** Base64 of each account's bytes, in order; null for one that does not exist or could not be read in time. */
  read(addresses: readonly string[]): Promise<readonly (string | null)[]>;
}

/** Most accounts one getMultipleAccounts call takes (Solana JSON-RPC). */
const ACCOUNTS_PER_CALL = 100;
/** Below the 3,000 ms after which the published client gives up. */
const TIMEOUT_MS = 2000;

interface AccountsAnswer {
  readonly result?: { readonly value?: readonly ({ readonly data?: readonly unknown[] } | null)[] };
}

/** Reads by getMultipleAccounts from `rpcUrl`; with an empty URL every account is null. */
export function rpcAccountReader(rpcUrl: string): AccountReader {
  return {
    async read(addresses) {
      const found: (string | null)[] = [];
      for (let at = 0; at < addresses.length; at += ACCOUNTS_PER_CALL) {
        found.push(...(await readSome(rpcUrl, addresses.slice(at, at + ACCOUNTS_PER_CALL))));
      }
      return found;
    },
  };
}

async function readSome(rpcUrl: string, addresses: readonly string[]): Promise<readonly (string | null)[]> {
  const nothing = addresses.map(() => null);
  if (rpcUrl === '') return nothing;
  try {
    const params = [addresses, { encoding: 'base64' }];
    const answer = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getMultipleAccounts', params }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { result } = (await answer.json()) as AccountsAnswer;
    return addresses.map((_, index) => {
      const data = result?.value?.[index]?.data?.[0];
      return typeof data === 'string' ? data : null;
    });
  } catch {
    return nothing; // an answer without bytes is still an answer: the makers are known
  }
}
