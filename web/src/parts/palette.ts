// The colours that canvases draw with, read from the style sheet when the theme changes.

import { computed, effect, signal } from '@preact/signals';
import { stored } from '../state/stored.ts';

const NAMES = {
  panel: '--panel',
  raised: '--raised',
  text: '--text',
  muted: '--muted',
  line: '--line',
  bid: '--bid',
  ask: '--ask',
  bidBar: '--bid-bar',
  askBar: '--ask-bar',
  bidBarStrong: '--bid-bar-strong',
  askBarStrong: '--ask-bar-strong',
  chosen: '--chosen',
  own: '--own',
  accent: '--accent',
} as const;

export type Palette = Readonly<Record<keyof typeof NAMES, string>>;
export type Theme = 'dark' | 'light';

const prefersLight = matchMedia('(prefers-color-scheme: light)');
const systemTheme = signal<Theme>(prefersLight.matches ? 'light' : 'dark');
prefersLight.addEventListener('change', ({ matches }) => {
  systemTheme.value = matches ? 'light' : 'dark';
});

/** The reader's choice; null follows the system. */
export const chosenTheme = stored<Theme | null>('theme', null);
export const theme = computed<Theme>(() => chosenTheme.value ?? systemTheme.value);

export const palette = computed<Palette>(() => {
  document.documentElement.dataset.theme = theme.value;
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(
    Object.entries(NAMES).map(([name, property]) => [name, style.getPropertyValue(property).trim()]),
  ) as unknown as Palette;
});

effect(() => void palette.value);
