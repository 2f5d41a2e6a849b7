// The package as a stranger gets it: contents, Node by import and by require, TypeScript strict, a browser bundle, and the
// snippets of the README.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { browserBundle, type PackedProject, packedProject } from '../test/support/client/packed.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** Upper bound of a browser bundle with feeds only, compressed. */
const FEED_GZIP_BYTES_MAX = 12 * 1024;

let project: PackedProject;
beforeAll(async () => {
  project = await packedProject(inject('runFolder'));
});
afterAll(() => project?.remove());

function write(name: string, text: string): string {
  const file = path.join(project.folder, name);
  writeFileSync(file, text);
  return file;
}

const USE = `
const keeper = new BookKeeper({ level: 'l2', checksum: true });
const head = { channel: 'book', stream: 'perp_0_l2_k10', streamId: 1, market: 'SOL-PERP', marketType: 'perp', marketIndex: 0 };
const bids = [['81114210', '1000000000']];
const asks = [['81130450', '1500000000', { dlob: '500000000', vamm: '1000000000' }]];
const applied = keeper.apply({ ...head, type: 'snapshot', level: 'l2', epoch: 1, seq: 1, slot: 1, ts: 1, bids, asks, checksum: 4155906619 });
const decoder = createDecoder(velocityIdl);
process.stdout.write([applied, decoder.names[0], typeof HistoryClient, typeof SwapClient, typeof FeedClient].join());
`;
const SEEN = 'applied,User,function,function,function';

describe('the package', () => {
  it('has built files, README, licence and changelog, and nothing else', () => {
    const own = project.files.filter((file) => !file.startsWith('dist/'));
    expect(own.sort()).toEqual(['API.md', 'CHANGELOG.md', 'LICENSE', 'MIGRATION.md', 'README.md', 'package.json']);
    const built = project.files.filter((file) => file.startsWith('dist/'));
    expect(built.length).toBeGreaterThan(100);
    expect(built.filter((file) => !/^dist\/(esm|cjs)\/(package\.json|.*\.(js|d\.ts))$/.test(file))).toEqual([]);
    const manifest = JSON.parse(
      readFileSync(path.join(project.folder, 'node_modules/@slotbook/client/package.json'), 'utf8'),
    );
    expect(manifest).toMatchObject({ name: '@slotbook/client', license: 'Apache-2.0', sideEffects: false });
    for (const entry of Object.values(manifest.exports as object)) {
      const paths =
        typeof entry === 'string' ? [entry] : Object.values(entry).flatMap((one) => Object.values(one as object));
      for (const file of paths) expect(project.files).toContain(String(file).slice(2));
    }
  });

  it('works by import and by require', () => {
    const names = [
      ['@slotbook/client', 'BookKeeper, createDecoder, FeedClient, HistoryClient'],
      ['@slotbook/client/idl', 'velocityIdl'],
      ['@slotbook/client/swap', 'SwapClient'],
    ];
    const imports = names.map(([from, list]) => `import { ${list} } from '${from}';`).join('\n');
    const requires = names.map(([from, list]) => `const { ${list} } = require('${from}');`).join('\n');
    for (const file of [write('use.mjs', imports + USE), write('use.cjs', requires + USE)]) {
      expect(execFileSync(process.execPath, [file], { encoding: 'utf8' })).toBe(SEEN);
    }
  });

  it('imports no Node module and touches no global while it loads', () => {
    const folder = path.join(project.folder, 'node_modules/@slotbook/client/dist/esm');
    const sources = project.files.filter((file) => file.startsWith('dist/esm/') && file.endsWith('.js'));
    for (const file of sources) {
      const text = readFileSync(path.join(folder, '../..', file), 'utf8');
      expect(text.match(/(?:from |import\(|require\()['"]node:/), file).toBeNull();
    }
  });
});

describe('TypeScript', () => {
  const options = { strict: true, noEmit: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };

  function compile(moduleResolution: string, module: string, files: readonly string[], skipLibCheck = true): void {
    const config = {
      compilerOptions: {
        ...options,
        module,
        moduleResolution,
        target: 'ES2022',
        lib: ['ES2023', 'DOM'],
        types: [],
        skipLibCheck,
      },
      files,
    };
    const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
    const file = write(`tsconfig.${module}.json`, JSON.stringify(config));
    try {
      execFileSync(process.execPath, [tsc, '-p', file], { cwd: project.folder, encoding: 'utf8' });
    } catch (error) {
      expect((error as { stdout: string }).stdout).toBe('');
    }
  }

  it('accepts the snippets of the README, strictly, with both module resolutions', () => {
    const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8');
    const snippets = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, text = '']) => text);
    expect(snippets.length).toBeGreaterThan(4);
    const files = snippets.map((text, index) => path.basename(write(`snippet-${index}.mts`, `${text}\nexport {};\n`)));
    compile('NodeNext', 'NodeNext', files);
    compile('bundler', 'ESNext', files);
    write(
      'common.cts',
      "import client = require('@slotbook/client');\nexport const keeper = new client.BookKeeper({ level: 'l3' });\n",
    );
    compile('NodeNext', 'Node16', ['common.cts']);
  });

  it('knows the types of accounts and answers', () => {
    write(
      'types.mts',
      `import { createDecoder, HistoryClient } from '@slotbook/client';
const user = createDecoder({}).decode('User', new Uint8Array());
const amount: bigint | undefined = user.perpPositions[0]?.baseAssetAmount;
// @ts-expect-error: an amount is no number
const wrong: number | undefined = user.perpPositions[0]?.baseAssetAmount;
const history = new HistoryClient({ url: '' });
const { records } = await history.get('/market/{symbol}/trades', { symbol: 'SOL-PERP' });
const slot: number | undefined = records[0]?.slot;
// @ts-expect-error: the path needs a symbol
await history.get('/market/{symbol}/trades', {});
// @ts-expect-error: there is no such path
await history.get('/nothing', {});
export { amount, slot, wrong };
`,
    );
    // Without skipLibCheck: the declarations of the package are checked themselves.
    compile('NodeNext', 'NodeNext', ['types.mts'], false);
  });
});

describe('a browser bundle', () => {
  it('of feeds alone is small, and runs without Node', async () => {
    const entry = write('feed.js', "export { FeedClient } from '@slotbook/client/feed';\n");
    const { code, gzipBytes } = await browserBundle(entry);
    expect(gzipBytes).toBeLessThan(FEED_GZIP_BYTES_MAX);
    const sent: string[] = [];
    class WebSocket {
      onopen: (() => void) | null = null;
      onmessage: ((event: { data: string }) => void) | null = null;
      send(text: string): void {
        sent.push(text);
        const message = { channel: 'orderbook_perp_0_grouped_1', data: '{"marketName":"SOL-PERP","slot":3}' };
        this.onmessage?.({ data: JSON.stringify(message) });
      }
      close(): void {}
    }
    const sockets: WebSocket[] = [];
    const page = createContext({
      WebSocket: class extends WebSocket {
        constructor() {
          super();
          sockets.push(this);
        }
      },
      setTimeout: () => 0,
      clearTimeout: () => {},
      setInterval: () => 0,
      clearInterval: () => {},
    });
    const script = `const client = new bundle.FeedClient({ url: 'ws://x' }); const slots = [];
      client.orderbook({ market: 'SOL-PERP' }).on('data', ({ slot }) => slots.push(slot)); slots`;
    const slots = runInContext(`${code}\n${script}`, page) as number[];
    sockets[0]?.onopen?.();
    expect([sent.length, [...slots]]).toEqual([1, [3]]);
  });
});
