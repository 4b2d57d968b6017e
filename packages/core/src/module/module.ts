import { InvalidArgumentError } from '@eagre/backend';
import { defineMethods } from '../arguments/arguments.ts';
import { showFields } from '../arguments/callable.ts';
import { checkText } from '../arguments/checks.ts';
import { argumentsOf, takesArguments } from '../arguments/class-arguments.ts';
import { context, scoped } from '../dispatch/context.ts';
import { RecentMap } from '../dispatch/recent-map.ts';
import { openNameScope } from '../scopes/scope.ts';
import { Variable } from '../tensor/variable.ts';
import { forEachItem, isContainer } from '../tree/tree.ts';

/** snake_case of a class name, as TensorFlow and Keras name objects: `DenseBlock` → `dense_block`, `Conv2D` → `conv2d`. */
export function snakeCase(name: string): string {
  let found = snakeCases.get(name);
  if (found === undefined) {
    found = name
      .replace(/^_+|_+$/g, '')
      .replace(/(.)([A-Z][a-z]+)/g, '$1_$2')
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase();
    snakeCases.set(name, found);
  }
  return found;
}
// Programs have few classes, whose names are asked for whenever weights are.
const snakeCases = new RecentMap<string, string>(512);

/** @internal A config with Keras's names as options with ours: `from_logits` → `fromLogits`, `beta_1` → `beta1`. */
export function camelCaseKeys(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([key, v]) => [
      key.replace(/_+([a-z\d])/g, (_, c: string) => c.toUpperCase()),
      v,
    ]),
  );
}

/** What every module is given. */
export interface ModuleOptions {
  /** snake_case of the class unless given. */
  readonly name?: string;
}

/**
 * A thing with variables: finds those in its attributes, in arrays, maps and plain objects there, and in other modules. Attributes may
 * be added from outside, at any time. Layers and models are modules. (What is private by `#` nobody finds.)
 *
 *     class Dense extends tf.Module {
 *       w?: tf.Variable;
 *       @tf.function @tf.Module.withNameScope
 *       apply(x: tf.Tensor) {
 *         this.w ??= new tf.Variable(tf.ones([x.shape[1], 3]), { name: 'w' });     // 'dense/w'
 *         return x.matmul(this.w);                                                 // 'dense/MatMul' in the graph
 *       }
 *     }
 */
export class Module {
  /** @internal Not a private field, so that it goes along when `callable` makes a function of the module. */
  declare protected _name: string;
  /** @internal The name scope, with those that were open where the module was made: `encoder/dense/`. */
  declare protected _scope: string;

  constructor(...args: [options?: ModuleOptions | null]) {
    const options = argumentsOf<ModuleOptions>(Module, new.target, args);
    const name = options.name ?? snakeCase(new.target.name);
    checkText(name, 'name', new.target.name);
    Object.defineProperty(this, '_name', { value: name, writable: true, configurable: true });
    Object.defineProperty(this, '_scope', { value: `${context.nameScope}${name}/` });
  }

  /** snake_case of the class unless given. */
  get name(): string {
    return this._name;
  }

  /**
   * Every variable, each once: those of the module itself in the order of the names of attributes, then those of the modules inside, as
   * in TensorFlow.
   */
  get variables(): Variable[] {
    return leaves(this, 'variables', (v): v is Variable => v instanceof Variable);
  }
  /** The variables that are trained. */
  get trainableVariables(): Variable[] {
    return this.variables.filter((v) => v.trainable);
  }
  /** The variables that are not trained, such as moving averages. */
  get nonTrainableVariables(): Variable[] {
    return this.variables.filter((v) => !v.trainable);
  }
  /** Every module inside, at any depth, in the order of `variables`. */
  get submodules(): Module[] {
    return leaves(this, 'submodules', (v): v is Module => v instanceof Module);
  }

  /**
   * The module's name scope, for the names of variables and of nodes in graphs: `this.nameScope(() => …)`, or
   * `using _ = this.nameScope()` until the block ends. It is the same whatever other scopes are open.
   */
  nameScope<T>(fn: () => T): T;
  nameScope<T>(options: {
    /** What runs in the scope. */
    readonly fn: () => T;
  }): T;
  nameScope(): Disposable;
  nameScope(fn?: unknown): unknown {
    return scoped(() => openNameScope(this._scope), 'nameScope', fn as (() => unknown) | undefined);
  }

  /** A method that runs in the name scope of its object; also as a decorator: `@tf.Module.withNameScope`. */
  static withNameScope<This extends Module, Args extends unknown[], Result>(
    method: (this: This, ...args: Args) => Result,
    decorated?: ClassMethodDecoratorContext,
  ): (this: This, ...args: Args) => Result {
    if (typeof method !== 'function' || (decorated !== undefined && decorated.kind !== 'method'))
      throw new InvalidArgumentError('as a decorator it works on methods only', 'tf.Module.withNameScope');
    return function scopedMethod(this: This, ...args: Args): Result {
      return this.nameScope(() => method.apply(this, args));
    };
  }
}

takesArguments<ModuleOptions>({ names: { name: true } }, Module);
defineMethods(Module.prototype, 'Module', { nameScope: { positional: ['fn'], required: 0 } });
showFields(Module.prototype, (module) => ({ ...module, name: module.name }));

/**
 * What is wanted among the attributes of a module and of those inside, in TensorFlow's order: a module's own first, by the names of
 * attributes, arrays from front to back, maps and objects by key; then module after module. `root` itself does not count. A class that
 * has a `list` of its own, as layers have, is asked for that.
 */
function leaves<L extends 'variables' | 'submodules'>(
  root: Module,
  list: L,
  wanted: (value: unknown) => value is Module[L][number],
): Module[L][number][] {
  type T = Module[L][number];
  const found: T[] = [];
  const seen = new Set<unknown>([root]);
  let modules: Module[] = [];
  const visit = (value: unknown): void => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      return;
    seen.add(value);
    if (wanted(value)) found.push(value);
    if (value instanceof Module) modules.push(value);
    else if (value instanceof Set) for (const item of value) visit(item);
    else if (isContainer(value)) forEachItem(value, visit);
  };
  const ask = (module: Module): void => {
    const own: readonly T[] = module[list];
    for (const item of own) {
      if (seen.has(item)) continue;
      seen.add(item);
      found.push(item);
    }
  };
  // A list and no recursion: chains of modules may be longer than the stack.
  const walk = (): void => {
    const waiting = [root];
    for (let module = waiting.pop(); module !== undefined; module = waiting.pop()) {
      if (module === root || getterOf(module, list) === getterOf(Module.prototype, list)) {
        modules = [];
        forEachItem(module, visit);
        for (let i = modules.length - 1; i >= 0; i--) waiting.push(modules[i]);
      } else if (!asked.has(module)) ask(module);
    }
  };
  const outermost = !asked.has(root);
  asked.add(root);
  try {
    walk();
  } finally {
    if (outermost) asked.delete(root);
  }
  return found;
}

// Modules that are being asked, so that those in a circle are not asked again.
const asked = new Set<Module>();

function getterOf(object: object, key: string): (() => unknown) | undefined {
  for (let o: object | null = object; o !== null; o = Object.getPrototypeOf(o) as object | null) {
    const property = Object.getOwnPropertyDescriptor(o, key);
    if (property !== undefined) return property.get;
  }
  return undefined;
}
