export function nodeFlags(args: readonly string[]): readonly string[];
