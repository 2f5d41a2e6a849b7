// The filters of a subscription: which updates it gets, and the names of the filters that each one passed.

import bs58 from 'bs58';
import { type GeyserRequest, geyserMessages } from '../../schemas/index.ts';
import type { Commitment } from '../ledger.ts';
import { type Filter, passes } from '../rpc/account-json.ts';
import type { FeedMessage } from './messages.ts';

/** A request that this server refuses. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
}

type AccountFilters = GeyserRequest['accounts'][string];
type TransactionFilters = GeyserRequest['transactions'][string];
type Test = (message: FeedMessage) => boolean;

const PROGRESS: ReadonlySet<string> = new Set(['processed', 'confirmed', 'finalized']);

export class Filters {
  readonly level: Commitment;
  readonly #tests: readonly { readonly name: string; readonly test: Test }[];

  /** @throws RefusedRequest for a filter that the simulated server does not have */
  constructor(request: GeyserRequest) {
    this.level = levelOf(request.commitment);
    const other = [request.transactionsStatus, request.blocks, request.entry, request.accountsDataSlice];
    if (other.some((filters) => Object.keys(filters).length > 0)) {
      throw new RefusedRequest('the simulated server has accounts, slots, transactions and blocksMeta only');
    }
    this.#tests = [
      ...named(request.accounts, accountTest),
      ...named(request.transactions, transactionTest),
      ...named(request.slots, (filter) => this.#slotTest(filter)),
      ...named(request.blocksMeta, () => (message) => message.kind === 'blockMeta'),
    ];
  }

  /** Names of the filters that the update passes. */
  passed(message: FeedMessage): string[] {
    return this.#tests.flatMap(({ name, test }) => (test(message) ? [name] : []));
  }

  #slotTest({ filterByCommitment, interslotUpdates }: GeyserRequest['slots'][string]): Test {
    return (message) =>
      message.kind === 'slot' &&
      (!filterByCommitment || message.state === this.level) &&
      (interslotUpdates === true || PROGRESS.has(message.state));
  }
}

function named<F>(filters: Readonly<Record<string, F>>, testOf: (filter: F) => Test) {
  return Object.entries(filters).map(([name, filter]) => ({ name, test: testOf(filter) }));
}

function levelOf(commitment: GeyserRequest['commitment']): Commitment {
  const { CommitmentLevel } = geyserMessages();
  if (commitment === CommitmentLevel.FINALIZED) return 'finalized';
  return commitment === CommitmentLevel.CONFIRMED ? 'confirmed' : 'processed';
}

/** The members of a filter must all hold; of a list, one entry. */
function accountTest({ account, owner, filters, nonemptyTxnSignature, cuckooAccountsFilter }: AccountFilters): Test {
  if (cuckooAccountsFilter) throw new RefusedRequest('compressed filters are not simulated');
  const [keys, owners, bytes] = [new Set(account), new Set(owner), filters.map(dataFilter)];
  return (message) =>
    message.kind === 'account' &&
    (keys.size === 0 || keys.has(message.account.pubkey)) &&
    (owners.size === 0 || owners.has(ownerOf(message.account))) &&
    (nonemptyTxnSignature === undefined || nonemptyTxnSignature) &&
    passes(message.account.data, bytes);
}

/** A closed account belongs to the system program. */
function ownerOf({ data, owner }: { readonly data: Buffer; readonly owner: string }): string {
  return data.length === 0 ? '11111111111111111111111111111111' : owner;
}

function dataFilter({ memcmp, datasize }: AccountFilters['filters'][number]): Filter {
  if (datasize !== undefined) return { kind: 'size', size: Number(datasize) };
  if (!memcmp) throw new RefusedRequest('the simulated server filters by datasize and memcmp only');
  const { offset, bytes, base58, base64 } = memcmp;
  const wanted = bytes ?? (base58 === undefined ? Buffer.from(base64 ?? '', 'base64') : bs58.decode(base58));
  return { kind: 'bytes', offset: Number(offset), bytes: Buffer.from(wanted) };
}

function transactionTest(filter: TransactionFilters): Test {
  const { failed, signature, accountInclude, accountExclude, accountRequired } = filter;
  if (filter.cuckooAccountInclude || filter.tokenAccounts !== undefined) {
    throw new RefusedRequest('compressed filters and token accounts are not simulated');
  }
  return (message) => {
    if (message.kind !== 'transaction') return false;
    const { accountKeys, err, signature: own } = message.transaction;
    const has = (key: string): boolean => accountKeys.includes(key);
    return (
      filter.vote !== true &&
      (failed === undefined || failed === (err !== null)) &&
      (signature === undefined || signature === own) &&
      (accountInclude.length === 0 || accountInclude.some(has)) &&
      !accountExclude.some(has) &&
      accountRequired.every(has)
    );
  };
}
