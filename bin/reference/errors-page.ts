// The reference page of errors, from the table of errors that the servers answer by.

import { apiErrors } from '../../api/index.ts';
import { code, page, table, written } from './markdown.ts';

interface Entry {
  readonly status?: number | string;
  readonly code?: number;
  readonly text?: string;
  readonly reason?: string;
  readonly error?: string;
  readonly message?: string | null;
  readonly bare?: boolean;
  readonly retry?: boolean;
}

const retry = ({ retry: helps }: Entry): string => (helps === undefined ? '' : helps ? 'yes' : 'no');

/** Errors that are a text alone, as entries. */
function texts(all: Readonly<Record<string, string>>, retryHelps: readonly string[]): Record<string, Entry> {
  return Object.fromEntries(
    Object.entries(all).map(([name, text]) => [name, { text, retry: retryHelps.includes(name) }]),
  );
}

/** Rows of name, status or close code, text, retry; columns that no entry fills are left out. */
function errorTable(all: Readonly<Record<string, Entry>>, place: string): string {
  const rows = Object.entries(all).map(([name, entry]) => [
    code(name),
    String(entry.status ?? entry.code ?? ''),
    textOf(entry),
    retry(entry),
  ]);
  const head = ['Name', place, 'Text', 'Retry helps'];
  const kept = head.map((_, column) => rows.some((row) => row[column] !== ''));
  const pick = (cells: readonly string[]) => cells.filter((_, column) => kept[column]);
  return table(pick(head), rows.map(pick));
}

function textOf({ text, reason, error, message, bare }: Entry): string {
  if (error === undefined) return code(text ?? reason ?? '');
  if (bare === true) return code(JSON.stringify({ success: false, error }));
  return code(JSON.stringify({ error, message: message ?? '...' }));
}

export function errorsPage(): string {
  const { status, error, retry: helps } = apiErrors.FORBIDDEN_ORIGIN;
  return page([
    '# Errors',
    written('the error table of the servers'),
    'Every failure that a client can meet. "Retry helps" means that the same request may succeed later.',
    '## Order-book REST',
    'Bodies are plain text. A route may add a detail after the text, such as the earliest slot that it keeps.',
    errorTable(apiErrors.ORDERBOOK_ERRORS, 'Status'),
    '`/auctionParams` answers these as `{"error": text}`:',
    errorTable(apiErrors.AUCTION_ERRORS, 'Status'),
    '`/oracleLazer` answers this as `{"error": text}`:',
    errorTable({ forbiddenOrigin: { status, text: error, retry: helps } }, 'Status'),
    '## Order-book WebSocket',
    'The gateway ends a connection with:',
    errorTable(apiErrors.SOCKET_CLOSES, 'Close code'),
    'Compatible channels answer with a member `error`, and the connection stays open:',
    errorTable(texts(apiErrors.SOCKET_ERRORS, apiErrors.RETRY_HELPS.socket), ''),
    'The `book` channel answers with `code`, `error` and `retry`, and the connection stays open:',
    errorTable(apiErrors.BOOK_FEED_ERRORS, ''),
    'The `trades.v2` channel answers in the same form:',
    errorTable(apiErrors.TRADE_FEED_ERRORS, ''),
    'So does the `account` channel:',
    errorTable(apiErrors.ACCOUNT_FEED_ERRORS, ''),
    '## Quote socket',
    'Refused before it opens:',
    errorTable(apiErrors.QUOTE_REFUSALS, 'Status'),
    'Ended by the server:',
    errorTable(apiErrors.QUOTE_CLOSES, 'Close code'),
    'Answered with a member `error`; the connection stays open:',
    errorTable(texts(apiErrors.QUOTE_ERRORS, apiErrors.RETRY_HELPS.quote), ''),
    '## History REST',
    'Bodies are JSON. `...` stands for a message that names the fault.',
    errorTable(apiErrors.HISTORY_ERRORS, 'Status'),
    '`errorReason` of a failed statement export:',
    errorTable(texts(apiErrors.EXPORT_FAILURES, apiErrors.RETRY_HELPS.export), ''),
    '`/tx/*` answers these as `{"success": false, "error": text}`; `$` stands for a detail. A failure of the program has its own text, with\n`code` and `name`.',
    errorTable(apiErrors.TX_ERRORS, 'Status'),
    '## History WebSocket',
    'The message has `type` `error`, and the connection stays open:',
    errorTable(texts(apiErrors.HISTORY_SOCKET_ERRORS, apiErrors.RETRY_HELPS.historySocket), ''),
    'The socket ends a connection with `overflow`, `flood` and `restart` of the gateway.',
  ]);
}
