// Objects of loaded models.
import { Module, type Trackable, type TrackableSlot, type TrackableView, Variable } from '@eagre/core';
import type { SignatureFunction } from './functions.ts';

/**
 * An object of a loaded model: what was inside of it in Python, under the names that it had there. Functions are called, variables are
 * `tf.Variable`s, lists and tuples are arrays, dicts are plain objects. `variables` and `trainableVariables` list what is inside.
 */
export class LoadedObject extends Module implements Trackable {
  /** The model's signatures by name; of the root alone. */
  declare readonly signatures: Readonly<Record<string, SignatureFunction>>;
  // biome-ignore lint/suspicious/noExplicitAny: nobody knows what is in a file
  readonly [name: string]: any;
  /** What is inside, by the names in Python: also what has the name of a member of Module. */
  readonly #children: Map<string, unknown> = new Map();
  readonly #slots: TrackableSlot[] = [];

  constructor(...args: []) {
    super(...args);
  }

  /** @internal Puts something inside. */
  static attach(object: LoadedObject, name: string, child: unknown): void {
    object.#children.set(name, child);
    // Members of Module keep their meaning; those that list variables look here.
    if (name in Module.prototype || name === 'constructor' || name === 'trackableView') return;
    Object.defineProperty(object, name, {
      value: child,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  /** @internal What is inside, by name. */
  static entries(object: LoadedObject): readonly (readonly [string, unknown])[] {
    return [...object.#children];
  }
  /** @internal Adds a slot of an optimizer. */
  static attachSlot(object: LoadedObject, slot: TrackableSlot): void {
    object.#slots.push(slot);
  }

  /** Those that the file lists as the object's, as Keras's exports do; otherwise all inside. */
  override get variables(): Variable[] {
    return this.#listed('variables') ?? super.variables;
  }
  override get trainableVariables(): Variable[] {
    return this.#listed('trainable_variables') ?? super.trainableVariables;
  }
  override get nonTrainableVariables(): Variable[] {
    return this.#listed('non_trainable_variables') ?? super.nonTrainableVariables;
  }
  #listed(name: string): Variable[] | undefined {
    const list = this.#children.get(name);
    return Array.isArray(list) && list.every((v) => v instanceof Variable) ? [...list] : undefined;
  }

  /** How checkpoints see it: as TensorFlow does. */
  trackableView(): TrackableView {
    return {
      children: [...this.#children].filter(([name]) => name !== 'signatures'),
      slots: this.#slots,
    };
  }
}
