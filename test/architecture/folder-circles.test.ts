// The folders of a room, and those of test/, import each other in one direction. Tests of a room may import any of its folders.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, repositoryFiles } from '../support/repository.ts';
import { circularImports, importsOf } from './folder-circles.ts';

const MODULE = /\.(?:tsx?|m[jt]s)$/;
const TEST_OF_A_ROOM = /^(?!test\/).*\.test\.ts$/;

it('the folders of a room form no circle', () => {
  const sources = repositoryFiles()
    .filter((file) => MODULE.test(file) && !TEST_OF_A_ROOM.test(file))
    .map((file) => ({ file, text: readFileSync(path.join(ROOT, file), 'utf8') }));
  expect(sources.length).toBeGreaterThan(1000);
  expect(circularImports(sources)).toEqual([]);
});

describe('the check of folders', () => {
  const source = (file: string, ...imports: string[]) => ({
    file,
    text: imports.map((request) => `import type { A } from '${request}';\n`).join(''),
  });

  it('names the imports of a circle, and no others', () => {
    const found = circularImports([
      source('api/a/one.ts', '../b/two.ts', '../d/leaf.ts', '../index.ts'),
      source('api/b/two.ts', '../c/deep/three.ts'),
      source('api/c/deep/three.ts', '../../a/four.ts', '../other.ts'),
      source('api/a/four.ts'),
      source('bin/a/five.ts', '../../api/a/one.ts'),
    ]);
    expect(found).toEqual([
      'api/a -> api/b: api/a/one.ts imports api/b/two.ts',
      'api/b -> api/c: api/b/two.ts imports api/c/deep/three.ts',
      'api/c -> api/a: api/c/deep/three.ts imports api/a/four.ts',
    ]);
  });

  it('reads imports of values and types, exports and dynamic imports', () => {
    const text = [
      "import a from './a.ts';",
      "import type { B } from '../b.ts';",
      "export { c } from './c.ts';",
      "export type * from './d.ts';",
      "const e = await import('./e.ts');",
      "import './f.ts';",
      "import path from 'node:path';",
      "// import './g.ts';",
    ].join('\n');
    expect([...importsOf({ file: 'api/x.ts', text })].sort()).toEqual([
      '../b.ts',
      './a.ts',
      './c.ts',
      './d.ts',
      './e.ts',
      './f.ts',
    ]);
  });
});
