// The files of the client that follow from what the servers publish. `npm run docs` writes them.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { accountDeclarations } from './account-declarations.ts';
import { apiPage } from './api-page.ts';
import { pythonHistory } from './python-history.ts';
import { PythonTypes } from './python-types.ts';
import { restDeclarations } from './rest-declarations.ts';
import type { Paths } from './rest-operations.ts';
import type { AsyncApi } from './socket-page.ts';
import { declaration } from './type-declarations.ts';

const HEAD = '// Written by `npm run docs`. Do not edit.';

const IDL = new URL('../../schemas/chain/idl/velocity.json', import.meta.url);
const PYTHON = 'client/python/src/slotbook';

/** Components of the order-book sockets that the client's channels carry. */
const CHANNEL_TYPES = ['Level', 'OracleData', 'MarketMakerOracleData', 'L2Book', 'Trade', 'FeeLevels'];

const HISTORY = { words: 'history', prefix: 'History' };
const ORDER_BOOK = { words: 'order-book', prefix: 'Orderbook' };

function channelTypes({ components: { schemas } }: AsyncApi): string {
  const parts = CHANNEL_TYPES.map((name) => {
    const schema = schemas[name];
    if (!schema) throw new Error(`/asyncapi.json has no component ${name}`);
    return declaration(name, schema);
  });
  const lead = '// Data of the compatible channels, from the contract of the gateway.';
  return [lead, HEAD, '', ...parts].join('\n');
}

function pythonChannelTypes({ components: { schemas } }: AsyncApi): string {
  const types = new PythonTypes();
  for (const name of CHANNEL_TYPES) if (schemas[name]) types.declare(name, schemas[name]);
  const lead = '"""Data of the compatible channels, from the contract of the gateway.\n\n';
  const head = `${lead}Written by \`npm run docs\`. Do not edit.\n"""\n`;
  const imports = 'from decimal import Decimal\nfrom typing import Literal, TypedDict\n';
  return `${head}\nfrom __future__ import annotations\n\n${imports}\n\n${types.text}`;
}

/** Texts by path in the repository. */
export function clientSources(published: {
  readonly orderBook: unknown;
  readonly orderBookSockets: AsyncApi;
  readonly history: unknown;
}): ReadonlyMap<string, string> {
  const texts = [
    ['client/accounts/account-types.ts', accountDeclarations(HEAD)],
    ['client/feed/channel-types.ts', channelTypes(published.orderBookSockets)],
    ['client/history/contract.ts', restDeclarations(published.history as Paths, HISTORY, HEAD)],
    ['client/orderbook/contract.ts', restDeclarations(published.orderBook as Paths, ORDER_BOOK, HEAD)],
  ] as const;
  const sources = texts.map(([path, text]) => [path, formatted(path, text)] as const);
  const python = pythonHistory(published.history as Paths);
  return new Map([
    ...sources,
    ['client/API.md', apiPage()],
    [`${PYTHON}/feed/channel_types.py`, pythonChannelTypes(published.orderBookSockets)],
    [`${PYTHON}/accounts/idl/velocity.json`, readFileSync(IDL, 'utf8')],
    [`${PYTHON}/history/contract.py`, python.contract],
    [`${PYTHON}/history/operations.py`, python.operations],
  ]);
}

const BIOME = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url));

function formatted(path: string, input: string): string {
  return execFileSync(process.execPath, [BIOME, 'format', `--stdin-file-path=${path}`], { input, encoding: 'utf8' });
}
