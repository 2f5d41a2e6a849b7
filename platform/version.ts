// The release of this process, and its start time.

import manifest from '../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;
/** Wall-clock milliseconds. */
export const STARTED_MS = Math.round(performance.timeOrigin);
