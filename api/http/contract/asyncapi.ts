// Assembles an AsyncAPI 3.0 document of WebSockets and the messages of both sides. Payloads use the default schema format of
// AsyncAPI 3, with the keywords of draft 07.

import type { JsonSchema, Members } from './json-schema.ts';

export interface MessageContract {
  readonly summary: string;
  readonly payload: JsonSchema;
  /** Names of the answering messages; only for client messages. */
  readonly answeredBy?: readonly string[];
}

export interface Close {
  readonly code: number;
  readonly reason: string;
  /** True when a new connection may succeed. */
  readonly retry: boolean;
}

export interface SocketContract {
  readonly address: string;
  readonly title: string;
  readonly description: string;
  /** Names of servers that offer it. */
  readonly servers: readonly string[];
  /** Parameters of the upgrade request. */
  readonly query?: JsonSchema;
  /** Reasons for which the server closes a connection. */
  readonly closes: readonly Close[];
  /** Messages of clients and of the server, by name. */
  readonly receives: Readonly<Record<string, MessageContract>>;
  readonly sends: Readonly<Record<string, MessageContract>>;
}

export interface AsyncApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
}

export interface AsyncApiParts {
  readonly info: AsyncApiInfo;
  readonly servers: Readonly<Record<string, object>>;
  /** By channel id. */
  readonly sockets: Readonly<Record<string, SocketContract>>;
  readonly schemas: Members;
}

/** Actions name the server's side: it `receives` client messages. */
export function assembleAsyncApi({ info, servers, sockets, schemas }: AsyncApiParts): object {
  const channels: Record<string, object> = {};
  const operations: Record<string, object> = {};
  for (const [id, socket] of Object.entries(sockets)) {
    channels[id] = channelOf(socket);
    const message = (name: string) => ({ $ref: `#/channels/${id}/messages/${name}` });
    const channel = { $ref: `#/channels/${id}` };
    for (const [name, { summary, answeredBy }] of Object.entries(socket.receives)) {
      operations[`${id}.receive.${name}`] = {
        action: 'receive',
        channel,
        summary,
        messages: [message(name)],
        ...(answeredBy ? { reply: { channel, messages: answeredBy.map(message) } } : {}),
      };
    }
    for (const [name, { summary }] of Object.entries(socket.sends)) {
      operations[`${id}.send.${name}`] = { action: 'send', channel, summary, messages: [message(name)] };
    }
  }
  return {
    asyncapi: '3.0.0',
    info,
    defaultContentType: 'application/json',
    servers,
    channels,
    operations,
    components: { schemas },
  };
}

function channelOf({ address, title, description, servers, query, closes, receives, sends }: SocketContract): object {
  const messages = Object.entries({ ...receives, ...sends }).map(([name, { summary, payload }]) => [
    name,
    { name, title: name, summary, payload },
  ]);
  return {
    address,
    title,
    description,
    servers: servers.map((server) => ({ $ref: `#/servers/${server}` })),
    messages: Object.fromEntries(messages),
    bindings: { ws: { method: 'GET', ...(query ? { query } : {}) } },
    'x-closes': closes,
  };
}
