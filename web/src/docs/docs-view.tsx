// The documentation view: a quick start, and the four contracts as the running services publish them.

import { addresses, historySocketUrl } from '../addresses.ts';
import { usePolled } from '../parts/use-polled.ts';
import { linkOf, route } from '../route.ts';
import { AsyncApiView } from './async-api-view.tsx';
import { DOCUMENTS, type DocumentChoice, documentOf } from './documents.ts';
import { OpenApiView } from './open-api-view.tsx';
import { QuickStart } from './quick-start.tsx';
import '../style/docs.css';

const QUICK_START = { name: '', label: 'Quick start' };
/** A contract changes with the server alone. */
const REFRESH_MS = 3_600_000;

export function DocsView() {
  const { subject } = route.value;
  const chosen = DOCUMENTS.find(({ name }) => name === subject);
  return (
    <div class="page docs" data-testid="docs">
      <nav aria-label="Documents">
        {[QUICK_START, ...DOCUMENTS].map(({ name, label }) => (
          <a
            key={name}
            href={linkOf({ view: 'docs', subject: name, options: {} })}
            aria-current={name === (chosen?.name ?? '') ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      <article>
        <h1>{chosen?.label ?? QUICK_START.label}</h1>
        {chosen ? <Contract key={chosen.name} choice={chosen} /> : <QuickStart />}
      </article>
    </div>
  );
}

function Contract({ choice }: { readonly choice: DocumentChoice }) {
  const { data, error } = usePolled(choice.name, (signal) => documentOf(choice, signal), REFRESH_MS);
  if (data === null) return error === null ? <p class="note">Loading.</p> : <p class="problem">{error}</p>;
  if ('paths' in data) return <OpenApiView document={data} service={choice.service} />;
  return <AsyncApiView document={data} socket={SOCKETS[choice.service]} />;
}

const SOCKETS = {
  orderbook: {
    url: addresses.gateway,
    example: '{"type":"subscribe","channel":"book","market":"SOL-PERP","depth":5,"conflation":1000}',
  },
  history: {
    url: historySocketUrl(),
    example: '{"type":"subscribe","channelType":"candle","symbol":"SOL-PERP","resolution":"1"}',
  },
};
