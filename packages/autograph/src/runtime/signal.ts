import { AutographError } from '../errors.ts';
import { or, type Truth } from './truth.ts';

/** How control left a converted statement other than at its end; any of it may depend on the run. */
export class Signal {
  readonly broke: Truth;
  readonly continued: Truth;
  readonly returned: Truth;
  readonly value: unknown;

  constructor(broke: Truth, continued: Truth, returned: Truth, value: unknown) {
    this.broke = broke;
    this.continued = continued;
    this.returned = returned;
    this.value = value;
  }

  get jumped(): Truth {
    return or(or(this.broke, this.continued), this.returned);
  }

  /** The same where it is known that control has left. */
  taken(): Signal {
    const { broke, continued, returned, value } = this;
    const possible = [broke, continued, returned].filter((t) => t !== false);
    if (possible.length !== 1) return this;
    return new Signal(broke !== false, continued !== false, returned !== false, value);
  }

  /** What is left of it behind a turn of a loop. */
  afterTurn(): Signal | undefined {
    if (this.broke === false && this.returned === false) return undefined;
    return new Signal(this.broke, false, this.returned, this.value);
  }

  /** What is left of it behind a loop. */
  afterLoop(): Signal | undefined {
    return this.returned === false ? undefined : new Signal(false, false, this.returned, this.value);
  }
}

/** What a converted statement says: nothing where control came to its end. */
export type Outcome = Signal | undefined | void;

export const BREAK: Signal = new Signal(true, false, false, undefined);
export const CONTINUE: Signal = new Signal(false, true, false, undefined);

/** A `return`. */
export function returned(value?: unknown): Signal {
  return new Signal(false, false, true, value);
}

/**
 * What a function returns.
 * @throws AutographError where it depends on the run whether it returns something.
 */
export function value(signal: Outcome, site: string): unknown {
  if (!signal || signal.returned === false) return undefined;
  if (signal.returned === true || signal.value === undefined) return signal.value;
  throw new AutographError(
    site,
    'the function returns a value on some ways only: end it with a return of the same dtype and shape',
  );
}
