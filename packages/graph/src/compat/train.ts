// TensorFlow 1's optimizers: operations that are run, with TensorFlow's names for what they remember.
import { InvalidArgumentError } from '@eagre/backend';
import { constant, Tensor, Variable, zeros } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkFlag,
  checkList,
  checkNumber,
  checkText,
  defineFunction,
  defineMethods,
  inContext,
  inGraphScope,
  inInitScope,
  type NamedFunction,
  outsideScopes,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import { currentGraph } from './entering.ts';
import type { Operation } from './graph.ts';
import { globalVariables, gradients, trainableVariables } from './ops.ts';

export { type SavedVariables, type SaveOptions, Saver, type SaverOptions } from './saver.ts';

/** A number, or a scalar tensor of the graph, such as a placeholder. */
export type Rate = number | Tensor;
/** A gradient, null where the loss does not depend on the variable, and its variable. */
export type GradientAndVariable = readonly [gradient: Tensor | null, variable: Variable];

/** Options of `minimize` and `computeGradients`. */
export interface MinimizeOptions {
  /** All trainable variables of the graph unless given. */
  readonly varList?: readonly Variable[] | undefined;
  /** Counts the steps. */
  readonly globalStep?: Variable;
  /** Of the operation in its graph; the optimizer's name by default. */
  readonly name?: string;
}

/** How every optimizer is called. */
export interface OptimizerOptions {
  /** In names of operations and slots; the class without `Optimizer` unless given. */
  readonly name?: string;
}

/** Base of the optimizers for graphs. */
export abstract class Optimizer {
  readonly name: string;
  readonly #slots = new Map<string, Map<Variable, Variable>>();

  constructor(...args: Arguments<[name: string], ['name']>) {
    const { name } = argumentsOf<{ readonly name: string }>(Optimizer, new.target, args);
    checkText(name, 'name', new.target.name);
    this.name = name;
  }

  /** An operation that takes one step: the gradients of the loss, and the variables changed by them. */
  minimize(...args: Arguments<[loss: Tensor], ['loss'], MinimizeOptions>): Operation;
  minimize(loss: Tensor, { varList, ...options }: MinimizeOptions = {}): Operation {
    return this.applyGradients(this.computeGradients(loss, { varList }), options);
  }

  /** The gradients of the loss; null for variables that it does not depend on. */
  computeGradients(
    ...args: Arguments<[loss: Tensor], ['loss'], Pick<MinimizeOptions, 'varList'>>
  ): GradientAndVariable[];
  computeGradients(loss: Tensor, options: Pick<MinimizeOptions, 'varList'> = {}): GradientAndVariable[] {
    const variables = checkList(options.varList ?? trainableVariables(), 'varList', this.name);
    const found = gradients(loss, variables);
    return variables.map((variable, i) => [found[i] ?? null, variable]);
  }

  /** @throws InvalidArgumentError where there is no gradient at all. */
  applyGradients(
    ...args: Arguments<
      [gradsAndVars: readonly GradientAndVariable[]],
      ['gradsAndVars'],
      Pick<MinimizeOptions, 'globalStep' | 'name'>
    >
  ): Operation;
  applyGradients(
    pairs: readonly GradientAndVariable[],
    options: Pick<MinimizeOptions, 'globalStep' | 'name'> = {},
  ): Operation {
    const graph = currentGraph('Optimizer.applyGradients()');
    const isPair = (pair: unknown): boolean =>
      Array.isArray(pair) &&
      pair.length === 2 &&
      (pair[0] === null || pair[0] instanceof Tensor) &&
      pair[1] instanceof Variable;
    const given = checkList(pairs, 'gradsAndVars', this.name);
    const wrong = given.findIndex((pair) => !isPair(pair));
    if (wrong >= 0)
      throw new InvalidArgumentError(
        `gradsAndVars must be pairs [gradient, variable], as computeGradients returns them, got ${shown(given[wrong])} in the list`,
        this.name,
      );
    const updates = given.flatMap(([gradient, variable]) =>
      gradient === null ? [] : [[gradient, variable] as const],
    );
    if (updates.length === 0) {
      const names = pairs.map(([, variable]) => variable.path);
      throw new InvalidArgumentError(
        `No gradients provided for any variable: ${names.join(', ')}`,
        this.name,
      );
    }
    this.createSlots(updates.map(([, variable]) => variable));
    return inGraphScope(options.name ?? this.name, () => {
      const done = [
        ...updates.flatMap(([gradient, variable]) => this.update(gradient, variable)),
        ...this.finish(),
      ];
      if (options.globalStep !== undefined) done.push(options.globalStep.assignAdd(1));
      return graph.group(
        done.map((assigned) => graph.nodeOf(assigned)),
        null,
      );
    });
  }

  /** What the optimizer remembers of a variable, under TensorFlow's name of it: `momentum`, `m`; undefined where there is nothing. */
  getSlot(...args: Arguments<[variable: Variable, name: string], ['var', 'name']>): Variable | undefined;
  getSlot(variable: Variable, name: string): Variable | undefined {
    return this.#slots.get(name)?.get(variable);
  }
  getSlotNames(): string[] {
    return [...this.#slots.keys()].sort();
  }

  protected createSlots(_variables: readonly Variable[]): void {}
  /** The assignments that change one variable. */
  protected abstract update(gradient: Tensor, variable: Variable): readonly Variable[];
  /** The assignments behind those of all variables. */
  protected finish(): readonly Variable[] {
    return [];
  }

  protected slot(variable: Variable, name: string): Variable {
    return this.getSlot(variable, name) as Variable;
  }
  /** Makes a slot, whose name as a variable is that of the variable and of the optimizer, as in TensorFlow's checkpoints. */
  protected makeSlots(variables: readonly Variable[], name: string, initial = 0): void {
    let slots = this.#slots.get(name);
    if (slots === undefined) this.#slots.set(name, (slots = new Map()));
    const taken = new Set(globalVariables().map((v) => v.path));
    for (const variable of variables) {
      if (slots.has(variable)) continue;
      let full = `${variable.path}/${this.name}`;
      for (let i = 1; taken.has(full); i++) full = `${variable.path}/${this.name}_${i}`;
      const { shape, dtype } = variable;
      slots.set(
        variable,
        state(full, () => (initial === 0 ? zeros(shape, { dtype }) : constant(initial, dtype, { shape }))),
      );
    }
  }
}

takesArguments<{ readonly name: string }>({ positional: ['name'], names: { name: true } }, Optimizer);
defineMethods(Optimizer.prototype, 'Optimizer', {
  minimize: { positional: ['loss'], options: { globalStep: true, varList: true, name: true } },
  computeGradients: { positional: ['loss'], options: { varList: true } },
  applyGradients: { positional: ['gradsAndVars'], options: { globalStep: true, name: true } },
  getSlot: { positional: ['var', 'name'] },
  getSlotNames: {},
});

/** A variable that is not trained. */
function state(name: string, initial: () => Tensor): Variable {
  return inContext({ nameScope: '' }, () =>
    outsideScopes(() => new Variable(inInitScope(initial), { name, trainable: false })),
  );
}

/** `variable -= rate · gradient`. */
export class GradientDescentOptimizer extends Optimizer {
  readonly #rate: Rate;
  constructor(...args: Arguments<[learningRate: Rate], ['learningRate'], OptimizerOptions>) {
    const options = argumentsOf<RateOptions>(GradientDescentOptimizer, new.target, args);
    super(options.name ?? 'GradientDescent');
    this.#rate = options.learningRate;
  }
  protected update(gradient: Tensor, variable: Variable): readonly Variable[] {
    return [variable.assignSub(gradient.mul(this.#rate))];
  }
}

interface RateOptions extends OptimizerOptions {
  readonly learningRate: Rate;
}

takesArguments<RateOptions>(
  { positional: ['learningRate'], names: { learningRate: true, name: true } },
  GradientDescentOptimizer,
);

/** What `MomentumOptimizer` is given beside its rate and momentum. */
export interface MomentumOptions extends OptimizerOptions {
  /** Whether gradients are those ahead; false by default. */
  readonly useNesterov?: boolean;
}

/** `a = momentum · a + gradient; variable -= rate · a`; Nesterov's form looks ahead. */
export class MomentumOptimizer extends Optimizer {
  readonly #rate: Rate;
  readonly #momentum: Rate;
  readonly #nesterov: boolean;
  constructor(
    ...args: Arguments<[learningRate: Rate, momentum: Rate], ['learningRate', 'momentum'], MomentumOptions>
  ) {
    const options = argumentsOf<MomentumOptions & RateOptions & { readonly momentum: Rate }>(
      MomentumOptimizer,
      new.target,
      args,
    );
    super(options.name ?? 'Momentum');
    this.#rate = options.learningRate;
    this.#momentum = options.momentum;
    this.#nesterov = checkFlag(options.useNesterov, 'useNesterov', 'MomentumOptimizer');
  }
  protected override createSlots(variables: readonly Variable[]): void {
    this.makeSlots(variables, 'momentum');
  }
  protected update(gradient: Tensor, variable: Variable): readonly Variable[] {
    const slot = this.slot(variable, 'momentum');
    const next = slot.mul(this.#momentum).add(gradient);
    const step = this.#nesterov ? next.mul(this.#momentum).add(gradient) : next;
    return [slot.assign(next), variable.assignSub(step.mul(this.#rate))];
  }
}

takesArguments<MomentumOptions & RateOptions & { readonly momentum: Rate }>(
  {
    positional: ['learningRate', 'momentum'],
    names: { learningRate: true, momentum: true, name: true, useNesterov: true },
  },
  MomentumOptimizer,
);

/** What `AdagradOptimizer` is given beside its rate. */
export interface AdagradOptions extends OptimizerOptions {
  /** What sums of squares begin with; 0.1 unless given. */
  readonly initialAccumulatorValue?: number;
}

/** Adagrad: each element's rate falls with the squares of its gradients. */
export class AdagradOptimizer extends Optimizer {
  readonly #rate: Rate;
  readonly #initial: number;
  constructor(...args: Arguments<[learningRate: Rate], ['learningRate'], AdagradOptions>) {
    const options = argumentsOf<AdagradOptions & RateOptions>(AdagradOptimizer, new.target, args);
    super(options.name ?? 'Adagrad');
    this.#rate = options.learningRate;
    this.#initial = options.initialAccumulatorValue ?? 0.1;
    checkNumber(this.#initial, 'initialAccumulatorValue', 'AdagradOptimizer');
  }
  protected override createSlots(variables: readonly Variable[]): void {
    this.makeSlots(variables, 'accumulator', this.#initial);
  }
  protected update(gradient: Tensor, variable: Variable): readonly Variable[] {
    const slot = this.slot(variable, 'accumulator');
    const next = slot.add(gradient.square());
    return [slot.assign(next), variable.assignSub(gradient.mul(this.#rate).div(next.sqrt()))];
  }
}

takesArguments<AdagradOptions & RateOptions>(
  {
    positional: ['learningRate'],
    names: { learningRate: true, initialAccumulatorValue: true, name: true },
  },
  AdagradOptimizer,
);

/** What `RMSPropOptimizer` is given beside its rate. */
export interface RMSPropOptions extends OptimizerOptions {
  /** Of the mean square; 0.9 unless given. */
  readonly decay?: number;
  /** 0 unless given. */
  readonly momentum?: number;
  /** Added to the mean square; 1e-10 unless given. */
  readonly epsilon?: number;
}

/** RMSProp, with TensorFlow 1's place of epsilon and first mean square 1. */
export class RMSPropOptimizer extends Optimizer {
  readonly #rate: Rate;
  readonly #options: { readonly decay: number; readonly momentum: number; readonly epsilon: number };
  constructor(...args: Arguments<[learningRate: Rate], ['learningRate'], RMSPropOptions>) {
    const options = argumentsOf<RMSPropOptions & RateOptions>(RMSPropOptimizer, new.target, args);
    super(options.name ?? 'RMSProp');
    const { decay = 0.9, momentum = 0, epsilon = 1e-10 } = options;
    this.#rate = options.learningRate;
    this.#options = { decay, momentum, epsilon };
    checkNumbers(this.#options, 'RMSPropOptimizer');
  }
  protected override createSlots(variables: readonly Variable[]): void {
    this.makeSlots(variables, 'rms', 1);
    this.makeSlots(variables, 'momentum');
  }
  protected update(gradient: Tensor, variable: Variable): readonly Variable[] {
    const { decay, momentum, epsilon } = this.#options;
    const rms = this.slot(variable, 'rms');
    const slot = this.slot(variable, 'momentum');
    const square = rms.mul(decay).add(gradient.square().mul(1 - decay));
    const step = slot.mul(momentum).add(gradient.mul(this.#rate).div(square.add(epsilon).sqrt()));
    return [rms.assign(square), slot.assign(step), variable.assignSub(step)];
  }
}

takesArguments<RMSPropOptions & RateOptions>(
  {
    positional: ['learningRate'],
    names: { learningRate: true, decay: true, momentum: true, epsilon: true, name: true },
  },
  RMSPropOptimizer,
);

function checkNumbers(options: Readonly<Record<string, number>>, op: string): void {
  for (const [name, value] of Object.entries(options)) checkNumber(value, name, op);
}

/** What `AdamOptimizer` is given beside its rate. */
export interface AdamOptions extends OptimizerOptions {
  /** 0.9 unless given. */
  readonly beta1?: number;
  /** 0.999 unless given. */
  readonly beta2?: number;
  /** 1e-8 unless given. */
  readonly epsilon?: number;
}

/** Adam, with epsilon outside of the correction, as TensorFlow 1 has it. */
export class AdamOptimizer extends Optimizer {
  readonly #rate: Rate;
  readonly #options: { readonly beta1: number; readonly beta2: number; readonly epsilon: number };
  #powers: readonly [Variable, Variable] | null = null;
  constructor(...args: Arguments<[learningRate?: Rate], ['learningRate'], AdamOptions>) {
    const options = argumentsOf<AdamOptions & Partial<RateOptions>>(AdamOptimizer, new.target, args);
    super(options.name ?? 'Adam');
    const { learningRate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8 } = options;
    this.#rate = learningRate;
    this.#options = { beta1, beta2, epsilon };
    checkNumbers(this.#options, 'AdamOptimizer');
  }
  protected override createSlots(variables: readonly Variable[]): void {
    const { beta1, beta2 } = this.#options;
    this.#powers ??= [
      state('beta1_power', () => constant(beta1)),
      state('beta2_power', () => constant(beta2)),
    ];
    this.makeSlots(variables, 'm');
    this.makeSlots(variables, 'v');
  }
  protected update(gradient: Tensor, variable: Variable): readonly Variable[] {
    const { beta1, beta2, epsilon } = this.#options;
    const [power1, power2] = this.#powers as readonly [Variable, Variable];
    const { dtype } = variable;
    const one = constant(1);
    const rate = one.sub(power2).sqrt().div(one.sub(power1)).mul(this.#rate).cast(dtype);
    const m = this.slot(variable, 'm');
    const v = this.slot(variable, 'v');
    const mean = m.mul(beta1).add(gradient.mul(1 - beta1));
    const square = v.mul(beta2).add(gradient.square().mul(1 - beta2));
    const step = mean.mul(rate).div(square.sqrt().add(epsilon));
    return [m.assign(mean), v.assign(square), variable.assignSub(step)];
  }
  protected override finish(): readonly Variable[] {
    const { beta1, beta2 } = this.#options;
    const [power1, power2] = this.#powers as readonly [Variable, Variable];
    return [power1.assign(power1.mul(beta1)), power2.assign(power2.mul(beta2))];
  }
}

takesArguments<AdamOptions & Partial<RateOptions>>(
  {
    positional: ['learningRate'],
    required: 0,
    names: { learningRate: true, beta1: true, beta2: true, epsilon: true, name: true },
  },
  AdamOptimizer,
);

/** The variable `global_step` of the graph, int64; made at the first call. */
export const getOrCreateGlobalStep: NamedFunction<[], [], unknown, Variable> = defineFunction(
  'compat.v1.train.getOrCreateGlobalStep',
  {},
  {},
  () => {
    const known = currentGraph('tf.train.getOrCreateGlobalStep()').variablesByName().get('global_step');
    return known ?? state('global_step', () => constant(0, 'int64'));
  },
);
