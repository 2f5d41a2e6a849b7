/** The message of an error; the text of any other thrown value. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
