// Keeps a model at the versions that its folder has: looks there from time to time, loads what is new, and lets go what is over.

import type { Servable } from '../servable/servable.ts';
import { statusOf } from '../status.ts';
import type { ServedModel } from './served-model.ts';
import type { VersionFolder } from './version-folder.ts';
import { keptVersions, type VersionPolicy, wantedVersions } from './version-policy.ts';

export interface WatcherOptions {
  readonly policy: VersionPolicy;
  /** How often the folder is looked at; 0 for once only. */
  readonly pollMs: number;
  /** What is in the folder now. */
  find(): Promise<readonly VersionFolder[]>;
  /** Loads a version and warms it up. */
  load(folder: VersionFolder): Promise<Servable>;
  log(message: string, error?: unknown): void;
}

export class VersionWatcher {
  readonly #model: ServedModel;
  readonly #options: WatcherOptions;
  /** What each version that failed was like then: it is tried again when it has changed. */
  readonly #failed = new Map<number, string>();
  /** What each new version was like when it was last looked at: it is complete when nothing changes any more. */
  #seen = new Map<number, string>();
  #timer: NodeJS.Timeout | undefined;
  #poll: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(model: ServedModel, options: WatcherOptions) {
    this.#model = model;
    this.#options = options;
  }

  /** Loads what is there, and looks on from then on. */
  async start(): Promise<void> {
    await this.#look(false);
    this.#next();
  }

  /** Looks no more. @returns when what is being loaded is there */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#poll;
  }

  #next(): void {
    const { pollMs } = this.#options;
    if (this.#closed || pollMs === 0) return;
    this.#timer = setTimeout(() => {
      this.#poll = this.#look(true).finally(() => this.#next());
    }, pollMs);
    // Whoever serves keeps the process alive by its port.
    this.#timer.unref();
  }

  /** @param patient leaves what has just changed for the next time: it may be written still. */
  async #look(patient: boolean): Promise<void> {
    const { log, policy } = this.#options;
    const { name } = this.#model;
    try {
      const folders = await this.#options.find();
      const byVersion = new Map(folders.map((folder) => [folder.version, folder]));
      const wanted = wantedVersions(policy, byVersion.keys());
      for (const version of [...wanted].reverse())
        await this.#load(byVersion.get(version) as VersionFolder, patient);
      this.#seen = new Map(folders.map(({ version, fingerprint }) => [version, fingerprint]));
      const { available } = this.#model;
      const kept = keptVersions(policy, wanted, available);
      for (const version of available) {
        if (kept.has(version)) continue;
        log(`unloads version ${version} of ${name}`);
        this.#model.unload(version);
      }
    } catch (error) {
      log(`cannot look for versions of ${name}`, error);
    }
  }

  async #load(folder: VersionFolder, patient: boolean): Promise<void> {
    const { version, fingerprint } = folder;
    const model = this.#model;
    const { log } = this.#options;
    if (this.#closed || model.available.includes(version) || this.#failed.get(version) === fingerprint)
      return;
    if (patient && this.#seen.get(version) !== fingerprint) return;
    model.loading(version);
    try {
      const servable = await this.#options.load(folder);
      this.#failed.delete(version);
      model.loaded(version, servable);
      log(`serves version ${version} of ${model.name}`);
    } catch (error) {
      this.#failed.set(version, fingerprint);
      const { code } = statusOf(error);
      model.failed(version, code, `version ${version} could not be loaded`);
      log(`cannot load version ${version} of ${model.name}`, error);
    }
  }
}
