import { constant, type Trackable, type TrackableAttribute } from '@eagre/core';
import { shortest } from './rate.ts';

/** Options that Keras 2 keeps in variables: they are in checkpoints, but stay what they are. */
export class CheckpointOptions {
  readonly #optimizer: string;
  readonly #values: () => Readonly<Record<string, number>>;
  readonly #known = new Map<string, Trackable>();

  /** @param values the options by Keras 2's names, as they are now */
  constructor(optimizer: string, values: () => Readonly<Record<string, number>>) {
    this.#optimizer = optimizer;
    this.#values = values;
  }

  /** The options as parts of the optimizer, each time the same objects. */
  children(): [name: string, option: Trackable][] {
    return Object.keys(this.#values()).map((name) => {
      const option = this.#known.get(name) ?? this.#make(name);
      this.#known.set(name, option);
      return [name, option];
    });
  }

  #make(name: string): Trackable {
    const now = (): number => this.#values()[name];
    const value: TrackableAttribute = {
      optional: true,
      save: () => constant(now(), 'float32'),
      restore: (stored) => {
        if (stored.item() === Math.fround(now())) return;
        console.warn(
          `${this.#optimizer}: the checkpoint was made with ${name} ${shortest(stored.item())}, here it is ${now()} and stays so`,
        );
      },
    };
    return { trackableView: () => ({ children: [], attributes: [['VARIABLE_VALUE', value]] }) };
  }
}
