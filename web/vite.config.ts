// Builds the page into web/dist: one style, one script for the first view, and one more for each part that opens later.

import { fileURLToPath } from 'node:url';
import { defineConfig, type Rolldown } from 'vite';
import { unusedMethods } from './build/unused-methods.ts';

const at = (place: string) => fileURLToPath(new URL(place, import.meta.url));
const ENTRY = at('./src/main.tsx');
/** The chart library is more than half of the first view's script. */
const CHART_LIBRARY = /lightweight-charts\.production\.mjs$/;

/** Whether a module is imported statically from the entry: in one script they compress better than in several. */
function isOfFirstView(id: string, graph: Rolldown.ChunkingContext): boolean {
  const found = new Set([ENTRY]);
  for (const one of found) for (const imported of graph.getModuleInfo(one)?.importedIds ?? []) found.add(imported);
  return found.has(id);
}

/** A dynamic import as Vite wraps it, to preload its style and what it imports. */
const WRAPPED =
  /__vitePreload\(async \(\) => \{\s*const \{[^}]*\} = await import\(([^)]*)\);\s*return \{[^}]*\};\s*\}, [^()]*import\.meta\.url\)/g;

/** With one style and nothing to preload, a dynamic import needs no help. */
const plainImports = {
  name: 'slotbook:plain-imports',
  enforce: 'pre' as const,
  load: {
    filter: { id: /^\0vite\/preload-helper\.js$/ },
    handler: () => 'export const __vitePreload = (load) => load();',
  },
  renderChunk: (code: string) => ({ code: code.replace(WRAPPED, 'import($1)'), map: null }),
};

export default defineConfig({
  root: at('.'),
  // The page is served at / and at /ui.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [plainImports, unusedMethods(CHART_LIBRARY, [at('./src'), at('../node_modules/fancy-canvas')])],
  build: {
    target: 'es2023',
    // A data URL would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    chunkSizeWarningLimit: 2000,
    minify: 'terser',
    terserOptions: { module: true, ecma: 2020, compress: { passes: 2, unsafe_arrows: true } },
    rolldownOptions: {
      // The minifier takes nearly all of the time: no news for whoever starts the project.
      checks: { pluginTimings: false },
      output: {
        codeSplitting: {
          groups: [{ debugName: 'first view', name: (id, graph) => (isOfFirstView(id, graph) ? 'index' : null) }],
        },
      },
    },
  },
});
