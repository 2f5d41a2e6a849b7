// Members of client messages that several messages have alike: read and documented by one descriptor each.

import type { Member } from './inputs.ts';
import { anyCase, type JsonSchema, text } from './json-schema.ts';

/** A text that should be one of several words. */
export interface Word<T extends string> {
  /** As the client sent it. */
  readonly sent: string;
  /** Null when it is none of them. */
  readonly word: T | null;
}

/** One of several words in any letter case; reads null where there is no text. */
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

/** Any text; reads null for anything else. */
export function textMember(schema: JsonSchema | string): Member<string | null> {
  return {
    isRequired: true,
    schema: typeof schema === 'string' ? text(schema) : schema,
    read: (value) => (typeof value === 'string' ? value : null),
  };
}
