import type * as activations from './ops/activation.ts';
import type * as array from './ops/array.ts';
import type * as linalg from './ops/linalg.ts';
import type * as math from './ops/math.ts';
import type * as reduce from './ops/reduce.ts';
import type { Tensor } from './tensor.ts';

type Catalogue = typeof activations & typeof array & typeof linalg & typeof math & typeof reduce;

/** The function without its first argument, which the method's object is. */
type Method<F> = F extends (x: never, ...rest: infer R) => infer T ? (...rest: R) => T : never;

/** Every function of those files, as a method of Tensor and Variable. */
export type OpMethods = { [K in keyof Catalogue]: Method<Catalogue[K]> };

/** @internal Puts the functions of a file on the prototypes. */
export function installMethods(prototypes: readonly object[], functions: object): void {
  for (const [name, fn] of Object.entries(functions)) {
    if (typeof fn !== 'function') continue;
    const call = fn as (...args: unknown[]) => Tensor;
    for (const prototype of prototypes) {
      Object.defineProperty(prototype, name, {
        configurable: true,
        writable: true,
        // One or two arguments is what nearly every call has; spreading costs.
        value: function method(this: unknown, a?: unknown, ...rest: unknown[]): Tensor {
          return rest.length === 0 ? call(this, a) : call(this, a, ...rest);
        },
      });
    }
  }
}
