import { argumentsOf, checkFunction, type OptionNames, takesArguments } from '@eagre/core/internal';
import { Callback } from './callback.ts';

type Name = Extract<keyof Callback, `on${string}`>;

/** Any of the methods of `Callback`, by name. */
export type LambdaCallbackFunctions = { readonly [K in Name]?: Callback[K] | null };

/** A callback made of functions: `new LambdaCallback({ onEpochEnd: (epoch, logs) => console.log(epoch, logs.loss) })`. */
export class LambdaCallback extends Callback {
  /** @throws InvalidArgumentError for a name that is no method of `Callback`, and for what is no function. */
  constructor(...args: [functions?: LambdaCallbackFunctions | null]) {
    super();
    const functions = argumentsOf<LambdaCallbackFunctions>(LambdaCallback, new.target, args);
    for (const [name, fn] of Object.entries(functions)) {
      if (fn === null) continue;
      checkFunction(fn, name, 'LambdaCallback');
      Object.defineProperty(this, name, { value: fn });
    }
  }
}
const methods = Object.getOwnPropertyNames(Callback.prototype).filter((name) => /^on[A-Z]/.test(name));
takesArguments<LambdaCallbackFunctions>(
  { names: Object.fromEntries(methods.map((name) => [name, true])) as OptionNames<LambdaCallbackFunctions> },
  LambdaCallback,
);
