// The account view: what the history holds of a trading account, or of the accounts of a wallet. It needs no signature.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { HistoryAnswer } from '../../../client/index.ts';
import { amount, count, price, shortKey } from '../format.ts';
import { csvOf, saveFile, Table } from '../parts/table.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { go, route, setOptions } from '../route.ts';
import { history, wordsOf } from '../services.ts';
import { marketOf, parametersOf } from '../state/markets.ts';
import { ownAccounts } from '../trade/book-view.ts';
import { Equity } from './equity.tsx';
import { type AccountList, allRows, CSV_PAGES_MAX, listPage, listsOf, PAGE_ROWS } from './lists.ts';
import type { OpenPosition } from './open-positions.ts';
import { loadPositions } from './positions.ts';
import type { Row } from './row.ts';
import '../style/account.css';

const KEY = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

type WalletAccount = HistoryAnswer<'/authority/{authorityId}/accounts'>['accounts'][number];

export function AccountView() {
  const key = route.value.subject;
  const isKey = KEY.test(key);
  return (
    <div class="page account" data-testid="account">
      <h1>Account</h1>
      <form
        class="find"
        onSubmit={(event) => {
          event.preventDefault();
          const field = event.currentTarget.elements.namedItem('key') as HTMLInputElement;
          go('account', field.value.trim());
        }}
      >
        <label for="account-key">Trading account or wallet</label>
        <input id="account-key" key={key} name="key" defaultValue={key} spellcheck={false} autocomplete="off" />
        <button type="submit" class="primary">
          Show
        </button>
      </form>
      {key === '' ? (
        <p class="note">Enter a public key. Everything here is public data of the chain, so no signature is needed.</p>
      ) : isKey ? (
        <Found key={key} account={key} />
      ) : (
        <p class="problem">This is not a public key. It has 32 to 44 letters and digits of base58.</p>
      )}
    </div>
  );
}

/** A wallet shows its accounts; the chosen one is in the address. */
function Found({ account }: { readonly account: string }) {
  const accounts = useSignal<readonly WalletAccount[] | null>(null);
  const error = useSignal<string | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const params = { authorityId: account };
    history.get('/authority/{authorityId}/accounts', params, { signal: abort.signal }).then(
      (answer) => {
        accounts.value = answer.accounts;
      },
      (reason) => {
        if (!abort.signal.aborted) error.value = wordsOf(reason);
      },
    );
    return () => abort.abort();
  }, [account]);
  if (error.value !== null) return <p class="problem">{error.value}</p>;
  if (accounts.value === null) return <p class="note">Loading.</p>;
  if (accounts.value.length === 0) return <OneAccount account={account} />;
  const named = route.value.options.account;
  const chosen = accounts.value.find(({ accountId }) => accountId === named) ?? accounts.value[0];
  return (
    <>
      <fieldset class="choices wallet">
        <legend>
          Accounts of wallet <span class="key">{account}</span>
        </legend>
        {accounts.value.map(({ accountId, subAccountId, name }) => (
          <button
            key={accountId}
            type="button"
            aria-pressed={accountId === chosen?.accountId}
            onClick={() => setOptions({ account: accountId })}
          >
            {name === '' ? `Account ${subAccountId}` : name} <span class="key">{shortKey(accountId)}</span>
          </button>
        ))}
      </fieldset>
      {chosen ? <OneAccount key={chosen.accountId} account={chosen.accountId} /> : null}
    </>
  );
}

function OneAccount({ account }: { readonly account: string }) {
  const lists = listsOf(account);
  const list = lists.find(({ name }) => name === route.value.options.list) ?? lists[0];
  const isOwn = ownAccounts.value.includes(account);
  return (
    <>
      <p class="account-line">
        Trading account <span class="key">{account}</span>{' '}
        <button
          type="button"
          aria-pressed={isOwn}
          onClick={() => {
            ownAccounts.value = isOwn
              ? ownAccounts.value.filter((one) => one !== account)
              : [...ownAccounts.value, account];
          }}
        >
          {isOwn ? 'Marked in the book' : 'Mark its orders in the book'}
        </button>
      </p>
      <Equity account={account} />
      <h2>Open positions</h2>
      <Positions account={account} />
      <h2>Records</h2>
      <div class="scroll records-box">
        <Tabs
          id="list"
          label="Lists of the account"
          choices={lists}
          chosen={list?.name ?? ''}
          onChoose={(name) => setOptions({ list: name })}
        >
          {list ? <Records key={list.name} account={account} list={list} /> : null}
        </Tabs>
      </div>
    </>
  );
}

function Positions({ account }: { readonly account: string }) {
  const positions = useSignal<readonly OpenPosition[] | null>(null);
  const error = useSignal<string | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    loadPositions(account, abort.signal).then(
      (found) => {
        positions.value = found;
      },
      (reason) => {
        if (!abort.signal.aborted) error.value = wordsOf(reason);
      },
    );
    return () => abort.abort();
  }, [account]);
  if (error.value !== null) return <p class="problem">{error.value}</p>;
  if (positions.value === null) return <p class="note">Loading.</p>;
  const worthOf = ({ symbol, base }: OpenPosition) =>
    (Number(base) / 10 ** parametersOf(symbol).baseDecimals) * (marketOf(symbol)?.oraclePrice ?? 0);
  const saved = [
    { head: 'Market', cell: ({ symbol }: OpenPosition) => symbol, csv: ({ symbol }: OpenPosition) => symbol },
    {
      head: 'Size',
      cell: ({ symbol, base }: OpenPosition) => amount(base, parametersOf(symbol).baseDecimals),
      csv: ({ base }: OpenPosition) => String(base),
      isNumber: true,
    },
    {
      head: 'Value at the oracle price',
      cell: (one: OpenPosition) => price(worthOf(one)),
      csv: worthOf,
      isNumber: true,
    },
    {
      head: 'As of slot',
      cell: ({ slot }: OpenPosition) => count(slot),
      csv: ({ slot }: OpenPosition) => slot,
      isNumber: true,
    },
    {
      head: 'From',
      cell: ({ isCertain }: OpenPosition) =>
        isCertain ? 'funding payments and fills' : 'the newest fills; older ones may be missing',
      csv: ({ isCertain }: OpenPosition) => (isCertain ? 'whole' : 'partial'),
    },
  ];
  return (
    <>
      <SaveButton name={`positions-${account}`} text={() => csvOf(saved, positions.value ?? [])} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling table must be reachable by key */}
      <section class="scroll" aria-label="Open positions" tabIndex={0}>
        <Table
          caption="Open perp positions"
          rows={positions.value}
          keyOf={({ symbol }) => symbol}
          empty="No open position follows from the stored records."
          columns={saved}
        />
      </section>
    </>
  );
}

function SaveButton({ name, text }: { readonly name: string; text(): string }) {
  return (
    <p class="panel-bar">
      <button type="button" onClick={() => saveFile(`${name}.csv`, 'text/csv;charset=utf-8', text())}>
        Save CSV
      </button>
    </p>
  );
}

function Records({ account, list }: { readonly account: string; readonly list: AccountList }) {
  const rows = useSignal<readonly Row[]>([]);
  const next = useSignal<string | null>(null);
  const state = useSignal<'loading' | 'loaded' | 'saving'>('loading');
  const error = useSignal<string | null>(null);
  const fail = (reason: unknown) => {
    error.value = wordsOf(reason);
    state.value = 'loaded';
  };
  const load = (signal?: AbortSignal) => {
    state.value = 'loading';
    listPage(account, list, next.value, signal).then(
      ({ records, meta }) => {
        rows.value = [...rows.value, ...records];
        next.value = meta.nextPage;
        state.value = 'loaded';
        error.value = null;
      },
      (reason) => {
        if (!signal?.aborted) fail(reason);
      },
    );
  };
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal);
    return () => abort.abort();
  }, [account, list.name]);
  const save = async () => {
    state.value = 'saving';
    try {
      const { rows: all, isWhole } = await allRows(account, list);
      saveFile(`${list.name}-${account}.csv`, 'text/csv;charset=utf-8', csvOf(list.columns, all));
      state.value = 'loaded';
      error.value = isWhole
        ? null
        : `The file has the newest ${count(CSV_PAGES_MAX * PAGE_ROWS)} rows. The history service has older ones by month.`;
    } catch (reason) {
      fail(reason);
    }
  };
  return (
    <>
      <div class="panel-bar">
        <button type="button" disabled={state.value !== 'loaded' || rows.value.length === 0} onClick={save}>
          {state.value === 'saving' ? 'Saving' : 'Save CSV'}
        </button>
        <span class="muted">Amounts in the file are raw integers, as the history service has them.</span>
      </div>
      {error.value === null ? null : <p class="problem">{error.value}</p>}
      <Table
        caption={`${list.label}, newest first`}
        rows={rows.value}
        keyOf={(row) => `${row.txSig}/${row.txSigIndex}/${row.orderId ?? row.fillRecordId ?? ''}`}
        empty={state.value === 'loading' ? 'Loading.' : list.empty}
        columns={list.columns}
      />
      {next.value === null ? null : (
        <p class="panel-bar">
          <button type="button" disabled={state.value !== 'loaded'} onClick={() => load()}>
            Older records
          </button>
        </p>
      )}
    </>
  );
}
