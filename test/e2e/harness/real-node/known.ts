// Where the simulated cluster's answers have another shape on purpose, with the reason.

interface Known {
  /** Names of calls and subscriptions. */
  readonly in: RegExp;
  /** Lines of differences. */
  readonly line: RegExp;
  readonly reason: string;
}

const KNOWN: readonly Known[] = [
  {
    in: /^getTransaction jsonParsed$/,
    line: /message\.instructions\[\]\.(parsed|program|accounts|data)/,
    reason: 'A node parses instructions of built-in programs; the exchange is none.',
  },
  {
    in: /^getSignatureStatuses$/,
    line: /confirmations: (null|number)$/,
    reason: 'Null for a final transaction, so it depends on the moment.',
  },
  {
    in: /^getBlock full/,
    line: /version: string$/,
    reason: 'Votes are legacy transactions; the simulated cluster has no votes.',
  },
  {
    in: /^(getBlock full.*|all logs|logs at \w+)$/,
    line: /\.(err|Err)(: (null|object)|\.InstructionError)|\.Ok: null/,
    reason: 'Whether a failed transaction is among them depends on the moment.',
  },
  {
    in: /^getProgramAccountsV2$/,
    line: /^/,
    reason: 'A call of some providers, which the simulated cluster has too; a validator refuses it.',
  },
];

/** Differences without the known ones. */
export function unexpected(name: string, lines: readonly string[]): string[] {
  return lines.filter((line) => !KNOWN.some((known) => known.in.test(name) && known.line.test(line)));
}
