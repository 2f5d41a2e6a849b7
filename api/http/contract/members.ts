// Descriptors of members that several client messages share.

import type { Member } from './inputs.ts';
import { anyCase, type JsonSchema, text } from './json-schema.ts';

/** A text that should be one of several words. */
export interface Word<T extends string> {
  /** The client's spelling. */
  readonly sent: string;
  /** Null when the text is none of the words. */
  readonly word: T | null;
}

/** One of several words in any letter case. Reads null when the value is not a text. */
export function wordMember<T extends string>(words: readonly T[], description: string): Member<Word<T> | null> {
  return {
    isRequired: true,
    schema: anyCase(words, description),
    read: (sent) => {
      if (typeof sent !== 'string') return null;
      const lower = sent.toLowerCase();
      return { sent, word: words.find((word) => word === lower) ?? null };
    },
  };
}

/** Any text. Reads null for other types. */
export function textMember(schema: JsonSchema | string): Member<string | null> {
  return {
    isRequired: true,
    schema: typeof schema === 'string' ? text(schema) : schema,
    read: (value) => (typeof value === 'string' ? value : null),
  };
}
