// Changes the source text of a module while it loads, so that product code needs no switches for tests.

import { registerHooks } from 'node:module';

export interface SourceChange {
  readonly name: string;
  /** File below the root of the project. */
  readonly file: string;
  /** Text that stands in the file once. */
  readonly find: string;
  readonly replace: string;
}

const ROOT = new URL('../../../', import.meta.url);

/** Applies a change. Throws when the file does not have the text exactly once. */
export function changed(source: string, { name, find, replace }: SourceChange): string {
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`${name}: the text stands ${parts.length - 1} times in the file`);
  return parts.join(replace);
}

/** Changes the module when this thread loads it. */
export function changeModule(change: SourceChange): void {
  const url = new URL(change.file, ROOT).href;
  registerHooks({
    load: (loaded, context, nextLoad) => {
      const module = nextLoad(loaded, context);
      if (loaded !== url) return module;
      const source = Buffer.from(module.source as Uint8Array).toString('utf8');
      return { ...module, source: changed(source, change) };
    },
  });
}
