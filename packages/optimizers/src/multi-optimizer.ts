import {
  FailedPreconditionError,
  InvalidArgumentError,
  type Trackable,
  type TrackableView,
  type Variable,
} from '@eagre/core';
import {
  argumentsOf,
  checkConfig,
  checkNoPromise,
  customObject,
  defineMethods,
  inInitScope,
  isClass,
  isPlain,
  registeredName,
  type SerializedObject,
  showFields,
  shown,
  takesOptions,
  withoutUnused,
} from '@eagre/core/internal';
import { optionsOf } from './config.ts';
import type { GradientAndVariable } from './gradients.ts';
import { Optimizer } from './optimizer.ts';
import { checkOptimizer, OptimizerMap } from './optimizer-map.ts';
import { type OptimizerOptions, optimizerOptions } from './options.ts';

/** Tells the optimizer of a variable. */
export type OptimizerOf = (variable: Variable) => Optimizer;

/** Options of `MultiOptimizer`. */
export interface MultiOptimizerOptions extends Pick<OptimizerOptions, 'lossScaleFactor' | 'name'> {
  /** An `OptimizerMap`, or a function of a variable, which is asked once for each. */
  readonly optimizerMap: OptimizerMap | OptimizerOf;
}

/**
 * Leaves variables to several optimizers: `new MultiOptimizer(new OptimizerMap(new SGD(0.1), { 'encoder/.*': new Adam() }))`. Each has a
 * learning rate, clipping, and iterations of its own, so that this one has no learning rate: reading or setting it throws
 * FailedPreconditionError.
 */
export class MultiOptimizer extends Optimizer {
  /** @internal */
  declare readonly optimizerMap: OptimizerMap | OptimizerOf;
  readonly #optimizers: Optimizer[] = [];
  readonly #known = new Map<Variable, Optimizer>();
  readonly #list: Trackable = {
    trackableView: () => ({ children: this.#optimizers.map((o, i) => [String(i), o]) }),
  };

  constructor(
    ...args: [
      optimizerMap: OptimizerMap | OptimizerOf | MultiOptimizerOptions,
      options?: Omit<MultiOptimizerOptions, 'optimizerMap'>,
    ]
  ) {
    super(0, argumentsOf<MultiOptimizerOptions>(MultiOptimizer, new.target, args));
    const { optimizerMap: map } = this;
    if (!(map instanceof OptimizerMap)) return;
    for (const [, optimizer] of map) this.#add(optimizer);
    this.#add(map.defaultOptimizer);
  }

  /** The optimizers. */
  get optimizers(): readonly Optimizer[] {
    return [...this.#optimizers];
  }
  /** What is saved: the iterations, a learning rate that is not used, as in Keras, and what the optimizers save. */
  override get variables(): Variable[] {
    return [...super.variables, ...this.#optimizers.flatMap((optimizer) => optimizer.variables)];
  }
  override get variablesHere(): readonly Variable[] {
    return [...super.variablesHere, ...this.#optimizers.flatMap((optimizer) => optimizer.variablesHere)];
  }
  override get changedVariables(): readonly Variable[] {
    return [this.iterations, ...this.#optimizers.flatMap((optimizer) => optimizer.changedVariables)];
  }
  override get learningRate(): number {
    return this.#noRate();
  }
  override set learningRate(_: number) {
    this.#noRate();
  }
  #noRate(): never {
    throw new FailedPreconditionError('its optimizers have learning rates of their own', this.name);
  }

  override trackableView(): TrackableView {
    const { children = [], listed = [], ...view } = super.trackableView();
    const list = ['_inner_optimizers', this.#list] as const;
    return { ...view, children: [...children, list], listed: [...listed, list] };
  }

  #add(optimizer: Optimizer): void {
    if (!this.#optimizers.includes(optimizer)) this.#optimizers.push(optimizer);
  }
  #optimizerOf(variable: Variable): Optimizer {
    const known = this.#known.get(variable);
    if (known !== undefined) return known;
    const found: unknown = this.optimizerMap(variable);
    checkNoPromise(found, 'optimizerMap()', this.name);
    checkOptimizer(found, `the optimizer of '${variable.path}'`);
    this.#add(found);
    this.#known.set(variable, found);
    return found;
  }

  protected override addAllSlots(variables: readonly Variable[]): void {
    const chosen = variables.map((variable) => this.#optimizerOf(variable));
    for (const optimizer of this.#optimizers) {
      const own = variables.filter((_, i) => chosen[i] === optimizer);
      if (own.length > 0) optimizer.build(own);
    }
  }

  protected override applyPairs(pairs: readonly GradientAndVariable[]): void {
    inInitScope(() => {
      this.build(pairs.map(([, variable]) => variable));
    });
    const chosen = pairs.map(([, variable]) => {
      this.indexOf(variable);
      return this.#optimizerOf(variable);
    });
    for (const optimizer of this.#optimizers) {
      const own = pairs.filter((_, i) => chosen[i] === optimizer);
      if (own.length > 0) optimizer.applyGradients(own);
    }
    this.countStep();
  }

  override get averages(): ReadonlyMap<Variable, Variable> | null {
    const all = this.#optimizers.flatMap((optimizer) => optimizer.averages ?? []);
    return all.length === 0 ? null : new Map(all.flatMap((averages) => [...averages]));
  }
  protected override finalizeAll(variables: readonly Variable[]): void {
    for (const optimizer of this.#optimizers)
      optimizer.finalizeVariableValues(variables.filter((v) => this.#known.get(v) === optimizer));
  }

  /**
   * Keras's config, without the state.
   * @throws InvalidArgumentError where the optimizers come from a function that is not registered
   */
  override getConfig(): Record<string, unknown> {
    const { optimizerMap: map, name } = this;
    return {
      optimizer_map: map instanceof OptimizerMap ? map.toJSON() : writtenFunction(map, name),
      loss_scale_factor: null,
      name,
    };
  }

  /** The optimizer of a config, from `getConfig` or Keras. `customObjects` are classes and functions of your own by name. */
  static override fromConfig<T extends Optimizer>(
    this: new (
      options: never,
    ) => T,
    config: Readonly<Record<string, unknown>>,
    customObjects?: Readonly<Record<string, unknown>> | null,
  ): T {
    checkConfig(config, MultiOptimizer);
    const { optimizer_map: written, ...others } = config;
    const optimizerMap = readMap(written, customObjects ?? {});
    // biome-ignore lint/complexity/noThisInStatic: of the class that it is called on
    return new this({ ...withoutUnused(this, optionsOf(others)), optimizerMap } as never);
  }
}

const FUNCTION = 'function';

function writtenFunction(fn: OptimizerOf, optimizer: string): SerializedObject {
  const name = registeredName(fn);
  if (name === undefined)
    throw new InvalidArgumentError(
      'a function that tells optimizers cannot be serialized unless it is registered with registerKerasSerializable',
      optimizer,
    );
  return { module: 'builtins', class_name: FUNCTION, config: name as never, registered_name: FUNCTION };
}

function readMap(
  written: unknown,
  customObjects: Readonly<Record<string, unknown>>,
): OptimizerMap | OptimizerOf {
  const { class_name: kind, config } = (isPlain(written) ? written : {}) as Partial<SerializedObject>;
  if (kind === 'OptimizerMap' && isPlain(config)) return OptimizerMap.fromConfig(config, customObjects);
  const name: unknown = config;
  const found =
    kind === FUNCTION && typeof name === 'string' ? (customObjects[name] ?? customObject(name)) : undefined;
  if (typeof found === 'function') return found as OptimizerOf;
  throw new InvalidArgumentError(
    `optimizer_map must be an OptimizerMap or a registered function, got ${shown(written)}`,
    'MultiOptimizer.fromConfig',
  );
}

// What others do to gradients and variables is done by its optimizers.
const nothing = {
  clipnorm: null,
  clipvalue: null,
  globalClipnorm: null,
  weightDecay: null,
  useEma: false,
  gradientAccumulationSteps: null,
};
Object.assign(MultiOptimizer.prototype, nothing);

takesOptions<MultiOptimizerOptions, MultiOptimizer>(
  {
    positional: ['optimizerMap'],
    options: {
      optimizerMap: {
        read: (given, name, of) => {
          if (typeof given === 'function' && !isClass(given)) return given as OptimizerMap | OptimizerOf;
          throw new InvalidArgumentError(
            `${name} must be an OptimizerMap or a function, got ${shown(given)}`,
            (of as MultiOptimizer).name,
          );
        },
        hidden: true,
      },
      lossScaleFactor: optimizerOptions.lossScaleFactor,
      name: true,
    },
  },
  MultiOptimizer,
);
defineMethods(MultiOptimizer, 'MultiOptimizer', {
  fromConfig: {
    positional: ['config', 'customObjects'],
    required: 1,
    objects: ['config', 'customObjects'],
  },
});
showFields(MultiOptimizer.prototype, ({ name, optimizers }) => ({ name, optimizers }));
