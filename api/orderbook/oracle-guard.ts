// Who may read the oracle feed: a holder of the internal secret, or a page of the operator over HTTPS (specification,
// Authentication; reference 1.10).

import { createHash, timingSafeEqual } from 'node:crypto';

export interface OracleGuardOptions {
  /** Empty: no header matches. */
  readonly secret: string;
  /** Pages on subdomains of it are let in; empty: none. */
  readonly domain: string;
}

export interface GuardedRequest {
  /** How the client reached us, as the trusted proxy tells it. */
  readonly protocol: string;
  readonly headers: {
    readonly authorization?: string | undefined;
    readonly origin?: string | undefined;
    readonly referer?: string | undefined;
  };
}

export type OracleGuard = (request: GuardedRequest) => boolean;

export function oracleGuard({ secret, domain }: OracleGuardOptions): OracleGuard {
  const expected = secret === '' ? null : digest(secret);
  const suffix = domain === '' ? null : `.${domain.toLowerCase().replace(/^\.+/, '')}`;
  return ({ protocol, headers }) => {
    // Digests have one length, so that neither it nor the first difference shows in the time taken.
    if (expected && headers.authorization !== undefined && timingSafeEqual(digest(headers.authorization), expected)) {
      return true;
    }
    // The referer counts only where there is no origin.
    const page = headers.origin ?? headers.referer;
    return suffix !== null && protocol === 'https' && page !== undefined && isSubdomainPage(page, suffix);
  };
}

/** `suffix` begins with a dot, so that only whole labels match and the domain itself does not. */
function isSubdomainPage(page: string, suffix: string): boolean {
  const url = URL.canParse(page) ? new URL(page) : null;
  return url?.protocol === 'https:' && url.hostname.length > suffix.length && url.hostname.endsWith(suffix);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
