export function nodeFlags(args: readonly string[]): readonly string[];
export function nodeEnvironment(
  args: readonly string[],
  given?: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>>;
