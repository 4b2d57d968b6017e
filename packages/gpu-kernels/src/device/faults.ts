import { type EagreError, InvalidArgumentError, OutOfRangeError, UnimplementedError } from '@eagre/backend';
import { type Fault, faults } from '../kernels/kernel.ts';

/** The kernels that may have noted a fault since the last read. Each read owns the faults up to its place in the order of calls. */
export class Suspects {
  readonly #names = new Set<string>();

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  add(name: string): void {
    this.#names.add(name);
  }

  /** Their names, which are forgotten; undefined where there are none, so that no fault can have been noted. */
  take(): string | undefined {
    if (this.#names.size === 0) return undefined;
    const names = [...this.#names].join(', ');
    this.#names.clear();
    return names;
  }
}

/** What a noted fault is thrown as. */
export function faultError(fault: Fault, suspects: string): EagreError {
  const message = `${faults[fault]} (in one of: ${suspects})`;
  if (fault === 1 || fault === 4) return new OutOfRangeError(message);
  if (fault === 5) return new UnimplementedError(`${message}; run MaxPoolGrad on the CPU`);
  return new InvalidArgumentError(message);
}
