// V8 flags of each command, and what it tells the C library.

/**
 * For servers with many clients: under load, collecting a young space of 16 MB pauses all of them for 5 ms, 4 MB for 1 ms.
 */
const SHORT_COLLECTIONS = '--max-semi-space-size=4';
/**
 * Ingest makes much that is short-lived. With 4 MB a third of its time went into collections, and much that is short-lived grew old.
 * 64 MB collect no more cheaply than 16, and take 100 MB more (docs/benchmarks/2026-11-26.md).
 */
const FEWER_COLLECTIONS = '--max-semi-space-size=16';
/**
 * The heap may grow to three times what lives before V8 marks it again. Left to itself V8 looks at how fast objects grow old, which is slow in
 * ingest, and marked 94 MB twice a second: buffers of accounts are memory beside the heap, and count (docs/benchmarks/2026-11-27.md).
 */
const RARE_MARKING = '--heap-growing-percent=200';
/**
 * Threads that collect garbage beside the main one, 4 by default: on two cores the main thread waited for a core up to 60 ms when
 * all of them worked (docs/benchmarks/2026-11-26.md).
 */
const FEW_COLLECTORS = '--v8-pool-size=2';
/** `dev` shares a laptop with other programs, so it collects garbage earlier than a server. */
const LAPTOP_FLAGS = [SHORT_COLLECTIONS, '--heap-growing-percent=20'];

/**
 * @param {readonly string[]} args of the command line
 * @returns {readonly string[]}
 */
export function nodeFlags([command, ...rest]) {
  if (command === 'dev') return LAPTOP_FLAGS;
  if (command !== 'run') return [];
  const [hasIngest, hasClients] = [rest.includes('ingest'), rest.includes('orderbook')];
  if (hasIngest) return [FEW_COLLECTORS, FEWER_COLLECTIONS, RARE_MARKING];
  return hasClients ? [FEW_COLLECTORS, SHORT_COLLECTIONS] : [FEW_COLLECTORS];
}

/** Without this limit glibc keeps freed memory in one arena per thread. */
const LAPTOP_ENVIRONMENT = { MALLOC_ARENA_MAX: '2' };
/**
 * A full read allocates and frees hundreds of megabytes in two threads. By default glibc keeps them, in an arena of each thread and, once it
 * has freed a large piece, below pieces of that size. A piece above 68 KB goes back at once so; the buffers of 64 KB that sockets are
 * read into stay below (docs/benchmarks/2026-11-27.md).
 */
const FULL_READ_ENVIRONMENT = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '69632' };

/**
 * Environment variables of a command. Those that are set already stay as they are.
 *
 * @param {readonly string[]} args of the command line
 * @returns {Readonly<Record<string, string>>}
 */
export function nodeEnvironment([command, ...rest], given = process.env) {
  const hasIngest = command === 'run' && rest.includes('ingest');
  const wanted = command === 'dev' ? LAPTOP_ENVIRONMENT : hasIngest ? FULL_READ_ENVIRONMENT : {};
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => given[name] === undefined));
}
