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

function entries(all: Readonly<Record<string, Entry | string>>): readonly (readonly [string, Entry])[] {
  return Object.entries(all).map(([name, entry]) => [name, typeof entry === 'string' ? { text: entry } : entry]);
}

/** Rows of name, status or close code, text, retry; columns that no entry fills are left out. */
function errorTable(all: Readonly<Record<string, Entry | string>>, place: string): string {
  const rows = entries(all).map(([name, entry]) => [
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
    errorTable(apiErrors.SOCKET_ERRORS, ''),
    'The `book` channel answers with `code`, `error` and `retry`, and the connection stays open:',
    errorTable(apiErrors.BOOK_FEED_ERRORS, ''),
    '## Quote socket',
    'Refused before it opens:',
    errorTable(apiErrors.QUOTE_REFUSALS, 'Status'),
    'Ended by the server:',
    errorTable(apiErrors.QUOTE_CLOSES, 'Close code'),
    'Answered with a member `error`; the connection stays open:',
    errorTable(apiErrors.QUOTE_ERRORS, ''),
    '## History REST',
    'Bodies are JSON. `...` stands for a message that names the fault.',
    errorTable(apiErrors.HISTORY_ERRORS, 'Status'),
    '`errorReason` of a failed statement export:',
    errorTable(apiErrors.EXPORT_FAILURES, ''),
    '`/tx/*` answers these as `{"success": false, "error": text}`; `$` stands for a detail. A failure of the program has its own text, with\n`code` and `name`.',
    errorTable(apiErrors.TX_ERRORS, 'Status'),
    '## History WebSocket',
    'The message has `type` `error`, and the connection stays open:',
    errorTable(apiErrors.HISTORY_SOCKET_ERRORS, ''),
    'The socket ends a connection with `overflow`, `flood` and `restart` of the gateway.',
  ]);
}
