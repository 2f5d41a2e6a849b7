// The reference page of WebSockets, from the AsyncAPI document that the server serves.

import { bullets, code, fenced, page, sentence, table, written } from './markdown.ts';
import { sharedTypes } from './rest-page.ts';
import { exampleOf, jsonLines, memberRows, type Schema, type Schemas, typeText } from './schema-text.ts';

interface Message {
  readonly summary: string;
  readonly payload: Schema;
}

interface Channel {
  readonly address: string;
  readonly title: string;
  readonly description: string;
  readonly messages: Readonly<Record<string, Message>>;
  readonly bindings: { readonly ws: { readonly query?: Schema } };
  readonly 'x-closes': readonly { readonly code: number; readonly reason: string; readonly retry: boolean }[];
}

interface Action {
  readonly action: 'receive' | 'send';
  readonly messages: readonly { readonly $ref: string }[];
}

export interface AsyncApi {
  readonly info: { readonly description: string };
  readonly channels: Readonly<Record<string, Channel>>;
  readonly operations: Readonly<Record<string, Action>>;
  readonly components: { readonly schemas: Schemas };
}

/** Names of the messages that one side of a socket sends; actions are the server's. */
function namesOf({ operations }: AsyncApi, channel: string, action: Action['action']): readonly string[] {
  const start = `#/channels/${channel}/messages/`;
  return Object.values(operations)
    .filter((operation) => operation.action === action)
    .flatMap(({ messages }) => messages.map(({ $ref }) => $ref))
    .filter((ref) => ref.startsWith(start))
    .map((ref) => ref.slice(start.length));
}

function messageBlocks(heading: string, { summary, payload }: Message, schemas: Schemas): readonly string[] {
  const rows = memberRows(payload);
  return [
    `#### ${heading}`,
    sentence(summary),
    rows.length === 0 ? sentence(typeText(payload)) : table(['Member', 'Values', 'Meaning'], rows),
    fenced('json', jsonLines(exampleOf(payload, schemas))),
  ];
}

/** The page as Markdown. */
export function socketPage(title: string, lead: string, document: AsyncApi): string {
  const { schemas } = document.components;
  const sockets = Object.entries(document.channels).flatMap(([id, channel]) => {
    const part = (heading: string, action: Action['action'], prefix: string) => [
      `### ${heading}`,
      ...namesOf(document, id, action).flatMap((name) => {
        const message = channel.messages[name];
        return message ? messageBlocks(`${prefix} ${name}`, message, schemas) : [];
      }),
    ];
    const { query } = channel.bindings.ws;
    return [
      `## ${channel.title}: ${code(channel.address)}`,
      bullets(channel.description),
      query
        ? `Parameters of the upgrade request:\n\n${table(['Parameter', 'Values', 'Meaning'], memberRows(query))}`
        : null,
      'The server ends a connection with these codes:',
      table(
        ['Code', 'Reason', 'Reconnecting helps'],
        channel['x-closes'].map((close) => [String(close.code), code(close.reason), close.retry ? 'yes' : 'no']),
      ),
      ...part(`Messages to ${channel.address}`, 'receive', `${channel.title} takes`),
      ...part(`Messages from ${channel.address}`, 'send', `${channel.title} sends`),
    ];
  });
  return page([
    `# ${title}`,
    written('the AsyncAPI document that the server makes of its message tables'),
    lead,
    bullets(document.info.description),
    'Examples show the form of a message. Their values are not those of a market.',
    ...sockets,
    ...sharedTypes(schemas),
  ]);
}
