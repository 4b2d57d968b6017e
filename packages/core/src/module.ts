import { showFields } from './callable.ts';
import { context, scoped } from './context.ts';
import { Variable } from './variable.ts';

/** snake_case of a class name, as TensorFlow and Keras name objects: `DenseBlock` → `dense_block`, `Conv2D` → `conv2d`. */
export function snakeCase(name: string): string {
  return name
    .replace(/^_+|_+$/g, '')
    .replace(/(.)([A-Z][a-z]+)/g, '$1_$2')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();
}

/**
 * A thing with variables: finds those in its attributes, in arrays, maps and plain objects there, and in other modules.
 * Attributes may be added from outside. Layers and models are modules.
 */
export class Module {
  /** @internal Not a private field, so that it goes along when `callable` makes a function of the module. */
  declare protected _name: string;

  constructor(options: { readonly name?: string } = {}) {
    const name = options.name ?? snakeCase(new.target.name);
    Object.defineProperty(this, '_name', { value: name, writable: true, configurable: true });
  }

  /** snake_case of the class unless given. */
  get name(): string {
    return this._name;
  }

  /** Every variable, in the order of attributes, each once. */
  get variables(): Variable[] {
    return collect(this, (v): v is Variable => v instanceof Variable);
  }
  get trainableVariables(): Variable[] {
    return this.variables.filter((v) => v.trainable);
  }
  get nonTrainableVariables(): Variable[] {
    return this.variables.filter((v) => !v.trainable);
  }
  /** Every module inside, at any depth. */
  get submodules(): Module[] {
    return collect(this, (v): v is Module => v instanceof Module);
  }

  /** Names variables made inside after this module: `module.withNameScope(() => …)`, or `using _ = module.withNameScope()`. */
  withNameScope<T>(fn: () => T): T;
  withNameScope(): Disposable;
  withNameScope<T>(fn?: () => T): T | Disposable {
    return scoped(
      () => {
        const before = context.nameScope;
        context.nameScope = `${before}${this.name}/`;
        return () => {
          context.nameScope = before;
        };
      },
      'nameScope',
      fn,
    );
  }
}

showFields(Module.prototype, (module) => ({ ...module, name: module.name }));

/** Depth first through attributes, arrays, maps, sets and plain objects; `root` itself is not reported. */
export function collect<T>(root: object, wanted: (value: unknown) => value is T): T[] {
  const found: T[] = [];
  const seen = new Set<unknown>([root]);
  const visit = (value: unknown): void => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      return;
    seen.add(value);
    if (wanted(value)) found.push(value);
    if (value instanceof Module) inside(value);
    else if (Array.isArray(value) || value instanceof Set) for (const item of value) visit(item);
    else if (value instanceof Map) for (const item of value.values()) visit(item);
    else if (isPlain(value)) inside(value);
  };
  const inside = (object: object): void => {
    for (const value of Object.values(object)) visit(value);
  };
  inside(root);
  return found;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null;
}
