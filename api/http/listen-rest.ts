// Opens a REST port on every address of the setting `host`.

import type { FastifyInstance } from 'fastify';
import { listenEverywhere, listenPlaces } from '../../platform/index.ts';

export interface ListeningRest {
  readonly port: number;
  /** Closes the listening sockets that the app does not close itself. */
  close(): void;
}

/** Rejects when the port is taken at one of the addresses, after closing the app. */
export async function listenRest(app: FastifyInstance, host: string, wantedPort: number): Promise<ListeningRest> {
  const places = await listenPlaces(host, wantedPort);
  try {
    return await listenEverywhere(app.server, places, (place) => app.listen(place));
  } catch (error) {
    await app.close();
    throw error;
  }
}
