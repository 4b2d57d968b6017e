import { FailedPreconditionError } from '@eagre/core';
import { nodeNames } from './object-graph.ts';
import type { NameRestoration, ObjectRestoration, Restoration } from './restoration.ts';

/** What `restore` and `read` return: ask it how well the checkpoint and the program fit. */
export interface LoadStatus {
  /**
   * Everything in the checkpoint and everything in the program has found its counterpart.
   * @throws FailedPreconditionError that names what has not.
   */
  assertConsumed(): this;
  /**
   * Everything with values that the program has now was restored; the checkpoint may hold more.
   * @throws FailedPreconditionError that names what was not.
   */
  assertExistingObjectsMatched(): this;
  /** Something besides the root was found in the checkpoint. @throws FailedPreconditionError when nothing was. */
  assertNontrivialMatch(): this;
  /** Not everything in the checkpoint is needed: no warning when the objects go. */
  expectPartial(): this;
  /** Does nothing in eager mode, where values are restored as soon as they can be. Programs for graphs call it. */
  initializeOrRestore(): void;
}

const fail = (message: string): never => {
  throw new FailedPreconditionError(message);
};

/** @internal Of a checkpoint with an object graph. */
export class CheckpointLoadStatus implements LoadStatus {
  readonly #restoration: ObjectRestoration;
  readonly #root: object;
  readonly #slots: boolean;

  constructor(restoration: ObjectRestoration, root: object, skipSlots: boolean) {
    this.#restoration = restoration;
    this.#root = root;
    this.#slots = !skipSlots;
  }

  assertConsumed(): this {
    this.assertExistingObjectsMatched();
    const { unbound, unused, graph } = this.#restoration;
    if (unbound.length === 0 && unused.size === 0) return this;
    const names = nodeNames(graph);
    if (unbound.length > 0) {
      const shown = unbound.slice(0, 10).map((id) => {
        const { attributes = [] } = graph.nodes?.[id] ?? {};
        return `Unresolved object in checkpoint ${names[id]}: ${attributes.map((a) => a.checkpoint_key ?? '').join(', ')}`;
      });
      fail(shown.join('\n') + (unbound.length > 10 ? `\n… and ${unbound.length - 10} more` : ''));
    }
    const lines = [...unused].map(([id, attributes]) => `${names[id]}: ${attributes.join(', ')}`);
    return fail(
      `Unused attributes in these objects (the attributes exist in the checkpoint but were not restored):\n${lines.join('\n')}`,
    );
  }

  assertExistingObjectsMatched(): this {
    this.#restoration.walk(this.#root);
    const missing = unmatched(this.#restoration, this.#root, this.#slots);
    if (missing.length > 0) {
      const shown = missing.slice(0, 10);
      fail(
        `Found ${missing.length} objects that were not bound to checkpointed values, likely due to changes in the program. Showing ${shown.length} of ${missing.length} unmatched objects: ${shown.join(', ')}`,
      );
    }
    return this;
  }

  assertNontrivialMatch(): this {
    this.#restoration.walk(this.#root);
    if (this.#restoration.matched > 1) return this;
    const missing = unmatched(this.#restoration, this.#root, this.#slots);
    return missing.length > 0
      ? fail(
          `Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint does not match the program. The following objects have no matching checkpointed value: ${missing.slice(0, 10).join(', ')}`,
        )
      : fail('Nothing to load. No dependencies have been added to the root yet.');
  }

  expectPartial(): this {
    this.#restoration.outcome.partial = true;
    return this;
  }
  initializeOrRestore(): void {
    this.#restoration.walk(this.#root);
  }
}

/** @internal Of a checkpoint with names only. */
export class NameBasedStatus implements LoadStatus {
  readonly #restoration: NameRestoration;
  readonly #root: object;
  readonly #optional: () => object | null;

  /** @param optional an object that need not be in the file. */
  constructor(restoration: NameRestoration, root: object, optional: () => object | null) {
    this.#restoration = restoration;
    this.#root = root;
    this.#optional = optional;
  }

  assertConsumed(): this {
    this.#restoration.walk(this.#root);
    const optional = this.#optional();
    const missing = this.#restoration
      .existing(this.#root)
      .filter(({ object, view }) => view.attributes.size > 0 && object !== optional)
      .filter(({ object }) => !this.#restoration.hasRestored(object));
    if (missing.length > 0)
      fail(`Object not restored: ${missing.map(({ names }) => names.join('.')).join(', ')}`);
    return this;
  }
  assertExistingObjectsMatched(): this {
    return this.assertConsumed();
  }
  assertNontrivialMatch(): this {
    return this.assertConsumed();
  }
  expectPartial(): this {
    return this;
  }
  initializeOrRestore(): void {
    this.#restoration.walk(this.#root);
  }
}

/** @internal Of `restore(null)`: there is nothing to be restored. */
export class InitializationOnlyStatus implements LoadStatus {
  assertConsumed(): this {
    return fail('No checkpoint specified (save_path=None); nothing is being restored.');
  }
  assertExistingObjectsMatched(): this {
    return this.assertConsumed();
  }
  assertNontrivialMatch(): this {
    return this.assertConsumed();
  }
  expectPartial(): this {
    return this;
  }
  initializeOrRestore(): void {}
}

/** The places of objects with values that have none from the file. */
function unmatched(restoration: Restoration, root: object, slots: boolean): string[] {
  return restoration
    .existing(root, slots)
    .filter(
      ({ object, view }) =>
        [...view.attributes.values()].some(({ optional = false }) => !optional) &&
        !restoration.hasRestored(object),
    )
    .map(({ names }) => (names.length === 0 ? '(root)' : `(root).${names.join('.')}`));
}
