import { InvalidArgumentError } from '@eagre/core';
import { isPlain, shown } from '@eagre/core/internal';
import { Callback } from './callback.ts';

type Name = Extract<keyof Callback, `on${string}`>;

/** Any of the methods of `Callback`, by name. */
export type LambdaCallbackFunctions = { readonly [K in Name]?: Callback[K] };

/** A callback made of functions: `new LambdaCallback({ onEpochEnd: (epoch, logs) => console.log(epoch, logs.loss) })`. */
export class LambdaCallback extends Callback {
  /** @throws InvalidArgumentError for a name that is no method of `Callback`. */
  constructor(functions: LambdaCallbackFunctions) {
    super();
    if (!isPlain(functions))
      throw new InvalidArgumentError(
        `expected functions by name, such as { onEpochEnd }, got ${shown(functions)}`,
        'LambdaCallback',
      );
    for (const [name, fn] of Object.entries(functions)) {
      if (fn === undefined) continue;
      if (!/^on[A-Z]/.test(name) || !(name in Callback.prototype) || typeof fn !== 'function') {
        throw new InvalidArgumentError(
          `'${name}' is no method of a callback; there are ${Object.getOwnPropertyNames(Callback.prototype)
            .filter((n) => n.startsWith('on'))
            .join(', ')}`,
          'LambdaCallback',
        );
      }
      Object.defineProperty(this, name, { value: fn });
    }
  }
}
