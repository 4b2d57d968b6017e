import { GradientTape } from '@eagre/autodiff';
import type { KernelName } from '@eagre/backend';
import {
  constant,
  type DType,
  FailedPreconditionError,
  IndexedSlices,
  InvalidArgumentError,
  Module,
  maximum,
  type Tensor,
  type TensorLike,
  type Trackable,
  type TrackableSlot,
  type TrackableView,
  UnimplementedError,
  Variable,
  type VariableAggregation,
  where,
  zerosLike,
} from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkConfig,
  checkFunction,
  checkList,
  checkNoPromise,
  checkText,
  configOf,
  type DistributionReplica,
  defineMethods,
  distribution,
  inGraphScope,
  inInitScope,
  inScope,
  isFloating,
  isPlain,
  kerasDefaults,
  loadVariables,
  outsideScopes,
  saveVariables,
  setOptions,
  showFields,
  shown,
  takesOptions,
  toTensor,
  type VariableHome,
  variableIn,
  whileHolding,
  within,
  withoutTapes,
  withoutUnused,
} from '@eagre/core/internal';
import { type Accumulation, accumulate } from './accumulation.ts';
import { CheckpointLists } from './checkpoint-lists.ts';
import { CheckpointOptions } from './checkpoint-options.ts';
import { checkClipping, clipGradients } from './clipping.ts';
import { optionsOf } from './config.ts';
import {
  areSlices,
  type GradientAndVariable,
  gradientOf,
  pairsOf,
  rowsOf,
  shardsOf,
  type Update,
  whole,
} from './gradients.ts';
import { Momentary } from './momentary.ts';
import { averaging } from './moving-average.ts';
import { type OptimizerOptions, optimizerSchema } from './options.ts';
import { type LearningRate, Rate } from './rate.ts';
import { onDevice, type Scalar } from './scalars.ts';
import { checkNumber } from './schedule.ts';
import { LearningRateSchedule, serialize } from './schedules.ts';
import { runUpdateKernel, type UpdateAttrs } from './update-kernel.ts';

/** The slot of gradients that wait for their update. */
const ACCUMULATOR = 'gradient_accumulator';

interface OwnVariable {
  /** Of the variable; float32 by default. */
  readonly dtype?: DType;
  /** Part of the variable's name in files. */
  readonly name?: string;
  /** The value of all elements at first; 0 by default. */
  readonly initial?: number;
}

/** @throws InvalidArgumentError for what is no list of variables */
function variablesOf(given: unknown, what: string, of: string): readonly Variable[] {
  if (!Array.isArray(given) || !given.every((v) => !isPlain(v) && v instanceof Variable))
    throw new InvalidArgumentError(`${what} must be a list of variables, got ${shown(given)}`, of);
  return given as readonly Variable[];
}

/** @internal @throws InvalidArgumentError for what is no variable */
export function variableOf(given: unknown, of: string): Variable {
  if (!isPlain(given) && given instanceof Variable) return given;
  throw new InvalidArgumentError(`variable must be a variable, got ${shown(given)}`, of);
}

/** @internal A scalar for ops on a variable. */
export function scalarFor(variable: Variable, x: Scalar): number | Tensor {
  if (typeof x === 'number') return x;
  return x.cast(isFloating(variable.dtype) ? variable.dtype : 'float32');
}

/** A variable whose values are brought back into bounds after each update. */
interface Constrained {
  readonly constraint?: ((value: Variable) => TensorLike) | null;
}

type GivenGradients =
  | Iterable<TensorLike | null | undefined>
  | Iterable<GradientAndVariable>
  | {
      /** One for each variable, null for those that stay; or pairs of a gradient and its variable. */
      readonly gradients: Iterable<TensorLike | null | undefined> | Iterable<GradientAndVariable>;
      /** What is updated, in the order of the gradients; not beside pairs. */
      readonly variables?: Iterable<Variable>;
    };

/**
 * Base of optimizers: they change variables by their gradients.
 *
 * To make your own, extend it; in `build` make what must be remembered for each variable (`addVariableFromReference`), and in
 * `updateStep` assign the new values:
 *
 *     class SignSGD extends tf.optimizers.Optimizer {
 *       updateStep(gradient, variable, learningRate) {
 *         variable.assignSub(gradient.sign().mul(learningRate));
 *       }
 *     }
 */
export abstract class Optimizer extends Module implements Trackable {
  /** Before each update, `variable -= variable · weightDecay · learningRate`. */
  declare readonly weightDecay: number | null;
  /** The largest norm of each gradient; longer ones are shortened. Only one of the three kinds of clipping can be given. */
  declare readonly clipnorm: number | null;
  /** The largest absolute value of an element of a gradient. */
  declare readonly clipvalue: number | null;
  /** The largest norm of all gradients together. */
  declare readonly globalClipnorm: number | null;
  /**
   * Keep an average of each variable over the steps; `finalizeVariableValues`, which `fit` calls at its end, puts the averages in the place
   * of the variables. Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992.
   */
  declare readonly useEma: boolean;
  /** `average = emaMomentum · average + (1 − emaMomentum) · variable` after each update. */
  declare readonly emaMomentum: number;
  /** Puts the averages in the place of the variables after every that many steps, too. */
  declare readonly emaOverwriteFrequency: number | null;
  /** The loss is multiplied by it (`scaleLoss`, which `fit` calls), and gradients divided, so that small ones do not vanish in 16 bits. */
  declare readonly lossScaleFactor: number | null;
  /**
   * Updates the variables in every that many steps only, at least 2, with the means of the gradients since then. Schedules and `iterations`
   * count all steps.
   */
  declare readonly gradientAccumulationSteps: number | null;
  readonly #iterations: Variable;
  readonly #variables: Variable[] = [];
  readonly #slots: TrackableSlot[] = [];
  readonly #slotsOf = new Map<Variable, Map<string, Variable>>();
  /** Of variables that are no slots, by their own names. */
  readonly #named = new Map<string, Variable>();
  readonly #index = new Map<Variable, number>();
  /** While `apply` is under way, `applyGradients` does not call it. */
  #isApplying = false;
  readonly #noDecay: { readonly variables: Set<Variable>; names: RegExp | null } = {
    variables: new Set(),
    names: null,
  };
  readonly #warned = new Set<Variable>();
  readonly #lists: CheckpointLists = new CheckpointLists({
    iterations: () => this.#iterations,
    rate: () => this.#rate.variable,
    rateNow: () => this.learningRate,
    placeOf: (variable) => this.#index.get(variable),
  });
  readonly #options: CheckpointOptions = new CheckpointOptions(this.name, () => this.checkpointOptions);
  readonly #rate: Rate;
  readonly #now: Momentary;
  /** Of variables that gradients overwrite: the largest of the steps that are accumulated. */
  readonly #largest = new Map<Variable, Variable>();
  /** That of the update at hand. */
  #learningRateNow: Scalar = 0;

  constructor(
    ...args: [
      learningRate: LearningRate | (OptimizerOptions & { readonly learningRate: LearningRate }),
      options?: OptimizerOptions,
    ]
  ) {
    const options = argumentsOf<OptimizerOptions & { readonly learningRate: LearningRate }>(
      Optimizer,
      new.target,
      args,
    );
    const { name } = options;
    if (name !== undefined && name !== null) checkText(name, 'name', new.target.name);
    super(name === undefined || name === null ? {} : { name });
    setOptions(this, options);
    checkClipping(this);
    this.#iterations = this.#track('iteration', constant(0, 'int64'), 'ONLY_FIRST_REPLICA');
    this.#rate = new Rate(options.learningRate, this.name, (value) => ({
      saved: this.#track('learning_rate', constant(value, 'float32')),
      exact: this.#hold('exact_learning_rate', constant(value, 'float64')),
    }));
    this.#now = new Momentary(this.#iterations, this.#rate, this.gradientAccumulationSteps ?? 1);
  }

  /** How many steps were made; int64, saved with the other variables. */
  get iterations(): Variable {
    return this.#iterations;
  }
  /** Whether `build` has run. */
  get built(): boolean {
    return this.#index.size > 0;
  }

  /**
   * The learning rate of the next update. Assign a number, a schedule, or a function of the step; a schedule can be replaced
   * by another one only. A fixed rate is kept in a variable, which is saved.
   */
  get learningRate(): number {
    return this.#rate.at(this.#iterations);
  }
  set learningRate(value: LearningRate) {
    const old = this.#rate.variable;
    this.#rate.set(value);
    // A schedule has nothing to save.
    if (old !== null && this.#rate.variable === null) this.#variables.splice(this.#variables.indexOf(old), 1);
  }
  /** The schedule or function that gives the learning rate; null when it is fixed. */
  get learningRateSchedule(): ((step: number) => number | Tensor) | null {
    return this.#rate.schedule;
  }

  /** Everything that is saved, in Keras's order: iterations, learning rate, then the slots. */
  override get variables(): Variable[] {
    return [...this.#variables];
  }

  /** @internal Of `variables` those whose values this process has in an update: not the slots of what other processes update. */
  get variablesHere(): readonly Variable[] {
    const elsewhere = new Set(
      [...this.#slotsOf].flatMap(([variable, slots]) => (updatesHere(variable) ? [] : [...slots.values()])),
    );
    return this.#variables.filter((v) => !elsewhere.has(v));
  }

  /** @internal Of `variablesHere` those that an update changes: not the learning rate. */
  get changedVariables(): readonly Variable[] {
    return this.variablesHere.filter((v) => v !== this.#rate.variable);
  }

  /** The state for checkpoints: `iter`, `learning_rate`, Keras 2's options such as `beta_1`, and the slots of variables. */
  trackableView(): TrackableView {
    const children: [string, Variable][] = [['iter', this.#iterations]];
    const { exact, variable: rate } = this.#rate;
    if (rate !== null) children.push(['learning_rate', rate]);
    const known = new Set<unknown>(this.#variables);
    const others = Object.entries(this).filter(
      ([name, v]) =>
        (v instanceof Variable || v instanceof Module) && !known.has(v) && !this.#named.has(name),
    );
    return {
      children: [...children, ...this.#options.children(), ...this.#named, ...others],
      slots: this.#slots,
      listed: [...this.#lists.children(this.#named), ...others],
      unsaved: exact === null || rate === null ? [] : [['_exact_learning_rate', exact]],
    };
  }

  /** @internal Options that Keras 2 keeps in variables, by its names for them: they are in checkpoints, but stay what they are. */
  protected get checkpointOptions(): Readonly<Record<string, number>> {
    return {};
  }
  /**
   * Makes the slots for these variables; the first `applyGradients` does it otherwise. Later updates are possible for these
   * variables only. Does nothing the second time.
   */
  build(
    variables:
      | readonly Variable[]
      | {
          /** All that will ever be updated. */
          readonly variables: readonly Variable[];
        },
  ): void;
  build(given: unknown): void {
    if (this.built) return;
    const whole = variablesOf(given, 'variables', `${this.name}.build`);
    const variables = whole.filter((v) => !v.overwriteWithGradient).flatMap((variable) => variable.shards);
    const seen = new Set<Variable>();
    for (const variable of variables) {
      if (!isFloating(variable.dtype)) {
        throw new InvalidArgumentError(
          `the variable '${variable.path}' is ${variable.dtype} and has no gradient`,
          this.name,
        );
      }
      this.#once(variable, seen);
    }
    variables.forEach((variable, i) => this.#index.set(variable, i));
    if (this.useEma) this.addSlots(variables, 'average');
    if (this.gradientAccumulationSteps !== null)
      for (const variable of whole.flatMap((v) => v.shards)) {
        const slot = this.addVariableFromReference(variable, ACCUMULATOR);
        if (variable.overwriteWithGradient) this.#largest.set(variable, slot);
      }
    this.addAllSlots(variables);
  }
  /** @internal What a built-in optimizer remembers for these variables. */
  protected addAllSlots(_variables: readonly Variable[]): void {}

  /** A variable of the optimizer's own, not trainable, `initial` (0 unless given) everywhere; saved with the others. */
  addVariable(...args: Arguments<[shape: readonly number[]], ['shape'], OwnVariable>): Variable;
  addVariable(shape: unknown, options: unknown = {}): Variable {
    const { dtype = kerasDefaults.floatx, name = 'variable', initial = 0 } = options as OwnVariable;
    const what = `${this.name}.addVariable`;
    checkList(shape as readonly number[], 'shape', what);
    checkText(name, 'name', what);
    checkNumber(initial, 'initial', what);
    const variable = this.#make({ shape: shape as readonly number[], dtype, name, initial });
    this.#named.set(name, variable);
    return variable;
  }
  #make(options: {
    readonly shape: readonly number[];
    readonly dtype?: DType;
    readonly name: string;
    readonly initial?: number | Tensor;
  }): Variable {
    const { shape, dtype = 'float32', name, initial = 0 } = options;
    return this.#track(name, typeof initial === 'number' ? constant(initial, dtype, { shape }) : initial);
  }
  /** A variable of another one's shape and dtype, `adam/dense_kernel_momentum` for `dense/kernel` and `momentum`. */
  addVariableFromReference(
    ...args: Arguments<
      [reference: Variable, name: string, initial?: number],
      ['reference', 'name', 'initial']
    >
  ): Variable;
  addVariableFromReference(reference: unknown, name?: unknown, initial: unknown = 0): Variable {
    const what = `${this.name}.addVariableFromReference`;
    if (!(reference instanceof Variable))
      throw new InvalidArgumentError(`reference must be a variable, got ${shown(reference)}`, what);
    checkText(name, 'name', what);
    checkNumber(initial as number, 'initial', what);
    return this.addSlot(reference, name as string, {
      shape: reference.shape,
      initial: initial as number,
    });
  }
  /** The same in a shape of its own. Keras calls several such variables as it calls the other one; here each has a name of its own. */
  protected addSlot(
    reference: Variable,
    name: string,
    options: {
      readonly shape: readonly number[];
      readonly dtype?: DType;
      /** 0 everywhere unless given. */
      readonly initial?: number | Tensor;
    },
  ): Variable {
    if (!reference.hasOneShape)
      throw new InvalidArgumentError(
        `the variable '${reference.path}' may change its shape, so no variable for its ${name} fits: use an optimizer without such, as SGD without momentum`,
        this.name,
      );
    const own = `${reference.path.replace(/[/:]/g, '_')}_${name}`;
    // Sums of gradients are no state that processes divide.
    const beside = name === ACCUMULATOR ? null : reference;
    // Where the variable is, whatever scope is open.
    const strategy = reference.whole.distributedBy ?? distribution.strategy;
    const slot = within(distribution, { beside, strategy }, () =>
      this.#make({ dtype: reference.dtype, ...options, name: own }),
    );
    this.#lists.add(this.checkpointList(name), reference, slot);
    this.#slots.push({ variable: reference, name: this.checkpointName(name), slot });
    const known = this.#slotsOf.get(reference) ?? new Map<string, Variable>();
    this.#slotsOf.set(reference, known.set(name, slot));
    return slot;
  }
  /** What `addVariableFromReference` or `addSlot` made for a variable. @throws InvalidArgumentError when there is no such slot. */
  protected slot(variable: Variable, name: string): Variable {
    this.indexOf(variable);
    const found = this.#slotsOf.get(variable)?.get(name);
    if (found === undefined)
      throw new InvalidArgumentError(`there is no slot '${name}' for '${variable.path}'`, this.name);
    return found;
  }
  /** What a slot is called in checkpoints, where Keras 3's name for it is `name`: Keras 2's names, which files of TensorFlow have. */
  protected checkpointName(name: string): string {
    return name;
  }
  /**
   * The attribute in which Keras 2's newer optimizers list such slots, `_momentums` for `momentum`; null for an optimizer that keeps there
   * what this one does not.
   */
  protected checkpointList(name: string): string | null {
    return name === 'average' ? '_model_variables_moving_average' : `_${name.replace(/y$/, 'ie')}s`;
  }
  /** One such variable for each; with several names, those of one variable follow each other. */
  protected addSlots<const N extends readonly string[]>(
    variables: readonly Variable[],
    ...names: N
  ): { [K in keyof N]: Variable[] } {
    const lists = names.map((): Variable[] => []);
    for (const variable of variables) {
      names.forEach((name, i) => lists[i].push(this.addVariableFromReference(variable, name)));
    }
    return lists as { [K in keyof N]: Variable[] };
  }
  /**
   * For each variable one of the optimizer's own, of its shape and dtype, or several of different names; those of one variable follow each
   * other in `variables`.
   * @param initial what they hold first, 0 by default; one number for all names, or one for each
   * @returns them in the order of `trainableVariables`; a list of such lists where there is a list of names
   */
  addOptimizerVariables(
    ...args: Arguments<
      [trainableVariables: readonly Variable[], name: string, initial?: number],
      ['trainableVariables', 'name', 'initial']
    >
  ): Variable[];
  addOptimizerVariables(
    ...args: Arguments<
      [
        trainableVariables: readonly Variable[],
        name: readonly string[],
        initial?: number | readonly number[],
      ],
      ['trainableVariables', 'name', 'initial']
    >
  ): Variable[][];
  addOptimizerVariables(given: unknown, name?: unknown, initial: unknown = 0): Variable[] | Variable[][] {
    const what = `${this.name}.addOptimizerVariables`;
    const variables = variablesOf(given, 'trainableVariables', what);
    const names = (Array.isArray(name) ? name : [name]) as readonly string[];
    for (const one of names) checkText(one, 'name', what);
    const initials = (Array.isArray(initial) ? initial : names.map(() => initial)) as readonly number[];
    if (initials.length !== names.length)
      throw new InvalidArgumentError(
        `there are ${names.length} names and ${initials.length} first values`,
        what,
      );
    const lists = names.map((): Variable[] => []);
    for (const variable of variables)
      names.forEach((one, i) => {
        lists[i].push(this.addVariableFromReference(variable, one, initials[i]));
      });
    return Array.isArray(name) ? lists : lists[0];
  }

  /** `variable.assign(value)`, as Keras's optimizers write it. */
  assign(...args: Arguments<[variable: Variable, value: TensorLike], ['variable', 'value']>): void;
  assign(variable: unknown, value?: unknown): void {
    variableOf(variable, `${this.name}.assign`).assign(value as TensorLike);
  }
  /** `variable.assignAdd(value)`, as Keras's optimizers write it. */
  assignAdd(...args: Arguments<[variable: Variable, value: TensorLike], ['variable', 'value']>): void;
  assignAdd(variable: unknown, value?: unknown): void {
    variableOf(variable, `${this.name}.assignAdd`).assignAdd(value as TensorLike);
  }
  /** `variable.assignSub(value)`, as Keras's optimizers write it. */
  assignSub(...args: Arguments<[variable: Variable, value: TensorLike], ['variable', 'value']>): void;
  assignSub(variable: unknown, value?: unknown): void {
    variableOf(variable, `${this.name}.assignSub`).assignSub(value as TensorLike);
  }

  /**
   * Sets `variables`, in their order.
   * @throws FailedPreconditionError before the optimizer is built, InvalidArgumentError for another number of values or other shapes
   */
  setWeights(
    weights:
      | readonly TensorLike[]
      | {
          /** The values, in the order of `variables`. */
          readonly weights: readonly TensorLike[];
        },
  ): void;
  setWeights(weights: unknown): void {
    const what = `${this.name}.setWeights`;
    if (!this.built)
      throw new FailedPreconditionError('the optimizer is not built; call build(variables) first', what);
    checkList(weights as readonly TensorLike[], 'weights', what);
    const values = weights as readonly TensorLike[];
    if (values.length !== this.#variables.length)
      throw new InvalidArgumentError(
        `expected ${this.#variables.length} values (${this.#variables.map((v) => v.path).join(', ')}), got ${values.length}`,
        what,
      );
    this.#variables.forEach((variable, i) => {
      variable.assign(values[i]);
    });
  }
  /** Puts copies of `variables` into an object: `'0'`, `'1'`, … */
  saveOwnVariables(
    store:
      | Record<string, TensorLike>
      | {
          /** Where the copies are put: an object, mostly an empty one. */
          readonly store: Record<string, TensorLike>;
        },
  ): void;
  saveOwnVariables(given: unknown): void {
    saveVariables(this.variables, given, `${this.name}.saveOwnVariables`);
  }
  /** Sets `variables` from what `saveOwnVariables` gave; of another number of values it warns, and leaves them, as Keras. */
  loadOwnVariables(
    store:
      | Readonly<Record<string, TensorLike>>
      | {
          /** What `saveOwnVariables` has filled. */
          readonly store: Readonly<Record<string, TensorLike>>;
        },
  ): void;
  loadOwnVariables(given: unknown): void {
    const { variables } = this;
    loadVariables(variables, given, `${this.name}.loadOwnVariables`, (count) => {
      console.warn(
        `${this.name}: has ${variables.length} variables and ${count} were given, so they stay as they are${this.built ? '' : '; build it first'}`,
      );
    });
  }

  /** The place of a variable among those that the optimizer was built for. */
  protected indexOf(variable: Variable): number {
    const index = this.#index.get(variable);
    if (index === undefined) {
      throw new InvalidArgumentError(
        `the variable '${variable.path}' is not one of those the optimizer was built for (by its first update or by build()); create another optimizer for it`,
        this.name,
      );
    }
    return index;
  }

  /** Exempts variables from `weightDecay`: these, and those in whose paths one of `varNames` is found, which are regular expressions as in Keras. */
  excludeFromWeightDecay(options: {
    /** Those variables; none by default. */
    readonly varList?: readonly Variable[] | null;
    /** Regular expressions: those in whose paths one of them is found. None by default. */
    readonly varNames?: readonly string[] | null;
  }): void {
    const what = `${this.name}.excludeFromWeightDecay`;
    const variables = variablesOf(options.varList ?? [], 'varList', what);
    const names: unknown = options.varNames ?? [];
    if (!Array.isArray(names) || !names.every((n) => typeof n === 'string'))
      throw new InvalidArgumentError(`varNames must be a list of strings, got ${shown(names)}`, what);
    let pattern: RegExp | null = null;
    try {
      if (names.length > 0) pattern = new RegExp(names.join('|'));
    } catch (cause) {
      throw new InvalidArgumentError(
        `varNames must be regular expressions, got ${shown(names)}: ${(cause as Error).message}`,
        what,
        { cause },
      );
    }
    if (this.built)
      throw new FailedPreconditionError(
        'excludeFromWeightDecay() must be called before the first update',
        this.name,
      );
    this.#noDecay.variables.clear();
    for (const variable of variables) this.#noDecay.variables.add(variable);
    this.#noDecay.names = pattern;
  }
  /** The weight decay of one variable; 0 for none. */
  protected decayOf(variable: Variable): number {
    const decay = this.fullDecayOf(variable);
    const { variables, names } = this.#noDecay;
    if (decay === null || variables.has(variable)) return 0;
    return names?.test(variable.path) === true ? 0 : decay;
  }
  /** @internal The same of one that is not exempt. */
  protected fullDecayOf(_variable: Variable): number | null {
    return this.weightDecay;
  }

  /**
   * Updates each variable by its gradient: `applyGradients(grads, variables)`, or pairs, as `zip` gives them. Variables
   * without a gradient (null) stay as they are.
   * @returns the iterations
   * @throws InvalidArgumentError when there is no gradient at all, a gradient does not fit its variable, a variable is listed
   * twice, or was not there when the optimizer was built
   */
  applyGradients(pairs: Iterable<GradientAndVariable>): Variable;
  // All forms, so that a class of one's own may override it for pairs alone.
  applyGradients(gradients: GivenGradients, variables?: Iterable<Variable>): Variable;
  applyGradients(gradients: GivenGradients, variables?: Iterable<Variable>): Variable {
    const all = pairsOf(gradients as Iterable<unknown>, variables, this.name);
    // A class of one's own may change gradients in `apply`, as in Keras.
    if (this.apply !== Optimizer.prototype.apply && !this.#isApplying) {
      return this.#applying(() =>
        this.apply(
          all.map(([gradient]) => gradient),
          all.map(([, v]) => v),
        ),
      );
    }
    const given = this.#overwritten(all);
    const { lossScaleFactor: factor } = this;
    const unscaled = (gradient: TensorLike): TensorLike =>
      areSlices(gradient)
        ? (gradient.mapValues((v) => v.div(factor as number)) as never)
        : toTensor(gradient).div(factor as number);
    const pairs =
      factor === null
        ? given
        : given.map(
            ([gradient, variable]): GradientAndVariable => [
              gradient === null || gradient === undefined ? gradient : unscaled(gradient),
              variable,
            ],
          );
    const apply = (some: readonly GradientAndVariable[]): void =>
      inGraphScope(this.name, () => withoutTapes(() => inScope(() => this.applyPairs(some))));
    const { replica } = distribution;
    const home = homeOf(pairs);
    if (home !== null) this.#applyAtHome(home, pairs, apply);
    else if (replica === null || replica.isUpdating || replica.strategy.numReplicasInSync === 1) apply(pairs);
    else this.#applySummed(replica, pairs, apply);
    return this.iterations;
  }

  /** Gives variables their gradients as values that want it so: of several replicas the largest, as of steps. @returns the others */
  #overwritten(pairs: readonly GradientAndVariable[]): readonly GradientAndVariable[] {
    const isOne = ([, variable]: GradientAndVariable): boolean =>
      (variable as Variable | undefined)?.overwriteWithGradient === true;
    if (!pairs.some(isOne)) return pairs;
    const { replica } = distribution;
    const own = pairs.filter(
      ([gradient, variable]) => isOne([gradient, variable]) && gradient !== null && gradient !== undefined,
    );
    withoutTapes(() => {
      if (this.gradientAccumulationSteps !== null) inInitScope(() => this.#buildFor(pairs));
      const values = own.map(([gradient, variable]) =>
        gradientOf(gradient as TensorLike, variable, this.name),
      );
      const apply = (next: readonly Tensor[]): void => {
        for (const [i, [, variable]] of own.entries()) this.#overwrite(variable, next[i]);
      };
      if (replica === null || replica.isUpdating || replica.strategy.numReplicasInSync === 1) apply(values);
      else
        replica.applyLargest(
          values,
          own.flatMap(([, variable]) => this.#largest.get(variable) ?? []).concat(own.map(([, v]) => v)),
          apply,
        );
    });
    return pairs.filter((pair) => !isOne(pair));
  }

  /** Gives a variable its next value: of steps that are accumulated the largest, in the last of them. */
  #overwrite(variable: Variable, value: Tensor): void {
    const largest = this.#largest.get(variable);
    if (largest === undefined) {
      variable.assign(value);
      return;
    }
    const isLast = this.#now.isLast();
    const now = maximum(value, largest);
    if (isLast !== false) variable.assign(isLast === true ? now : where(isLast, now, variable));
    const none = zerosLike(now);
    largest.assign(isLast === true ? none : isLast === false ? now : where(isLast, none, now));
  }

  /** Updates variables of other processes there. */
  #applyAtHome(
    home: VariableHome,
    pairs: readonly GradientAndVariable[],
    apply: (pairs: readonly GradientAndVariable[]) => void,
  ): void {
    if (this.gradientAccumulationSteps !== null)
      throw new UnimplementedError(
        'gradientAccumulationSteps: workers that update variables of parameter servers do not count steps together',
        this.name,
      );
    this.#checkPairs(pairs);
    const divided = pairs.flatMap(([gradient, variable]) => shardsOf(gradient, variable, this.name));
    inInitScope(() => home.inScope(() => this.#buildFor(divided)));
    const updates = withoutTapes(() => this.#updatesOf(divided));
    // The norm of all of them: each place sees its own only. There it changes nothing any more.
    const clipped = withoutTapes(() => clipGradients(updates, this));
    home.update(
      clipped.map(({ gradient, variable, rows }) =>
        rows === undefined ? gradient : IndexedSlices.of(gradient, rows, variable.shape),
      ),
      clipped.map(({ variable }) => variable),
      this.iterations,
      (gradients, variables) => apply(variables.map((variable, i) => [gradients[i] as TensorLike, variable])),
    );
  }

  /** In a replica: updates by the sums of all replicas' gradients. */
  #applySummed(
    replica: DistributionReplica,
    pairs: readonly GradientAndVariable[],
    apply: (pairs: readonly GradientAndVariable[]) => void,
  ): void {
    const variables = pairs.map(([, variable]) => variableOf(variable, `${this.name}.applyGradients`));
    const at = pairs.flatMap(([gradient], i) => (gradient === null || gradient === undefined ? [] : [i]));
    const gradients = at.map((i) => gradientOf(pairs[i][0] as TensorLike, variables[i], this.name));
    replica.applySummed(gradients, [...variables, this.iterations], (sums) =>
      apply(
        variables.map((variable, i) => {
          const place = at.indexOf(i);
          return [place === -1 ? null : sums[place], variable];
        }),
      ),
    );
  }

  /**
   * The loss whose gradients `applyGradients` expects: itself, times `lossScaleFactor`, or times the scale of a `LossScaleOptimizer`.
   */
  scaleLoss(
    loss:
      | Tensor
      | {
          /** The loss of a step. */
          readonly loss: Tensor;
        },
  ): Tensor;
  scaleLoss(loss: Tensor): Tensor {
    return this.scaled(loss);
  }
  /** @internal */
  protected scaled(loss: Tensor): Tensor {
    return this.lossScaleFactor === null ? loss : loss.mul(this.lossScaleFactor);
  }

  /**
   * Keras 3's name for `applyGradients`, which calls it in classes that override it: `fit` updates by what such a class makes of gradients.
   * @param trainableVariables those that the optimizer was built for unless given.
   */
  apply(
    gradients: Iterable<TensorLike | null | undefined>,
    trainableVariables?: Iterable<Variable> | null,
  ): Variable;
  apply(options: {
    /** One for each variable, null for those that stay. */
    readonly gradients: Iterable<TensorLike | null | undefined>;
    /** What is updated; those that the optimizer was built for unless given. */
    readonly trainableVariables?: Iterable<Variable> | null;
  }): Variable;
  apply(gradients: unknown, trainableVariables?: Iterable<Variable> | null): Variable {
    const variables = trainableVariables ?? this.#index.keys();
    return this.#applying(() => this.applyGradients(gradients as Iterable<TensorLike | null>, variables));
  }
  #applying(update: () => Variable): Variable {
    const before = this.#isApplying;
    this.#isApplying = true;
    try {
      return update();
    } finally {
      this.#isApplying = before;
    }
  }
  /**
   * An update of values instead of variables: those of `variables` of the optimizer, and those of the variables that it was built for.
   * @returns the new values of the latter, then of the optimizer.
   * @throws FailedPreconditionError before the optimizer is built, InvalidArgumentError for values that do not fit.
   */
  statelessApply(
    optimizerVariables: readonly TensorLike[],
    gradients: readonly (TensorLike | null | undefined)[],
    trainableVariables: readonly TensorLike[],
  ): [trainableVariables: Tensor[], optimizerVariables: Tensor[]];
  statelessApply(options: {
    /** Values in the order of `variables`. */
    readonly optimizerVariables: readonly TensorLike[];
    /** One for each trainable variable, null for those that stay. */
    readonly gradients: readonly (TensorLike | null | undefined)[];
    /** Values of the variables that the optimizer was built for. */
    readonly trainableVariables: readonly TensorLike[];
  }): [trainableVariables: Tensor[], optimizerVariables: Tensor[]];
  statelessApply(
    own: unknown,
    gradients?: readonly (TensorLike | null | undefined)[],
    trainable?: readonly TensorLike[],
  ): [trainableVariables: Tensor[], optimizerVariables: Tensor[]] {
    const what = `${this.name}.statelessApply`;
    if (!this.built)
      throw new FailedPreconditionError('the optimizer is not built; call build(variables) first', what);
    const [mine, theirs] = [this.variables, [...this.#index.keys()]];
    for (const [values, name] of [
      [own, 'optimizerVariables'],
      [trainable, 'trainableVariables'],
    ] as const)
      if (!Array.isArray(values)) throw new InvalidArgumentError(`${name} must be a list of values`, what);
    const values = [...(own as TensorLike[]), ...(trainable as TensorLike[])];
    return whileHolding([...mine, ...theirs], values, what, () => {
      this.applyGradients(gradients as readonly TensorLike[], theirs);
      return [theirs.map((v) => v.read()), mine.map((v) => v.read())];
    });
  }

  /**
   * Computes the loss, its gradients, and updates the variables: those given, or all trainable ones that `loss` used.
   * @returns the loss
   */
  minimize(
    ...args: Arguments<
      [loss: () => Tensor, varList?: readonly Variable[] | (() => readonly Variable[]) | null],
      ['loss', 'varList']
    >
  ): Tensor;
  minimize(loss: unknown, varList?: unknown): Tensor {
    checkFunction(loss, 'loss', `${this.name}.minimize`);
    const tape = new GradientTape();
    try {
      const [value, scaled] = tape.record((): [Tensor, Tensor] => {
        const own = (loss as () => Tensor)();
        checkNoPromise(own, 'loss()', this.name);
        return [own, this.scaleLoss(own)];
      });
      const given: unknown = typeof varList === 'function' ? varList() : varList;
      checkNoPromise(given, 'varList()', this.name);
      const list = variablesOf(given ?? tape.watchedVariables(), 'varList', `${this.name}.minimize`);
      inScope(() => {
        this.applyGradients(tape.gradient(scaled, list), list);
      });
      return value;
    } finally {
      tape.dispose();
    }
  }

  /**
   * Changes one variable. The learning rate is a number, or a scalar tensor while `tf.function` traces and within a `LossScaleOptimizer`: use it
   * in ops, `gradient.mul(learningRate)`. Optimizers that write many at once override `updateAll` instead.
   */
  updateStep(_gradient: Tensor, _variable: Variable, _learningRate: number | Tensor): void {
    throw new UnimplementedError(
      'the class must have updateStep(gradient, variable, learningRate)',
      this.name,
    );
  }
  /** @internal Changes rows of one variable, each of which stands in `rows` once. */
  protected updateRows(_gradient: Tensor, _rows: Tensor, _variable: Variable, _rate: number | Tensor): void {
    throw new UnimplementedError('rows of variables', this.name);
  }
  /** @internal Changes all variables of one step whose gradients are whole. */
  protected updateAll(updates: readonly Update[], learningRate: Scalar): void {
    // Where processes divide the state, each update has to find that of its own variable.
    const isDivided = (distribution.replica?.sharding ?? null) !== null;
    for (const { gradient, variable } of updates) {
      const update = (): unknown => this.updateStep(gradient, variable, scalarFor(variable, learningRate));
      const given = isDivided ? within(distribution, { beside: variable }, update) : update();
      checkNoPromise(given, 'updateStep()', this.name);
    }
  }
  /** @internal Shrinks variables by their weight decay; overridden where the kernel does it. */
  protected applyWeightDecay(updates: readonly Update[], learningRate: Scalar): void {
    for (const { variable } of updates) {
      const decay = this.decayOf(variable);
      if (decay !== 0) variable.assignSub(variable.mul(decay).mul(scalarFor(variable, learningRate)));
    }
  }

  /**
   * @internal One kernel call for the variables of one dtype: its inputs are variable, slots and gradient of each, and it
   * writes into the variables and slots; behind them come `scalars`.
   */
  protected runKernel(
    name: KernelName,
    updates: readonly Update[],
    slots: readonly (readonly Variable[])[],
    attrs: UpdateAttrs,
    scalars: readonly Scalar[],
  ): void {
    const slotted = updates.map(({ gradient, variable }) => {
      const index = this.indexOf(variable);
      return { gradient, written: [variable, ...slots.map((list) => list[index])] };
    });
    runUpdateKernel(name, slotted, attrs, scalars);
  }

  /** @internal The number of the update at hand, from 1 on; a scalar while `tf.function` traces, and where the device alone knows it. */
  protected momentaryStep(): Scalar {
    return this.#now.step();
  }

  /** @internal What follows from the learning rate and the step, for use in ops on a variable: scalars of its dtype in a graph. */
  protected momentaryScalars<N extends string>(
    variable: Variable,
    compute: (learningRate: Scalar, step: Scalar) => Readonly<Record<N, Scalar>>,
  ): Readonly<Record<N, number | Tensor>> {
    const values = Object.entries<Scalar>(compute(this.#learningRateNow, this.#now.step()));
    return Object.fromEntries(values.map(([name, v]) => [name, scalarFor(variable, v)])) as Readonly<
      Record<N, number | Tensor>
    >;
  }

  /** Keras's config: what makes an optimizer with the same options, without its state. */
  getConfig(): Record<string, unknown> {
    const { schedule } = this.#rate;
    if (schedule !== null && !(schedule instanceof LearningRateSchedule)) {
      throw new InvalidArgumentError(
        'a learning rate that is a plain function cannot be serialized; extend LearningRateSchedule',
        this.name,
      );
    }
    return {
      name: this.name,
      learning_rate: schedule === null ? this.learningRate : serialize(schedule),
      ...configOf(this),
    };
  }

  /**
   * The optimizer of a config, from `getConfig` or Keras.
   */
  static fromConfig<T extends Optimizer>(
    this: new (
      options: never,
    ) => T,
    config: Readonly<Record<string, unknown>>,
    customObjects?: Readonly<Record<string, unknown>> | null,
  ): T {
    checkConfig(config, Optimizer);
    const options = optionsOf(config, customObjects ?? {});
    // biome-ignore lint/complexity/noThisInStatic: of the class that it is called on
    return new this(withoutUnused(this, options) as never);
  }

  #track(name: string, initial: Tensor, aggregation: VariableAggregation = 'NONE'): Variable {
    const variable = this.#hold(name, initial, aggregation);
    this.#variables.push(variable);
    return variable;
  }

  /** A variable that is not saved. */
  #hold(name: string, initial: Tensor, aggregation: VariableAggregation = 'NONE'): Variable {
    // Whatever scope is open when the slots happen to be made, files know them by the optimizer's name.
    return variableIn(this.name, name, () => new Variable(initial, { name, trainable: false, aggregation }));
  }

  /** @internal One step. */
  protected applyPairs(pairs: readonly GradientAndVariable[]): void {
    this.#checkPairs(pairs);
    inInitScope(() => this.#buildFor(pairs));
    const updates = this.#updatesOf(pairs);
    if (this.gradientAccumulationSteps === null) this.#update(updates);
    else
      accumulate(this.#accumulation(this.gradientAccumulationSteps), updates, (means) => this.#update(means));
    if (this.useEma) this.#average();
    for (const { variable } of updates) {
      if (!updatesHere(variable)) continue;
      const { constraint } = variable as Variable & Constrained;
      if (typeof constraint !== 'function') continue;
      const value = outsideScopes(() => constraint(variable));
      checkNoPromise(value, `the constraint of '${variable.path}'`, this.name);
      variable.assign(value);
    }
    distribution.replica?.sharding?.gather(
      this.useEma ? [...this.#index.keys()] : updates.map(({ variable }) => variable),
    );
    this.countStep();
  }

  /** @internal The step is made. */
  protected countStep(): void {
    const iterations = this.#iterations;
    if (onDevice.dtype === null) iterations.assignAdd(1);
    // GPUs count in int32.
    else iterations.assign(iterations.cast('int32').add(1).cast('int64'));
  }

  /** @throws InvalidArgumentError where no variable has a gradient, and for what is no variable */
  #checkPairs(pairs: readonly GradientAndVariable[]): void {
    if (pairs.every(([gradient]) => gradient === null || gradient === undefined)) {
      throw new InvalidArgumentError('No gradients provided for any variable', this.name);
    }
    if (!pairs.every(([, variable]) => !isPlain(variable) && variable instanceof Variable))
      throw new InvalidArgumentError(
        'expected variables after the gradients: applyGradients(gradients, variables)',
        this.name,
      );
  }
  #buildFor(pairs: readonly GradientAndVariable[]): void {
    const made: unknown = this.build(pairs.map(([, variable]) => variable));
    checkNoPromise(made, 'build()', this.name);
  }
  /** The gradients that there are, checked; warns of variables without one. @throws InvalidArgumentError as `applyGradients` does */
  #updatesOf(pairs: readonly GradientAndVariable[]): readonly Update[] {
    const seen = new Set<Variable>();
    const updates: Update[] = [];
    const missing: Variable[] = [];
    for (const [given, variable] of pairs) {
      this.indexOf(variable);
      this.#once(variable, seen);
      if (given === null || given === undefined) missing.push(variable);
      else if (areSlices(given) && this.#takesRows()) updates.push(rowsOf(given, variable, this.name));
      else updates.push({ gradient: gradientOf(given, variable, this.name), variable });
    }
    this.#warn(missing);
    return updates;
  }

  /**
   * @internal Whether an update leaves rows without a gradient as they are, so that only the others need be touched: not where moments of
   * earlier steps still move them.
   */
  protected get updatesRows(): boolean {
    return false;
  }
  #takesRows(): boolean {
    return this.updatesRows && this.gradientAccumulationSteps === null;
  }

  #update(gradients: readonly Update[]): void {
    const learningRate = this.#now.rate();
    this.#learningRateNow = learningRate;
    const updates = clipGradients(gradients, this).filter(({ variable }) => updatesHere(variable));
    this.applyWeightDecay(updates, learningRate);
    this.updateAll(whole(updates), learningRate);
    for (const { gradient, rows, variable } of updates)
      if (rows !== undefined) this.updateRows(gradient, rows, variable, scalarFor(variable, learningRate));
  }

  #accumulation(steps: number): Accumulation {
    const variables = [...this.#index.keys()];
    const sums = new Map(variables.map((v) => [v, this.slot(v, ACCUMULATOR)]));
    const others = new Set<Variable | null>([this.#iterations, this.#rate.variable, ...sums.values()]);
    for (const largest of this.#largest.values()) others.add(largest);
    for (const average of this.averages?.values() ?? []) others.add(average);
    const written = [...variables.filter(updatesHere), ...this.variablesHere.filter((v) => !others.has(v))];
    return { steps, isLast: this.#now.isLast(), sums, written };
  }

  #average(): void {
    const average = { momentum: this.emaMomentum, overwriteFrequency: this.emaOverwriteFrequency };
    for (const variable of this.#index.keys()) {
      if (!updatesHere(variable)) continue;
      const mean = this.slot(variable, 'average');
      const { keep, take, overwrite } = this.momentaryScalars(variable, (_, step) =>
        averaging(average, step),
      );
      mean.assign(mean.mul(keep).add(variable.mul(take)));
      if (this.emaOverwriteFrequency === null) continue;
      if (typeof overwrite !== 'number') variable.assign(overwrite.greater(0).where(mean, variable));
      else if (overwrite === 1) variable.assign(mean.read());
    }
  }

  /** With `useEma` puts the averages in the place of the variables. @throws InvalidArgumentError for others than those it was built for */
  finalizeVariableValues(
    variables:
      | readonly Variable[]
      | {
          /** Those that training has changed. */
          readonly variables: readonly Variable[];
        },
  ): void;
  finalizeVariableValues(given: unknown): void {
    this.finalizeAll(variablesOf(given, 'variables', `${this.name}.finalizeVariableValues`));
  }
  /** @internal The averages of variables, none before the optimizer was built; null without `useEma`. */
  get averages(): ReadonlyMap<Variable, Variable> | null {
    return this.useEma ? new Map([...this.#index.keys()].map((v) => [v, this.slot(v, 'average')])) : null;
  }
  /** @internal */
  protected finalizeAll(variables: readonly Variable[]): void {
    if (!this.useEma || !this.built) return;
    for (const variable of variables) variable.assign(this.slot(variable, 'average').read());
  }

  #once(variable: Variable, seen: Set<Variable>): void {
    if (seen.has(variable))
      throw new InvalidArgumentError(`the variable '${variable.path}' is listed twice`, this.name);
    seen.add(variable);
  }

  #warn(missing: readonly Variable[]): void {
    const news = missing.filter((v) => !this.#warned.has(v));
    if (news.length === 0) return;
    for (const variable of news) this.#warned.add(variable);
    console.warn(
      `${this.name}: no gradients for ${news.map((v) => `'${v.path}'`).join(', ')}; they stay as they are`,
    );
  }
}
/** Whether this process updates a variable, and has the state for it. */
function updatesHere(variable: Variable): boolean {
  return distribution.replica?.sharding?.owns(variable) ?? true;
}

/** What changes the variables in other processes; null where they are of this one. */
function homeOf(pairs: readonly GradientAndVariable[]): VariableHome | null {
  for (const [, variable] of pairs)
    if (variable instanceof Variable && variable.home !== null) return variable.home;
  return null;
}
takesOptions<OptimizerOptions, Optimizer>(optimizerSchema({}), Optimizer);
defineMethods(Optimizer.prototype, 'Optimizer', {
  build: { positional: ['variables'] },
  addVariable: { positional: ['shape'], options: { dtype: true, name: true, initial: true } },
  addVariableFromReference: { positional: ['reference', 'name', 'initial'], required: 2 },
  addOptimizerVariables: { positional: ['trainableVariables', 'name', 'initial'], required: 2 },
  assign: { positional: ['variable', 'value'] },
  assignAdd: { positional: ['variable', 'value'] },
  assignSub: { positional: ['variable', 'value'] },
  setWeights: { positional: ['weights'] },
  saveOwnVariables: { positional: ['store'], objects: ['store'] },
  loadOwnVariables: { positional: ['store'], objects: ['store'] },
  minimize: { positional: ['loss', 'varList'], required: 1 },
  scaleLoss: { positional: ['loss'] },
  applyGradients: { positional: ['gradients', 'variables'], required: 1 },
  apply: { positional: ['gradients', 'trainableVariables'], required: 1 },
  statelessApply: { positional: ['optimizerVariables', 'gradients', 'trainableVariables'] },
  excludeFromWeightDecay: { options: { varList: true, varNames: true } },
  finalizeVariableValues: { positional: ['variables'] },
});
defineMethods(Optimizer, 'Optimizer', {
  fromConfig: {
    positional: ['config', 'customObjects'],
    required: 1,
    objects: ['config', 'customObjects'],
  },
});
showFields(Optimizer.prototype, (o) => ({ ...o, name: o.name, learningRate: o.learningRate }));
