// Choices of the reader, kept in this browser.

import { effect, type Signal, signal } from '@preact/signals';

const PREFIX = 'slotbook.';

/** A signal whose value outlives the page. Without storage it lives as long as the page. */
export function stored<T>(name: string, fallback: T): Signal<T> {
  const value = signal(read(name, fallback));
  let isFirst = true;
  effect(() => {
    const text = JSON.stringify(value.value);
    if (isFirst) isFirst = false;
    else write(name, text);
  });
  return value;
}

function read<T>(name: string, fallback: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

function write(name: string, text: string): void {
  try {
    localStorage.setItem(PREFIX + name, text);
  } catch {
    // Private windows may refuse storage.
  }
}
