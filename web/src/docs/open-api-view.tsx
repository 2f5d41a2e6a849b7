// An OpenAPI document: every operation with its parameters and answers, and a form that sends it to the running server.

import { useSignal } from '@preact/signals';
import { addressOf } from '../../../client/index.ts';
import { addresses } from '../addresses.ts';
import { count } from '../format.ts';
import { type Service, wordsOf } from '../services.ts';
import { type OpenApi, type Operation, type Parameter, resolve } from './documents.ts';
import { SchemaView, typeText } from './schema-view.tsx';

const DISPLAYED_CHARS = 20_000;

interface OperationProps {
  readonly document: OpenApi;
  readonly service: Service;
  readonly path: string;
  readonly operation: Operation;
}

export function OpenApiView({ document, service }: { readonly document: OpenApi; readonly service: Service }) {
  const search = useSignal('');
  const wanted = search.value.trim().toLowerCase();
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    methods.get ? [{ path, operation: methods.get }] : [],
  );
  const matching = operations.filter(({ path, operation }) =>
    `${path} ${operation.summary ?? ''}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      <p>{document.info.description}</p>
      <input
        type="search"
        class="doc-search"
        placeholder={`Find one of ${operations.length} paths`}
        aria-label="Find a path"
        value={search.value}
        onInput={({ currentTarget }) => {
          search.value = currentTarget.value;
        }}
      />
      {matching.map(({ path, operation }) => (
        <OperationView key={path} document={document} service={service} path={path} operation={operation} />
      ))}
      {matching.length === 0 ? <p class="note">No path matches.</p> : null}
    </>
  );
}

function OperationView(props: OperationProps) {
  const { document, path, operation } = props;
  const isOpen = useSignal(false);
  return (
    <details
      class="operation"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>
        <span class="method">GET</span> <code>{path}</code> <span class="muted">{operation.summary}</span>
      </summary>
      {isOpen.value ? (
        <div class="operation-body">
          {operation.description ? <p>{operation.description}</p> : null}
          <TryIt {...props} />
          <h2>Answers</h2>
          {Object.entries(operation.responses ?? {}).map(([status, { description, content }]) => (
            <div key={status} class="answer">
              <p>
                <strong>{status}</strong> {description}
              </p>
              {Object.entries(content ?? {}).map(([type, { schema }]) => (
                <div key={type}>
                  <p class="muted">{type}</p>
                  {schema ? <SchemaView document={document} schema={schema} /> : null}
                </div>
              ))}
            </div>
          ))}
        </div>
      ) : null}
    </details>
  );
}

interface Answer {
  readonly url: string;
  readonly line: string;
  readonly body: string;
}

function TryIt({ document, service, path, operation }: OperationProps) {
  const answer = useSignal<Answer | null>(null);
  const parameters = (operation.parameters ?? []).filter(({ in: place }) => place !== 'header');
  const send = async (form: HTMLFormElement) => {
    const values = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ''));
    const url = `${addresses[service]}${addressOf(path, values)}`;
    const started = performance.now();
    try {
      const response = await fetch(url);
      const body = await response.text();
      const ms = Math.round(performance.now() - started);
      answer.value = {
        url,
        line: `${response.status} in ${ms} ms, ${count(body.length)} characters`,
        body: pretty(body),
      };
    } catch (error) {
      answer.value = { url, line: `No answer: ${wordsOf(error)}`, body: '' };
    }
  };
  return (
    <form
      class="try"
      onSubmit={(event) => {
        event.preventDefault();
        void send(event.currentTarget);
      }}
    >
      {parameters.map((parameter) => (
        <Field key={parameter.name} document={document} parameter={parameter} path={path} />
      ))}
      <button type="submit" class="primary">
        Try it
      </button>
      {answer.value ? (
        <output class="try-answer">
          <code>{answer.value.url}</code>
          <p>{answer.value.line}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling text must be reachable by key */}
          <pre tabIndex={0}>{answer.value.body}</pre>
        </output>
      ) : null}
    </form>
  );
}

const EXAMPLES: Readonly<Record<string, string>> = {
  ...{
    symbol: 'SOL-PERP',
    marketName: 'SOL-PERP',
    resolution: '60',
    side: 'bid',
    marketIndex: '0',
    marketType: 'perp',
  },
  ...{ direction: 'long', amount: '1000000000', assetType: 'base', marketFilter: 'perp', interval: '24h' },
};

function Field(props: { readonly document: object; readonly parameter: Parameter; readonly path: string }) {
  const { document, parameter, path } = props;
  const { name, required, description, schema } = parameter;
  const found = schema ? resolve(document, schema) : undefined;
  const id = `${path}-${name}`;
  const needsValue = required === true || (name === 'marketName' && !path.startsWith('/batch'));
  const value = needsValue ? (EXAMPLES[name] ?? '') : '';
  return (
    <div class="field">
      <label for={id}>
        <code>{name}</code>
        {required ? ' (required)' : ''}
      </label>
      {found?.enum ? (
        <select id={id} name={name} defaultValue={value}>
          {required ? null : <option value="">–</option>}
          {found.enum.map((choice) => (
            <option key={String(choice)} value={String(choice)} selected={String(choice) === value}>
              {String(choice)}
            </option>
          ))}
        </select>
      ) : (
        <input id={id} name={name} required={required ?? false} defaultValue={value} spellcheck={false} />
      )}
      <span class="muted">
        {found ? typeText(document, found) : ''}
        {description ? `; ${description}` : ''}
      </span>
    </div>
  );
}

function pretty(body: string): string {
  let text = body;
  try {
    text = JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    // Shown as it came.
  }
  return text.length > DISPLAYED_CHARS
    ? `${text.slice(0, DISPLAYED_CHARS)}\n… ${count(text.length - DISPLAYED_CHARS)} more`
    : text;
}
