// Limits of pushes and their reasons.

/** A notification that is older when it is first seen is not pushed: after an outage nobody wants yesterday's. */
export const MAX_AGE_S = 3_600;
/** Attempts for each device, about six minutes together. */
export const ATTEMPTS_MAX = 6;
/** Wait before the second attempt; each further wait is four times longer. */
export const FIRST_WAIT_MS = 1_000;
export const WAIT_FACTOR = 4;
/** A wait is up to this share shorter, so that receivers do not get all retries at once. */
export const JITTER = 0.5;
/** Requests at once, of all wallets and of one. */
export const SENDS_MAX = 64;
export const SENDS_OF_WALLET_MAX = 4;
/** Notifications that wait for their devices: about 20 MB. While the list is full, following pauses. */
export const JOBS_MAX = 10_000;
/** Of one wallet; more fail at once, so that one receiver cannot fill the list. */
export const JOBS_OF_WALLET_MAX = 1_000;
/** Jobs and outcomes of one commit: far below its size limit. */
export const COMMIT_MAX = 500;
/** Outcomes wait this long for others. */
export const COMMIT_DELAY_MS = 50;
/** A stop waits this long for requests under way; their notifications are sent again after the next start. */
export const STOP_MS = 3_000;
/** Newest ids kept to drop copies in the log: about 2 MB. */
export const RECENT_IDS = 20_000;
