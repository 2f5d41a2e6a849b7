// An AsyncAPI document: the messages in both directions, and a socket to the running server to try them.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type AsyncApi, type AsyncMessage, nameOf, resolve } from './documents.ts';
import { SchemaView } from './schema-view.tsx';

const KEPT_MESSAGES = 20;
const DISPLAYED_CHARS = 1_500;

export interface SocketTry {
  readonly url: string | null;
  readonly example: string;
}

export function AsyncApiView({ document, socket }: { readonly document: AsyncApi; readonly socket: SocketTry }) {
  const operations = Object.entries(document.operations);
  return (
    <>
      <p>{document.info.description}</p>
      <TrySocket {...socket} />
      {Object.entries(document.channels).map(([channelName, channel]) => (
        <section key={channelName}>
          <h2>
            <code>{channel.address ?? channelName}</code>
          </h2>
          <p>{channel.description}</p>
          {(['receive', 'send'] as const).map((action) => {
            const messages = operations
              .filter(([, one]) => one.action === action && nameOf(one.channel) === channelName)
              .flatMap(([, one]) => one.messages ?? Object.values(channel.messages ?? {}));
            return messages.length === 0 ? null : (
              <div key={action}>
                <h3>{action === 'receive' ? 'The server takes' : 'The server sends'}</h3>
                {messages.map((message) => (
                  <MessageView key={nameOf(message)} document={document} message={message} />
                ))}
              </div>
            );
          })}
        </section>
      ))}
    </>
  );
}

function MessageView({ document, message }: { readonly document: AsyncApi; readonly message: AsyncMessage }) {
  const found = resolve(document, message);
  const isOpen = useSignal(false);
  return (
    <details
      class="operation"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>
        <code>{found.title ?? found.name ?? nameOf(message)}</code> <span class="muted">{found.summary}</span>
      </summary>
      {isOpen.value ? (
        <div class="operation-body">
          {found.payload ? <SchemaView document={document} schema={found.payload} /> : null}
          {found.examples?.map(({ payload }) => (
            <pre key={JSON.stringify(payload)}>{JSON.stringify(payload, null, 2)}</pre>
          ))}
        </div>
      ) : null}
    </details>
  );
}

function TrySocket({ url, example }: SocketTry) {
  const state = useSignal('closed');
  const received = useSignal<readonly string[]>([]);
  const socket = useRef<WebSocket | null>(null);
  useEffect(() => () => socket.current?.close(), [url]);
  if (url === null) return <p class="problem">This page has no address of the service.</p>;
  const send = (text: string) => {
    if (socket.current?.readyState === WebSocket.OPEN) {
      socket.current.send(text);
      return;
    }
    const opened = new WebSocket(url);
    socket.current = opened;
    state.value = 'connecting';
    opened.onopen = () => {
      state.value = 'open';
      opened.send(text);
    };
    opened.onmessage = ({ data }) => {
      received.value = [String(data).slice(0, DISPLAYED_CHARS), ...received.value].slice(0, KEPT_MESSAGES);
    };
    opened.onclose = ({ code, reason }) => {
      state.value = `closed (${code}${reason === '' ? '' : `, ${reason}`})`;
    };
  };
  return (
    <form
      class="try"
      onSubmit={(event) => {
        event.preventDefault();
        send((event.currentTarget.elements.namedItem('message') as HTMLTextAreaElement).value);
      }}
    >
      <label>
        Message to <code>{url}</code>
        <textarea name="message" rows={3} spellcheck={false} defaultValue={example} />
      </label>
      <p class="panel-bar">
        <button type="submit" class="primary">
          Send
        </button>
        <button type="button" onClick={() => socket.current?.close()}>
          Close
        </button>
        <span class="muted">The socket is {state.value}.</span>
      </p>
      {received.value.length === 0 ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling text must be reachable by key
        <pre tabIndex={0}>{received.value.join('\n')}</pre>
      )}
    </form>
  );
}
