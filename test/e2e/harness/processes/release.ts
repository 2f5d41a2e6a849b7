// Another release of this checkout, and a supervisor that starts whatever exits again.

import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Running, type Settings, startRoles } from '../../../support/processes/processes.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** What `slotbook run` loads. */
const ROOMS = ['api', 'bin', 'client', 'ingest', 'localnet', 'platform', 'processors', 'schemas'];

/** Copies the product into a folder, under another version. */
export function copyRelease(folder: string, version: string): void {
  for (const room of ROOMS) cpSync(path.join(ROOT, room), path.join(folder, room), { recursive: true });
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>;
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
}

/** One process that is started again whenever it ends. */
export class Supervised {
  readonly #roles: readonly string[];
  readonly #settings: Settings;
  readonly #root: string | undefined;
  #running: Promise<Running>;
  #isStopping = false;
  restarts = 0;

  private constructor(roles: readonly string[], settings: Settings, root: string | undefined) {
    this.#roles = roles;
    this.#settings = settings;
    this.#root = root;
    this.#running = this.#start();
  }

  static async start(roles: readonly string[], settings: Settings, root?: string): Promise<Supervised> {
    const supervised = new Supervised(roles, settings, root);
    await supervised.#running;
    return supervised;
  }

  /** Lines of /startup behind the first: `ROLE writes` or `ROLE stands by`. */
  async states(): Promise<readonly string[]> {
    const { endpoints } = await this.#running;
    const text = await (await fetch(new URL('/startup', endpoints.metrics))).text();
    return text.split('\n').slice(1);
  }

  async kill9(): Promise<void> {
    await (await this.#running).kill9();
  }

  async errors(): Promise<string> {
    return (await this.#running).errors();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await (await this.#running).stop();
  }

  async #start(): Promise<Running> {
    const running = await startRoles(this.#roles, this.#settings, this.#root);
    void running.exited.then(() => {
      if (this.#isStopping) return;
      this.restarts += 1;
      this.#running = this.#start();
      this.#running.catch(() => {});
    });
    return running;
  }
}
