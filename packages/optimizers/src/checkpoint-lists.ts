import { constant, type Trackable, type TrackableAttribute, type Variable } from '@eagre/core';

type Child = readonly [name: string, child: Trackable | Variable];

/** What the lists are made of. */
interface Parts {
  readonly iterations: () => Variable;
  /** The variable of a fixed rate, null with a schedule. */
  readonly rate: () => Variable | null;
  /** The rate of now. */
  readonly rateNow: () => number;
  /** The place of a variable among those that the optimizer was built for. */
  readonly placeOf: (variable: Variable) => number | undefined;
}

interface ListedSlot {
  readonly list: string;
  readonly variable: Variable;
  readonly slot: Variable;
}

/**
 * An optimizer's parts as Keras 2's newer optimizers have them: attributes, and lists of slots in the order of the variables that they are
 * for. The objects are the same each time, as checkpoints tell them apart.
 */
export class CheckpointLists {
  readonly #parts: Parts;
  readonly #slots: ListedSlot[] = [];
  readonly #lists = new Map<string, Trackable>();
  readonly #all: Trackable = viewOf(() =>
    [this.#parts.iterations(), ...this.#slots.map(({ slot }) => slot)].map((v, i) => [String(i), v]),
  );
  readonly #rateNow: Trackable;
  #unlisted = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    const value: TrackableAttribute = {
      optional: true,
      save: () => constant(parts.rateNow(), 'float32'),
      // The schedule of the program counts.
      restore: () => undefined,
    };
    this.#rateNow = { trackableView: () => ({ children: [], attributes: [['VARIABLE_VALUE', value]] }) };
  }

  /** @param list the attribute that has the list; null where Keras 2 has no such list: then the optimizer has no form as lists at all. */
  add(list: string | null, variable: Variable, slot: Variable): void {
    if (list === null) {
      this.#unlisted = true;
      return;
    }
    this.#slots.push({ list, variable, slot });
    if (!this.#lists.has(list))
      this.#lists.set(
        list,
        viewOf(() => this.#itemsOf(list)),
      );
  }

  /** @param named further variables, by their names. */
  children(named: ReadonlyMap<string, Variable>): Child[] {
    if (this.#unlisted) return [];
    const rate = this.#parts.rate();
    return [
      ['_variables', this.#all],
      ['_iterations', this.#parts.iterations()],
      rate === null ? ['_current_learning_rate', this.#rateNow] : ['_learning_rate', rate],
      ...[...named].map(([name, variable]): Child => [`_${name}`, variable]),
      ...this.#lists,
    ];
  }

  #itemsOf(list: string): Child[] {
    return this.#slots
      .filter((slot) => slot.list === list)
      .map(({ variable, slot }) => [String(this.#parts.placeOf(variable)), slot]);
  }
}

function viewOf(children: () => Child[]): Trackable {
  return { trackableView: () => ({ children: children() }) };
}
