import {
  constant,
  FailedPreconditionError,
  InvalidArgumentError,
  type Module,
  NotFoundError,
  type Trackable,
  type TrackableView,
  UnimplementedError,
  Variable,
} from '@eagre/core';
import {
  type Arguments,
  checkPath,
  context,
  defineMethods,
  inContext,
  inInitScope,
  isPlain,
  shown,
  withoutTapes,
} from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import { arrayFormatOf } from './array-file.ts';
import { openBundle, type Values } from './bundle.ts';
import { isKeras3Export, withKeras2Names } from './keras3.ts';
import { asLists, withoutCombinedLists } from './lists.ts';
import { describe, type Look, walk } from './object-graph.ts';
import { CheckpointOptions, checkOptions } from './options.ts';
import { applyPending, begin } from './pending.ts';
import { NameRestoration, ObjectRestoration } from './restoration.ts';
import { updateCheckpointState } from './state.ts';
import {
  CheckpointLoadStatus,
  InitializationOnlyStatus,
  type LoadStatus,
  NameBasedStatus,
} from './status.ts';
import { isTrackable, type View, viewOf } from './view.ts';
import { type Then, Writes } from './writes.ts';

/**
 * Saves what objects hold and restores it, by the names that lead to them: attributes, keys of maps and objects, places in arrays. The
 * files are TensorFlow's.
 *
 *     const checkpoint = new tf.train.Checkpoint({ model, optimizer, step });
 *     checkpoint.step.assignAdd(1);
 *     const path = checkpoint.save('runs/ckpt');                // 'runs/ckpt-1'
 *     checkpoint.restore(path).assertConsumed();
 *
 * `new tf.train.Checkpoint(model)` takes an object itself as the root. What does not exist yet when a checkpoint is restored, such as
 * the weights of a layer that was not called, gets its values when it is made.
 */
class CheckpointObject implements Trackable {
  /** @internal */
  declare readonly _state: State;

  constructor(first: object = {}, more: Readonly<Record<string, unknown>> = {}, ...surplus: unknown[]) {
    if (surplus.some((value) => value !== undefined))
      throw new InvalidArgumentError(
        `takes a root object and other objects by name; write new Checkpoint(root, { name: ${shown(surplus[0])} })`,
        'Checkpoint',
      );
    if (typeof more !== 'object' || more === null)
      throw new InvalidArgumentError(`expected objects by name, got ${shown(more)}`, 'Checkpoint');
    const plain = isPlain(first);
    if (!plain && !isTrackable(first)) {
      throw new InvalidArgumentError(
        `\`Checkpoint\` was expecting root to be a trackable object (a module, a layer, an array or a map of such), got ${shown(first)}`,
        'Checkpoint',
      );
    }
    const children: Readonly<Record<string, unknown>> = plain ? { ...first, ...more } : { ...more };
    for (const [name, child] of Object.entries(children)) {
      if (name in this)
        throw new InvalidArgumentError(
          `'${name}' is the name of a method; choose another name`,
          'Checkpoint',
        );
      const empty = Array.isArray(child) || child instanceof Map || child instanceof Set || isPlain(child);
      if (!isTrackable(child) && !empty) {
        throw new InvalidArgumentError(
          `\`Checkpoint\` was expecting ${name} to be a trackable object (a variable, a module, an optimizer, an array, a map or an object of such), got ${shown(child)}`,
          'Checkpoint',
        );
      }
    }
    const state: State = {
      root: plain ? this : first,
      counter: null,
      writes: new Writes((options) => this.#capture(options)),
    };
    Object.defineProperty(this, '_state', { value: state });
    Object.assign(this, children);
    if (!plain) {
      Object.assign(this, { root: first });
      this.#look(first);
    }
  }

  /** How often `save` was called, int64; saved with the rest. */
  get saveCounter(): Variable {
    this._state.counter ??= inInitScope(
      () => new Variable(constant(0n, 'int64'), { name: 'save_counter', trainable: false }),
    );
    return this._state.counter;
  }

  /**
   * Writes `<prefix>-<n>`, where n counts the saves, and makes it the latest checkpoint of its folder, which is made if needed. The
   * checkpoint is there as a whole or not at all.
   * @returns the path to restore from
   */
  save(
    ...args: Arguments<[prefix: string, options?: CheckpointOptions | null], ['prefix', 'options']>
  ): string;
  save(first: unknown, given?: unknown): string {
    const prefix = first as string;
    const options = (given ?? new CheckpointOptions()) as CheckpointOptions;
    checkOptions(options, 'Checkpoint.save');
    const path = this.#next(prefix);
    this._write(path, options, [updateLatest]);
    return path;
  }
  /**
   * The same with the values of now, written while the program goes on.
   * @throws ResourceExhaustedError while 16 checkpoints are being written
   */
  saveAsync(
    ...args: Arguments<[prefix: string, options?: CheckpointOptions | null], ['prefix', 'options']>
  ): Promise<string>;
  async saveAsync(first: unknown, given?: unknown): Promise<string> {
    const prefix = first as string;
    const options = (given ?? new CheckpointOptions()) as CheckpointOptions;
    checkOptions(options, 'Checkpoint.save');
    this._state.writes.refuseWhileFull();
    const path = this.#next(prefix);
    await this.#later(path, options, [updateLatest]);
    return path;
  }

  /**
   * Writes exactly this path; counts nothing, and the folder's latest checkpoint stays what it is. A path that ends in `.safetensors` or
   * `.npz` becomes one file of that kind, with variables under their paths (`model/kernel`).
   * @returns the path.
   * @throws InvalidArgumentError for strings, where the ending is one of these.
   */
  write(...args: Arguments<[path: string, options?: CheckpointOptions | null], ['path', 'options']>): string;
  write(first: unknown, given?: unknown): string {
    const path = first as string;
    const options = (given ?? new CheckpointOptions()) as CheckpointOptions;
    this._write(path, options, []);
    return path;
  }
  /** The same with the values of now, written while the program goes on. */
  writeAsync(
    ...args: Arguments<[path: string, options?: CheckpointOptions | null], ['path', 'options']>
  ): Promise<string>;
  async writeAsync(first: unknown, given?: unknown): Promise<string> {
    const path = first as string;
    const options = (given ?? new CheckpointOptions()) as CheckpointOptions;
    await this.#later(path, options, []);
    return path;
  }

  /**
   * Gives everything its values in the checkpoint at this path, and what is made or attached later too. Nothing changes if something
   * does not fit.
   * @param path what `save` returned, or `latestCheckpoint` found; also the folder of a SavedModel. null restores nothing.
   * @throws NotFoundError without such files, DataLossError for damaged ones, InvalidArgumentError for shapes and dtypes that differ.
   */
  restore(
    ...args: Arguments<[path: string | null, options?: CheckpointOptions | null], ['path', 'options']>
  ): LoadStatus;
  restore(first: unknown, given?: unknown): LoadStatus {
    const path = first as string | null;
    const options = (given ?? new CheckpointOptions()) as CheckpointOptions;
    notInGraphs('restore');
    if (path === null) {
      void this.saveCounter;
      return new InitializationOnlyStatus();
    }
    check(path, options, 'restore');
    let status: LoadStatus;
    try {
      status = this.read(inSavedModel(path), options);
    } catch (cause) {
      if (!(cause instanceof NotFoundError)) throw cause;
      throw new NotFoundError(
        `Error when restoring from checkpoint or SavedModel at ${path}: ${cause.message}\nPlease double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the '-1' in 'path/to/ckpt-1').`,
        'restore',
        { cause },
      );
    }
    void this.saveCounter;
    applyPending();
    return status;
  }
  /** Reads what `write` wrote: like `restore`, but without the counter of saves. */
  read(
    ...args: Arguments<[path: string, options?: CheckpointOptions | null], ['path', 'options']>
  ): LoadStatus;
  read(first: unknown, given?: unknown): LoadStatus {
    const path = first as string;
    const options = (given ?? new CheckpointOptions()) as CheckpointOptions;
    notInGraphs('read');
    check(path, options, 'read');
    const { root, writes } = this._state;
    writes.refuseWhileWriting('read', 'reading one');
    const bundle = openBundle(path);
    if (bundle.graph === null) {
      const restoration = new NameRestoration(bundle, this.#look);
      begin(restoration, root);
      return new NameBasedStatus(restoration, root, () => this._state.counter);
    }
    const skipSlots = options.experimentalSkipSlotVariables;
    const graph = withoutCombinedLists(withKeras2Names(bundle.graph));
    const restoration = new ObjectRestoration(bundle, graph, this.#look, {
      skipSlots,
      attached: applyPending,
    });
    begin(restoration, root);
    if (restoration.matched <= 1 && isKeras3Export(bundle.graph)) {
      restoration.outcome.partial = true;
      throw new UnimplementedError(
        `${path} is from a SavedModel exported by Keras 3: it numbers its variables and names no layers. In Keras, save the model with model.save('model.keras'), model.save_weights('model.weights.h5') or tf.train.Checkpoint(model=model), and load that file`,
        `Checkpoint.read`,
      );
    }
    return new CheckpointLoadStatus(restoration, root, skipSlots);
  }

  /** Waits for what is still being written. @throws what went wrong there. */
  async sync(): Promise<void> {
    return this._state.writes.sync();
  }

  trackableView(): TrackableView {
    const children: [string, unknown][] = Object.entries(this).sort(([a], [b]) => (a < b ? -1 : 1));
    if (this._state.counter !== null && this._state.root === this)
      children.push(['save_counter', this._state.counter]);
    return { children };
  }

  /** @internal Writes the values of now; then what `after` does. */
  _write(path: string, options: CheckpointOptions, after: readonly Then[]): void {
    check(path, options, 'write');
    this._state.writes.write(path, options, after);
  }

  async #later(path: string, options: CheckpointOptions, after: readonly Then[]): Promise<void> {
    check(path, options, 'write');
    return this._state.writes.writeAsync(path, options, after);
  }

  #next(prefix: string): string {
    checkPath(prefix, 'the path', 'Checkpoint.save');
    if (arrayFormatOf(prefix) !== undefined) {
      throw new InvalidArgumentError(
        `${prefix}: save() writes TensorFlow checkpoints only; use write() for a .safetensors or .npz file`,
        'Checkpoint.save',
      );
    }
    return `${prefix}-${this._count()}`;
  }
  /** @internal One more save. */
  _count(): number {
    notInGraphs('save');
    return inInitScope(() => withoutTapes(() => Number(this.saveCounter.assignAdd(1n).item())));
  }

  /** The values of now: later assignments copy, as long as these tensors hold the memory. */
  #capture({ optimizerState }: CheckpointOptions): Values {
    notInGraphs('write');
    const look: Look =
      optimizerState === 'slots' ? this.#look : (object) => asLists(object, this.#look(object));
    return inInitScope(() =>
      // Not in a memory scope, which could end before they are written.
      inContext({ tracker: null, tapes: [] }, () => {
        const failures = applyPending();
        const { proto, entries } = describe(this._state.root, look);
        // Variables among them say so themselves when they are read.
        if (failures.size > 0)
          for (const { object } of walk(this._state.root, this.#look))
            if (failures.has(object)) throw failures.get(object);
        return { graph: proto, tensors: entries.map(({ key, attribute }) => [key, attribute.save()]) };
      }),
    );
  }

  /** The root has what was attached to it here beside its own. */
  readonly #look: Look = (object) => {
    const view = viewOf(object);
    const { root, counter } = this._state;
    if (object !== root || root === this) return view;
    const known = new Map(view.children);
    const attached: [string, object][] = [];
    for (const [name, child] of Object.entries(this)) {
      if (name === 'root' || !isTrackable(child)) continue;
      if (!known.has(name)) attached.push([name, child]);
      else if (known.get(name) !== child) {
        throw new InvalidArgumentError(
          `Cannot create a Checkpoint with keyword argument ${name} if root.${name} already exists.`,
          'Checkpoint',
        );
      }
    }
    if (counter !== null) attached.push(['save_counter', counter]);
    return { ...view, children: [...view.children, ...attached] } satisfies View;
  };
}

defineMethods(CheckpointObject.prototype, 'Checkpoint', {
  save: { positional: ['prefix', 'options'], required: 1, objects: ['options'] },
  saveAsync: { positional: ['prefix', 'options'], required: 1, objects: ['options'] },
  write: { positional: ['path', 'options'], required: 1, objects: ['options'] },
  writeAsync: { positional: ['path', 'options'], required: 1, objects: ['options'] },
  restore: { positional: ['path', 'options'], required: 1, objects: ['options'] },
  read: { positional: ['path', 'options'], required: 1, objects: ['options'] },
  sync: {},
});

/** What a checkpoint keeps beside its attributes. */
interface State {
  readonly root: object;
  counter: Variable | null;
  readonly writes: Writes;
}

/** See {@link Checkpoint}: what all of them can do. */
export type Checkpoint = CheckpointObject;

/** Makes checkpoints whose attributes are what was given, with types: `checkpoint.step`. */
export interface CheckpointConstructor {
  /** @param root the object to be saved. @param more what is attached to it, by name. */
  new <R extends Module | readonly unknown[] | ReadonlyMap<unknown, unknown>, T extends object = object>(
    root: R,
    more?: T,
  ): CheckpointObject & { readonly root: R } & T;
  /** @param children the objects to be saved, by name. More can be assigned later. */
  new <T extends object = object>(children?: T): CheckpointObject & T;
  readonly prototype: CheckpointObject;
}

export const Checkpoint: CheckpointConstructor = CheckpointObject as CheckpointConstructor;

function check(path: unknown, options: CheckpointOptions, what: string): void {
  checkPath(path, 'the path', `Checkpoint.${what}`);
  checkOptions(options, `Checkpoint.${what}`);
  if (what === 'write' && options.optimizerState === 'lists' && arrayFormatOf(String(path)) !== undefined) {
    throw new InvalidArgumentError(
      `${path}: optimizerState: 'lists' works for TensorFlow checkpoints only; leave it out for .safetensors and .npz`,
      `Checkpoint.${what}`,
    );
  }
}

/** Files are written and read at once, not by the function that is being traced, each time it runs. */
function notInGraphs(what: string): void {
  if (context.tracer === null) return;
  throw new FailedPreconditionError(
    `Calling tf.train.Checkpoint.${what}() would run only once while a function is traced or a graph is built: call it outside tf.function. To save the variables of a session, use tf.compat.v1.train.Saver`,
    `Checkpoint.${what}`,
  );
}

function updateLatest(path: string): void {
  updateCheckpointState(nodeBuiltin('node:path').dirname(path), { latest: path, all: [path] });
}

/** The checkpoint inside of a SavedModel's folder; other paths as they are. */
function inSavedModel(path: string): string {
  const { existsSync } = nodeBuiltin('node:fs');
  const { join } = nodeBuiltin('node:path');
  return existsSync(join(path, 'saved_model.pb')) ? join(path, 'variables', 'variables') : path;
}
