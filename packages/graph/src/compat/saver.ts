// TensorFlow 1's checkpoints: variables by their names, in the files of today.
import { InvalidArgumentError, NotFoundError } from '@eagre/backend';
import {
  type Bundle,
  deleteCheckpoint,
  openBundle,
  updateCheckpointState,
  writeBundle,
} from '@eagre/checkpoint/internal';
import { type Tensor, Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkCount,
  checkPath,
  defineMethods,
  isPlain,
  sameShape,
  shown,
  showShape,
  takesArguments,
} from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import { globalVariables } from './ops.ts';
import { Session } from './session.ts';
import { eagerly } from './session-tracer.ts';

/** Variables under their own names, or under those of a map or an object. */
export type SavedVariables =
  | readonly Variable[]
  | ReadonlyMap<string, Variable>
  | Readonly<Record<string, Variable>>;

/** What a saver keeps. */
export interface SaverOptions {
  /** How many checkpoints stay; older ones are deleted. 5 unless given; null and 0 keep all. */
  readonly maxToKeep?: number | null;
}

/** Of one save. */
export interface SaveOptions {
  /** Added to the path: `model-100`. */
  readonly globalStep?: number | bigint | Tensor | Variable;
  /** The name of the file that names the latest checkpoint; `checkpoint` unless given. */
  readonly latestFilename?: string;
  /** Whether that file is written; true by default. */
  readonly writeState?: boolean;
}

/**
 * Saves variables of a graph with their values in a session, and restores them, by their names.
 *
 *     const saver = new tf.compat.v1.train.Saver();
 *     const path = saver.save(session, 'runs/model', { globalStep: 100 });    // 'runs/model-100'
 *     saver.restore(session, path);
 *
 * What `tf.train.Checkpoint` wrote is read too, by the names that the variables had; and `Checkpoint` reads what this writes.
 */
export class Saver {
  readonly #variables: ReadonlyMap<string, Variable>;
  readonly #maxToKeep: number | null;
  #saved: { readonly path: string; readonly time: number }[] = [];

  /**
   * `varList`: all of the default graph unless given; as a map or an object under names of your own.
   * @throws InvalidArgumentError when there are none, or two have the same name.
   */
  constructor(...args: Arguments<[varList?: SavedVariables | null], ['varList'], SaverOptions>);
  constructor(first?: unknown, ...rest: readonly unknown[]) {
    // An object of variables alone is none of options.
    const byName = isPlain(first) && Object.values(first).some((v) => v instanceof Variable);
    const { varList = null, maxToKeep = 5 } = argumentsOf<SaverArguments>(Saver, new.target, [
      byName ? new Map(Object.entries(first)) : first,
      ...rest,
    ]);
    if (maxToKeep !== null) checkCount(maxToKeep, 'maxToKeep', 'Saver');
    this.#variables = named(varList ?? globalVariables());
    this.#maxToKeep = maxToKeep === 0 ? null : maxToKeep;
    if (this.#variables.size === 0) throw new InvalidArgumentError('No variables to save', 'Saver');
  }

  /** The paths of the checkpoints that this saver keeps, oldest first. */
  get lastCheckpoints(): string[] {
    return this.#saved.map((s) => s.path);
  }

  /** Writes `savePath`, or `savePath-<step>`. @returns the path. */
  save(...args: Arguments<[sess: Session, savePath: string], ['sess', 'savePath'], SaveOptions>): string;
  save(session: Session, prefix: string, options: SaveOptions = {}): string {
    const { globalStep, latestFilename, writeState = true } = options;
    checkSession(session, 'Saver.save');
    checkPath(prefix, 'savePath', 'Saver.save');
    const path = globalStep === undefined ? prefix : `${prefix}-${stepOf(session, globalStep)}`;
    const variables = [...this.#variables];
    const values = session.run(variables.map(([, v]) => v));
    writeBundle(path, {
      graph: null,
      tensors: variables.map(([name], i): [string, Tensor] => [name, values[i]]),
    });
    for (const value of values) value.dispose();
    this.#saved = [...this.#saved.filter((s) => s.path !== path), { path, time: Date.now() / 1000 }];
    const gone = this.#maxToKeep === null ? 0 : Math.max(0, this.#saved.length - this.#maxToKeep);
    for (const { path: old } of this.#saved.splice(0, gone)) deleteCheckpoint(old);
    if (writeState) {
      updateCheckpointState(
        nodeBuiltin('node:path').dirname(path),
        { latest: path, all: this.lastCheckpoints },
        latestFilename,
      );
    }
    return path;
  }

  /**
   * Gives the variables the values of a checkpoint, which initialises them.
   * @throws NotFoundError when there is no such checkpoint or it lacks a name; InvalidArgumentError for another shape or dtype, DataLossError
   * for damaged files. Nothing has changed then.
   */
  restore(...args: Arguments<[sess: Session, savePath: string], ['sess', 'savePath']>): void;
  restore(session: Session, path: string): void {
    checkSession(session, 'Saver.restore');
    checkPath(path, 'savePath', 'Saver.restore');
    const bundle = openBundle(path);
    const keys = [...this.#variables].every(([name]) => bundle.has(name)) ? null : keysByName(bundle);
    const values = eagerly(
      () =>
        new Map(
          [...this.#variables].map(([name, variable]) => {
            const key = bundle.has(name) ? name : keys?.get(name);
            if (key === undefined)
              throw new NotFoundError(`Key ${name} not found in checkpoint ${path}`, 'Saver.restore');
            const { dtype, shape } = bundle.spec(key);
            if (dtype !== variable.dtype || !sameShape(shape, variable.shape)) {
              throw new InvalidArgumentError(
                `Assign requires shapes and dtypes of both to match: ${name} is ${variable.dtype} ${showShape(variable.shape)}, in the checkpoint ${dtype} ${showShape(shape)}`,
                'Saver.restore',
              );
            }
            return [variable, bundle.read(key)] as const;
          }),
        ),
    );
    session.restore(values);
  }
}

interface SaverArguments extends SaverOptions {
  readonly varList?: SavedVariables | null;
}

takesArguments<SaverArguments>(
  { positional: ['varList'], required: 0, names: { varList: true, maxToKeep: true } },
  Saver,
);
defineMethods(Saver.prototype, 'Saver', {
  save: {
    positional: ['sess', 'savePath'],
    options: { globalStep: true, latestFilename: true, writeState: true },
  },
  restore: { positional: ['sess', 'savePath'] },
});

function checkSession(session: Session, op: string): void {
  if (!(session instanceof Session))
    throw new InvalidArgumentError(`sess must be a Session, got ${shown(session)}`, op);
}

function named(variables: SavedVariables): Map<string, Variable> {
  const all: readonly unknown[] =
    variables instanceof Map
      ? [...variables.values()]
      : typeof variables === 'object'
        ? Object.values(variables)
        : [variables];
  const wrong = all.find((v) => !(v instanceof Variable));
  if (wrong !== undefined)
    throw new InvalidArgumentError(`varList must contain variables, got ${shown(wrong)}`, 'Saver');
  if (variables instanceof Map) return new Map(variables);
  if (!Array.isArray(variables))
    return new Map(Object.entries(variables as Readonly<Record<string, Variable>>));
  const byName = new Map<string, Variable>();
  for (const variable of new Set(variables as readonly Variable[])) {
    if (byName.has(variable.path)) {
      throw new InvalidArgumentError(
        `At least two variables have the same name: ${variable.path}; name them in a map`,
        'Saver',
      );
    }
    byName.set(variable.path, variable);
  }
  return byName;
}

/** The keys of a checkpoint of objects, by the names of their variables. */
function keysByName(bundle: Bundle): Map<string, string> {
  const keys = new Map<string, string>();
  for (const { attributes = [] } of bundle.graph?.nodes ?? [])
    for (const { full_name: name = '', checkpoint_key: key = '' } of attributes) keys.set(name, key);
  return keys;
}

function stepOf(session: Session, step: number | bigint | Tensor | Variable): number {
  return Number(typeof step === 'object' ? session.run(step).item() : step);
}
