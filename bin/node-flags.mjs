// What the engine is told for each command.

/**
 * Of a server that many wait for: a collection of a young space of 16 MB holds everybody up for 5 ms, when clients say much, one of
 * 4 MB for 1 ms.
 */
const SHORT_COLLECTIONS = '--max-semi-space-size=4';
/** `dev` shares a laptop with everything else: collect garbage earlier than a server would. */
const LAPTOP_FLAGS = [SHORT_COLLECTIONS, '--heap-growing-percent=20'];

/**
 * @param {readonly string[]} args of the command line
 * @returns {readonly string[]}
 */
export function nodeFlags([command, ...rest]) {
  if (command === 'dev') return LAPTOP_FLAGS;
  return command === 'run' && rest.includes('orderbook') ? [SHORT_COLLECTIONS] : [];
}
