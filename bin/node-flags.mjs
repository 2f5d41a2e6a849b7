// V8 flags of each command, and its settings of the C library.

/** For servers with many clients: under load, collecting a young space of 16 MB pauses all of them for 5 ms, 4 MB for 1 ms. */
const SHORT_COLLECTIONS = '--max-semi-space-size=4';
/** Ingest makes much that is short-lived. 4 MB cost a third of its time; 64 MB save nothing over 16 (docs/benchmarks/2026-11-26.md). */
const FEWER_COLLECTIONS = '--max-semi-space-size=16';
/**
 * The heap grows to three times its live size before V8 marks it again. By default V8 marks the heap of ingest twice a second, because it
 * counts buffers of accounts beside the heap (docs/benchmarks/2026-11-27.md).
 */
const RARE_MARKING = '--heap-growing-percent=200';
/** Threads that collect garbage. With the default of 4 the main thread waits up to 60 ms for one of two cores (docs/benchmarks/2026-11-26.md). */
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
 * A full read allocates and frees hundreds of megabytes, which glibc keeps by default. With these, pieces above 68 KB go back at once; the
 * buffers of sockets have 64 KB (docs/benchmarks/2026-11-27.md).
 */
const FULL_READ_ENVIRONMENT = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '69632' };

/**
 * Environment variables of a command. Variables that are set already stay as they are.
 *
 * @param {readonly string[]} args of the command line
 * @returns {Readonly<Record<string, string>>}
 */
export function nodeEnvironment([command, ...rest], given = process.env) {
  const hasIngest = command === 'run' && rest.includes('ingest');
  const wanted = command === 'dev' ? LAPTOP_ENVIRONMENT : hasIngest ? FULL_READ_ENVIRONMENT : {};
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => given[name] === undefined));
}
