// Opens the log of a data directory, without log lines.

import { type EventLog, openEventLog, readConfig, silentLogger } from '../../../platform/index.ts';

export function openLogAt(dataDir: string): Promise<EventLog> {
  return openEventLog(readConfig({ SLOTBOOK_DATA_DIR: dataDir }), silentLogger());
}
