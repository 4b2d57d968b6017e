import { FailedPreconditionError, InvalidArgumentError, NotFoundError } from '@eagre/core';
import { argumentsOf, checkText, defineMethods, isPlain, shown, takesArguments } from '@eagre/core/internal';

type Values = Readonly<Record<string, unknown>>;
interface State {
  readonly values: Map<string, unknown>;
  frozen: boolean;
}
const states = new WeakMap<object, State>();
const stateOf = (config: Config): State => states.get(config) as State;
/** @throws FailedPreconditionError where it may not be changed */
function changing(config: Config): Map<string, unknown> {
  const { values, frozen } = stateOf(config);
  if (!frozen) return values;
  throw new FailedPreconditionError('it is frozen', 'Config');
}

/**
 * Named values, such as the settings of an experiment, that can be frozen: `const config = new Config({ rate: 0.1 }); config.units = 4;
 * config.freeze()`. A value that is not there throws NotFoundError; names of methods are reached by `get`.
 */
export class Config {
  [name: string]: unknown;

  constructor(...args: [values?: Values]) {
    const values = argumentsOf<Values>(Config, new.target, args);
    const config: Config = new Proxy<Config>(this, {
      get: (target, name) => {
        if (typeof name === 'symbol' || name in target) return Reflect.get(target, name, config);
        const { values } = stateOf(config);
        if (values.has(name)) return values.get(name);
        // What asks whether it is a promise, or has a form of its own in JSON, gets no error.
        if (name === 'then' || name === 'toJSON') return undefined;
        throw new NotFoundError(`there is no value '${name}'`, 'Config');
      },
      set: (target, name, value) => {
        if (typeof name === 'symbol' || name in target)
          throw new InvalidArgumentError(`${String(name)} is a method; use update()`, 'Config');
        changing(config).set(name, value);
        return true;
      },
      deleteProperty: (_, name) => changing(config).delete(String(name)),
      has: (target, name) => name in target || stateOf(config).values.has(String(name)),
      ownKeys: () => [...stateOf(config).values.keys()],
      getOwnPropertyDescriptor: (_, name) => {
        const { values } = stateOf(config);
        if (typeof name === 'symbol' || !values.has(name)) return undefined;
        return { value: values.get(name), enumerable: true, configurable: true, writable: true };
      },
    });
    states.set(config, { values: new Map(Object.entries(values)), frozen: false });
    // biome-ignore lint/correctness/noConstructorReturn: the names of its values are its properties
    return config;
  }

  /** Whether it may not be changed. */
  get frozen(): boolean {
    return stateOf(this).frozen;
  }
  /** How many values there are. */
  get size(): number {
    return stateOf(this).values.size;
  }
  /** From here on changes throw FailedPreconditionError. */
  freeze(): void {
    stateOf(this).frozen = true;
  }
  unfreeze(): void {
    stateOf(this).frozen = false;
  }

  /** The value of a name; `otherwise` (undefined) where there is none. */
  get(name: string, otherwise?: unknown): unknown {
    checkText(name, 'name', 'Config.get');
    const { values } = stateOf(this);
    return values.has(name) ? values.get(name) : otherwise;
  }
  /** Takes a value out. @throws NotFoundError where there is none, and nothing else is given */
  pop(name: string, otherwise?: unknown): unknown {
    const values = changing(this);
    const value = this.get(name, otherwise);
    if (value === undefined && !values.has(name))
      throw new NotFoundError(`there is no value '${name}'`, 'Config');
    values.delete(name);
    return value;
  }
  /** Sets several values. */
  update(values: Values | Config): void {
    const own = changing(this);
    const given: unknown = values instanceof Config ? values.asDict() : values;
    if (!isPlain(given))
      throw new InvalidArgumentError(`expected values by name, got ${shown(given)}`, 'Config.update');
    for (const [name, value] of Object.entries(given)) own.set(name, value);
  }

  keys(): string[] {
    return [...stateOf(this).values.keys()];
  }
  values(): unknown[] {
    return [...stateOf(this).values.values()];
  }
  items(): [name: string, value: unknown][] {
    return [...stateOf(this).values];
  }
  /** The names, in order. */
  [Symbol.iterator](): IterableIterator<string> {
    return this.keys().sort()[Symbol.iterator]();
  }
  /** The values as a plain object. */
  asDict(): Record<string, unknown> {
    return Object.fromEntries(stateOf(this).values);
  }
  /** The values as JSON. */
  toJson(): string {
    return JSON.stringify(this.asDict());
  }
}
takesArguments<Values>({ anyName: true, names: {} }, Config);
defineMethods(Config.prototype, 'Config', {
  freeze: {},
  unfreeze: {},
  get: { positional: ['name', 'otherwise'], required: 1 },
  pop: { positional: ['name', 'otherwise'], required: 1 },
  update: { positional: ['values'], objects: ['values'] },
  keys: {},
  values: {},
  items: {},
  asDict: {},
  toJson: {},
});
