// The versions of one model: which there are, which is asked for, and when one may go.
import { checkedOutputs } from '../servable/host-tensors.ts';
import type { Servable, ServableSignature } from '../servable/servable.ts';
import { type StatusCode, StatusError } from '../status.ts';

/** As in TensorFlow Serving. */
export type VersionState = 'START' | 'LOADING' | 'AVAILABLE' | 'UNLOADING' | 'END';

/** What is known of a version. */
export interface VersionStatus {
  readonly version: number;
  readonly state: VersionState;
  /** `OK`, or why it could not be loaded. */
  readonly code: StatusCode;
  readonly message: string;
}

/** Which version a request is for: the newest where nothing is said. */
export interface VersionChoice {
  readonly version?: string | undefined;
  readonly label?: string | undefined;
}

/** A version in use: `release` has to be called once. */
export interface VersionHandle {
  readonly version: number;
  readonly servable: Servable;
  release(): void;
}

interface Version {
  state: VersionState;
  code: StatusCode;
  message: string;
  servable: Servable | undefined;
  users: number;
}

// Versions that are over and still told of.
const REMEMBERED = 32;

export class ServedModel {
  readonly name: string;
  readonly #labels: ReadonlyMap<string, number>;
  readonly #versions = new Map<number, Version>();
  readonly #log: (message: string, error?: unknown) => void;
  #unloads: Promise<void> = Promise.resolve();

  /** @param log told of a servable that fails when it goes. */
  constructor(
    name: string,
    labels: ReadonlyMap<string, number>,
    log: (message: string, error?: unknown) => void,
  ) {
    this.name = name;
    this.#labels = labels;
    this.#log = log;
  }

  /** The versions that requests can be for. */
  get available(): number[] {
    return [...this.#versions].filter(([, { state }]) => state === 'AVAILABLE').map(([version]) => version);
  }

  /** What is known of all versions, or of one; the newest first. @throws StatusError where there is none */
  status(choice: VersionChoice): readonly VersionStatus[] {
    const { name } = this;
    const wanted = this.#chosen(choice);
    const all = [...this.#versions].sort(([a], [b]) => b - a);
    const found = wanted === undefined ? all : all.filter(([version]) => version === wanted);
    if (found.length === 0)
      throw new StatusError(
        'NOT_FOUND',
        wanted === undefined
          ? `Could not find any versions of model ${name}`
          : `Could not find version ${choice.version ?? wanted} of model ${name}`,
      );
    return found.map(([version, { state, code, message }]) => ({ version, state, code, message }));
  }

  /** A version to be used. @throws StatusError where it is not there */
  acquire(choice: VersionChoice): VersionHandle {
    const { available } = this;
    const number = this.#chosen(choice) ?? (available.length === 0 ? undefined : Math.max(...available));
    const version = number === undefined ? undefined : this.#versions.get(number);
    if (number === undefined || version?.servable === undefined || version.state !== 'AVAILABLE')
      throw notFound(this.name, choice.version ?? (choice.label === undefined ? undefined : String(number)));
    const { servable } = version;
    version.users++;
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      version.users--;
      this.#disposeUnused(number, version);
    };
    return { version: number, servable, release };
  }

  /** NaN for one that is no number of ours. */
  #chosen({ version, label }: VersionChoice): number | undefined {
    if (version !== undefined) return Number.isSafeInteger(Number(version)) ? Number(version) : Number.NaN;
    if (label === undefined) return undefined;
    const labelled = this.#labels.get(label);
    if (labelled === undefined)
      throw new StatusError('INVALID_ARGUMENT', `Unrecognized servable version label: ${label}`);
    return labelled;
  }

  /** Says that a version is being loaded. */
  loading(version: number): void {
    this.#versions.set(version, {
      state: 'LOADING',
      code: 'OK',
      message: '',
      servable: undefined,
      users: 0,
    });
  }

  /** From now on requests are for this version where it is the newest. */
  loaded(version: number, servable: Servable): void {
    const entry: Version = { state: 'AVAILABLE', code: 'OK', message: '', servable: undefined, users: 0 };
    entry.servable = this.#counted(version, entry, servable);
    this.#versions.set(version, entry);
  }

  /** Runs use a version too: they may go on when nobody waits for them any more. */
  #counted(number: number, entry: Version, servable: Servable): Servable {
    const signatures = Object.entries(servable.signatures).map(([name, signature]) => {
      const run: ServableSignature['run'] = async (inputs, signal) => {
        entry.users++;
        try {
          return checkedOutputs(await signature.run(inputs, signal));
        } finally {
          entry.users--;
          this.#disposeUnused(number, entry);
        }
      };
      const { inputs, outputs, methodName } = signature;
      return [name, { inputs, outputs, ...(methodName === undefined ? {} : { methodName }), run }] as const;
    });
    return { signatures: Object.fromEntries(signatures), dispose: () => servable.dispose?.() };
  }

  failed(version: number, code: StatusCode, message: string): void {
    this.#versions.set(version, { state: 'END', code, message, servable: undefined, users: 0 });
    this.#forgetOld();
  }

  /** Takes no more requests for a version; it goes when the last one is answered. */
  unload(version: number): void {
    const found = this.#versions.get(version);
    if (found?.state !== 'AVAILABLE') return;
    found.state = 'UNLOADING';
    this.#disposeUnused(version, found);
  }

  /** Unloads all. @returns when all that are unused have gone */
  async close(): Promise<void> {
    for (const version of this.#versions.keys()) this.unload(version);
    await this.#unloads;
  }

  #disposeUnused(number: number, version: Version): void {
    if (version.state !== 'UNLOADING' || version.users > 0 || version.servable === undefined) return;
    const { servable } = version;
    version.servable = undefined;
    const gone = async (): Promise<void> => {
      try {
        await servable.dispose?.();
      } catch (error) {
        this.#log(`version ${number} of ${this.name} failed when it was unloaded`, error);
      }
      version.state = 'END';
      this.#forgetOld();
    };
    this.#unloads = Promise.all([this.#unloads, gone()]).then(() => undefined);
  }

  #forgetOld(): void {
    const over = [...this.#versions].filter(([, { state }]) => state === 'END').map(([version]) => version);
    for (const version of over.slice(0, Math.max(0, over.length - REMEMBERED)))
      this.#versions.delete(version);
  }
}

/** The error of a request for what is not there. */
export function notFound(model: string, version: string | undefined): StatusError {
  const asked = version === undefined ? `Latest(${model})` : `Specific(${model}, ${version})`;
  return new StatusError('NOT_FOUND', `Servable not found for request: ${asked}`);
}
