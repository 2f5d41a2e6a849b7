// Builds the published package: dist/esm and dist/cjs, each with its types. `npm pack` in this folder runs it first.

import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = path.dirname(fileURLToPath(import.meta.url));
const OUT = path.resolve(process.argv[2] ?? path.join(FOLDER, 'dist'));
const TSC = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
const FORMATS = { esm: { module: 'ESNext', type: 'module' }, cjs: { module: 'CommonJS', type: 'commonjs' } };

/** Declarations keep the `.ts` of the sources in their imports; packages name the built files. */
function renameImports(folder) {
  for (const file of readdirSync(folder, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    const text = readFileSync(path.join(folder, file), 'utf8');
    writeFileSync(
      path.join(folder, file),
      text.replace(/((?:from |import\()['"]\.{1,2}\/[^'"]*)\.ts(['"])/g, '$1.js$2'),
    );
  }
}

/** IDLs of the exchange's programs as modules, because browsers cannot import JSON everywhere. */
function writeIdls(folder, isModule) {
  const names = { velocityIdl: 'velocity.json', clobIdl: 'clob.json' };
  const texts = Object.entries(names).map(([name, file]) => {
    const json = JSON.stringify(
      JSON.parse(readFileSync(path.join(FOLDER, '..', 'schemas', 'chain', 'idl', file), 'utf8')),
    );
    return isModule ? `export const ${name} = ${json};\n` : `exports.${name} = ${json};\n`;
  });
  writeFileSync(path.join(folder, 'idl.js'), texts.join(''));
  const types = Object.keys(names).map((name) => `export declare const ${name}: object;\n`);
  writeFileSync(path.join(folder, 'idl.d.ts'), types.join(''));
}

rmSync(OUT, { recursive: true, force: true });
for (const [name, { module, type }] of Object.entries(FORMATS)) {
  const folder = path.join(OUT, name);
  const options = ['-p', path.join(FOLDER, 'tsconfig.build.json'), '--module', module, '--outDir', folder];
  execFileSync(process.execPath, [TSC, ...options], { stdio: 'inherit' });
  renameImports(folder);
  writeIdls(path.join(folder, 'client'), type === 'module');
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify({ type })}\n`);
}
copyFileSync(path.join(FOLDER, '..', 'LICENSE'), path.join(FOLDER, 'LICENSE'));
