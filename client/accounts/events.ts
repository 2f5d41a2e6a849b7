// Decodes the events of a program from the log lines of transactions.

import {
  type CompiledProgram,
  compileEvent,
  DISCRIMINATOR_BYTES,
  hexOf,
  logPayloads,
  RecordError,
} from '../../schemas/portable.ts';
import { fromBase64 } from './bytes.ts';
import { CLIENT_STYLE } from './style.ts';

export interface ProgramEvent {
  /** PascalCase, for example `OrderActionRecord`. */
  readonly name: string;
  /** Fields in camelCase. Fields that an older record lacks are null. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface LogEvents {
  readonly events: readonly ProgramEvent[];
  /** Records whose discriminator the IDL does not know, or whose bytes are damaged. */
  readonly undecoded: readonly Uint8Array[];
  /** The node cut the log off, so that events may be missing. */
  readonly incomplete: boolean;
}

export interface EventReader {
  /**
   * Events of the program in a transaction's log, in order: records behind `Program data: ` and `Program log: `, while the
   * program itself runs.
   */
  events(logs: readonly string[]): LogEvents;
  /** One record, discriminator included. Null when the IDL does not know it or its bytes are damaged. */
  event(record: Uint8Array): ProgramEvent | null;
}

export function eventReader(program: CompiledProgram): EventReader {
  const compiled = new Map<string, ReturnType<typeof compileEvent>>();
  const decode = (record: Uint8Array): ProgramEvent | null => {
    if (record.length < DISCRIMINATOR_BYTES) return null;
    const key = hexOf(record, DISCRIMINATOR_BYTES);
    const definition = program.events.get(key);
    if (!definition) return null;
    let reader = compiled.get(key);
    if (!reader) {
      reader = compileEvent(definition, CLIENT_STYLE);
      compiled.set(key, reader);
    }
    try {
      return { name: definition.name, data: reader.decode(record.subarray(DISCRIMINATOR_BYTES)) };
    } catch (error) {
      if (error instanceof RecordError) return null;
      throw error;
    }
  };
  return {
    event: decode,
    events: (logs) => {
      const { payloads, incomplete } = logPayloads(logs, new Map([[program.programId, program.events]]), fromBase64);
      const events: ProgramEvent[] = [];
      const undecoded: Uint8Array[] = [];
      for (const { bytes, damaged } of payloads) {
        const event = damaged ? null : decode(bytes);
        if (event) events.push(event);
        else undecoded.push(bytes);
      }
      return { events, undecoded, incomplete };
    },
  };
}
