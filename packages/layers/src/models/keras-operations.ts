// The ops of functional models as Keras writes them: which of its classes is one of ours, and what its objects and their calls hold.
import { InvalidArgumentError, UnimplementedError } from '@eagre/core';
import { isPlain, lazily, parseIndex, shown } from '@eagre/core/internal';
import { kerasClasses } from './keras-classes.ts';

/** What an argument of ours is as an option of Keras's class. */
export interface Setting {
  /** The name of ours; none where there is but one value. */
  readonly of?: string;
  /** The value of an argument that is not given; null by default. */
  readonly otherwise?: unknown;
  /** Brings a value into Keras's form, and back. */
  readonly write?: (value: unknown) => unknown;
  readonly read?: (value: unknown) => unknown;
}

/** An op of Keras. */
export interface KerasOperation {
  readonly op: string;
  /** Where Keras has it: `keras.src.ops.numpy`. */
  readonly module: string;
  readonly className: string;
  /** What its calls are given, by our names in Keras's order; none where it is whatever ours is given. */
  readonly inputs?: readonly string[];
  /** What calls are given by name, by Keras's names. */
  readonly named?: Readonly<Record<string, string>>;
  /** Of one whose results have names: these, in Keras's order. */
  readonly outputs?: readonly string[];
  /** Of one that takes any number of arguments, which are one of Keras's: brings them into its form, and back. */
  readonly together?: {
    readonly write: (values: readonly unknown[]) => unknown;
    readonly read: (value: unknown) => readonly unknown[];
  };
  /** What else ours is given, to do what Keras's does. */
  readonly always?: Readonly<Record<string, unknown>>;
  /** What its objects hold, by Keras's names. */
  readonly settings: Readonly<Record<string, Setting>>;
}

type More = Pick<KerasOperation, 'inputs' | 'named' | 'outputs' | 'together' | 'always'> & {
  readonly settings?: KerasOperation['settings'];
};

/** Those that hold nothing, whose calls are given what ours are. */
const plain: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  numpy: {
    ...{ abs: 'Absolute Abs', neg: 'Negative', sign: 'Sign', floor: 'Floor', ceil: 'Ceil', square: 'Square' },
    ...{ sqrt: 'Sqrt', reciprocal: 'Reciprocal', exp: 'Exp', expm1: 'Expm1', log: 'Log', log1p: 'Log1p' },
    ...{ log2: 'Log2', sin: 'Sin', cos: 'Cos', tan: 'Tan', asin: 'Arcsin', acos: 'Arccos', atan: 'Arctan' },
    ...{ sinh: 'Sinh', cosh: 'Cosh', tanh: 'Tanh', asinh: 'Arcsinh', acosh: 'Arccosh', atanh: 'Arctanh' },
    ...{ isNan: 'Isnan', isInf: 'Isinf', isFinite: 'Isfinite', identity: 'Copy', where: 'Where' },
    ...{ add: 'Add', sub: 'Subtract', mul: 'Multiply', div: 'TrueDivide Divide', pow: 'Power' },
    ...{ floorDiv: 'FloorDivide', mod: 'Mod', divNoNan: 'DivideNoNan', atan2: 'Arctan2' },
    ...{ maximum: 'Maximum', minimum: 'Minimum', matmul: 'Matmul', dot: 'Dot', outer: 'Outer' },
    ...{ equal: 'Equal', notEqual: 'NotEqual', less: 'Less', lessEqual: 'LessEqual', greater: 'Greater' },
    ...{ greaterEqual: 'GreaterEqual', logicalAnd: 'LogicalAnd', logicalOr: 'LogicalOr' },
    ...{ logicalXor: 'LogicalXor', logicalNot: 'LogicalNot', bitwiseAnd: 'BitwiseAnd' },
    ...{ bitwiseOr: 'BitwiseOr', bitwiseXor: 'BitwiseXor', bitwiseNot: 'BitwiseNot BitwiseInvert' },
    ...{ bitwiseLeftShift: 'BitwiseLeftShift LeftShift', bitwiseRightShift: 'BitwiseRightShift RightShift' },
  },
  nn: {
    ...{ relu: 'Relu', relu6: 'Relu6', selu: 'Selu', sigmoid: 'Sigmoid', logSigmoid: 'LogSigmoid' },
    ...{ hardSigmoid: 'HardSigmoid', softplus: 'Softplus', softsign: 'Softsign', silu: 'Silu' },
    ...{ hardSilu: 'HardSilu' },
  },
  math: { rsqrt: 'Rsqrt', erf: 'Erf', erfc: 'Erfc', erfinv: 'Erfinv' },
  core: { stopGradient: 'StopGradient' },
};
const x = ['x'];
/** An argument under its own name. */
const set = (of: string, otherwise: unknown = null): Setting => ({ of, otherwise });
/** What has only this value here. */
const only = (otherwise: unknown): Setting => ({ otherwise });
const axis = set('axis');
const reduced = { axis, keepdims: set('keepdims', false) };

/** An index as Keras writes it: places, slices, an ellipsis, and null for a new axis. */
const keyOf = (specs: readonly unknown[]): unknown =>
  specs.map((spec) => {
    const item = typeof spec === 'string' ? parseIndex(spec) : spec;
    if (item === '...') return { class_name: '__ellipsis__', config: {} };
    if (!isPlain(item)) return item;
    const { begin = null, start = begin, end: stop = null, step = null } = item as Record<string, unknown>;
    return { class_name: '__slice__', config: { start, stop, step } };
  });
const specsOf = (key: unknown): readonly unknown[] =>
  (Array.isArray(key) ? key : [key]).map((item: unknown) => {
    if (!isPlain(item)) return item;
    const { class_name: name, config } = item as Readonly<Record<string, unknown>>;
    if (name === '__ellipsis__') return '...';
    if (name !== '__slice__' || !isPlain(config))
      throw new InvalidArgumentError(`${shown(item)} is no index`, 'GetItem');
    const { start, stop, step } = config as Readonly<Record<string, unknown>>;
    return { start, end: stop, step };
  });

/** All of them, by our names and by Keras's. */
const operations = lazily(() => {
  const byOp = new Map<string, KerasOperation>();
  const byClass = new Map<string, KerasOperation>();
  /** Declares one; the first of several classes is the one that is written. */
  const operation = (op: string, module: string, classes: string, more: More = {}): void => {
    classes.split(' ').forEach((className, i) => {
      const one = { op, module: `keras.src.ops.${module}`, className, settings: {}, ...more };
      if (i === 0) byOp.set(op, one);
      byClass.set(`${one.module}.${className}`, one);
    });
  };
  for (const [module, classes] of Object.entries(plain))
    for (const [op, className] of Object.entries(classes)) operation(op, module, className);

  // What Keras notes of masks; written it is a copy.
  const copy = byOp.get('identity') as KerasOperation;
  byClass.set('keras.src.ops.core.ConvertToTensor', { ...copy, inputs: x });

  for (const [op, classes] of Object.entries({
    ...{ sum: 'Sum', mean: 'Mean', all: 'All', any: 'Any', variance: 'Var', std: 'Std' },
  }))
    operation(op, 'numpy', classes, { inputs: x, settings: reduced });
  for (const [op, classes] of Object.entries({ max: 'Max', min: 'Min' }))
    operation(op, 'numpy', classes, { inputs: x, settings: { ...reduced, initial: only(null) } });
  operation('prod', 'numpy', 'Prod', { inputs: x, settings: { ...reduced, dtype: only(null) } });
  operation('logSumExp', 'math', 'Logsumexp', { inputs: x, settings: reduced });
  for (const [op, classes] of Object.entries({ argMax: 'Argmax', argMin: 'Argmin' }))
    operation(op, 'numpy', classes, {
      inputs: x,
      always: { dtype: 'int32' },
      settings: { axis: set('axis', 0), keepdims: only(false) },
    });
  for (const [op, classes] of Object.entries({ cumsum: 'Cumsum', cumprod: 'Cumprod' }))
    operation(op, 'numpy', classes, { inputs: x, settings: { axis: set('axis', 0), dtype: only(null) } });
  for (const [op, classes] of Object.entries({ sort: 'Sort', argSort: 'Argsort' }))
    operation(op, 'numpy', classes, { inputs: x, settings: { axis: set('axis', -1) } });
  for (const [op, classes] of Object.entries({ softmax: 'Softmax', logSoftmax: 'LogSoftmax' }))
    operation(op, 'nn', classes, { inputs: x, settings: { axis: set('axis', -1) } });

  operation('elu', 'nn', 'Elu', { inputs: x, settings: { alpha: set('alpha', 1) } });
  operation('leakyRelu', 'nn', 'LeakyRelu', {
    inputs: x,
    settings: { negative_slope: set('alpha', 0.2) },
  });
  operation('gelu', 'nn', 'Gelu', { inputs: x, settings: { approximate: set('approximate', false) } });
  operation('round', 'numpy', 'Round', { inputs: x, settings: { decimals: only(0) } });
  operation('reshape', 'numpy', 'Reshape', { inputs: x, settings: { newshape: set('shape') } });
  operation('transpose', 'numpy', 'Transpose', { inputs: x, settings: { axes: set('perm') } });
  operation('expandDims', 'numpy', 'ExpandDims', { inputs: x, settings: { axis: set('axis', 0) } });
  operation('squeeze', 'numpy', 'Squeeze', { inputs: x, settings: { axis } });
  operation('swapAxes', 'numpy', 'Swapaxes', {
    inputs: x,
    settings: { axis1: set('axis1'), axis2: set('axis2') },
  });
  operation('moveAxis', 'numpy', 'Moveaxis', {
    inputs: x,
    settings: { source: set('source'), destination: set('destination') },
  });
  operation('reverse', 'numpy', 'Flip', { inputs: x, settings: { axis } });
  operation('tile', 'numpy', 'Tile', { inputs: x, settings: { repeats: set('multiples') } });
  operation('repeat', 'numpy', 'Repeat', { inputs: x, settings: { repeats: set('repeats'), axis } });
  operation('roll', 'numpy', 'Roll', { inputs: x, settings: { shift: set('shift'), axis } });
  operation('broadcastTo', 'numpy', 'BroadcastTo', { inputs: x, settings: { shape: set('shape') } });
  operation('pad', 'numpy', 'Pad', {
    inputs: x,
    named: { constant_values: 'constantValues' },
    settings: {
      pad_width: set('paddings'),
      mode: {
        of: 'mode',
        otherwise: 'constant',
        write: (mode) => String(mode).toLowerCase(),
        read: (mode) => String(mode).toUpperCase(),
      },
    },
  });
  operation('tril', 'numpy', 'Tril', { inputs: x, settings: { k: set('k', 0) } });
  operation('triu', 'numpy', 'Triu', { inputs: x, settings: { k: set('k', 0) } });
  operation('tensordot', 'numpy', 'Tensordot', { inputs: ['a', 'b'], settings: { axes: set('axes', 2) } });
  operation('einsum', 'numpy', 'Einsum', {
    inputs: ['operands'],
    settings: { subscripts: set('equation') },
  });
  operation('concat', 'numpy', 'Concatenate', { inputs: ['list'], settings: { axis: set('axis', 0) } });
  operation('stack', 'numpy', 'Stack', { inputs: ['list'], settings: { axis: set('axis', 0) } });
  operation('unstack', 'core', 'Unstack', { inputs: x, settings: { num: only(null), axis: set('axis', 0) } });
  operation('split', 'numpy', 'Split', {
    inputs: x,
    settings: {
      indices_or_sections: {
        of: 'numOrSizes',
        // Keras says where a part begins, as NumPy does, and not how long it is.
        write: (parts) => {
          if (!Array.isArray(parts)) return parts;
          let end = 0;
          return parts.slice(0, -1).map((size: number) => (end += size));
        },
        read: (parts) => {
          if (!Array.isArray(parts)) return parts;
          return [...parts.map((end: number, i) => end - ((parts[i - 1] as number | undefined) ?? 0)), -1];
        },
      },
      axis: set('axis', 0),
    },
  });
  operation('gather', 'numpy', 'Take', {
    inputs: ['params', 'indices'],
    settings: { axis: set('axis', 0) },
  });
  operation('at', 'numpy', 'GetItem', { inputs: ['x', 'specs'], together: { write: keyOf, read: specsOf } });
  operation('slice', 'core', 'Slice', { inputs: ['x', 'begin'], settings: { shape: set('size') } });
  for (const op of ['clip', 'clipByValue'])
    operation(op, 'numpy', 'Clip', { inputs: x, settings: { x_min: set('low'), x_max: set('high') } });
  operation('cast', 'core', 'Cast', { inputs: x, settings: { dtype: set('dtype') } });
  operation('saturateCast', 'core', 'SaturateCast', { inputs: x, settings: { dtype: set('dtype') } });
  operation('zerosLike', 'numpy', 'ZerosLike', { inputs: x, settings: { dtype: set('dtype') } });
  operation('onesLike', 'numpy', 'OnesLike', { inputs: x, settings: { dtype: set('dtype') } });
  operation('oneHot', 'nn', 'OneHot', {
    inputs: ['indices'],
    settings: {
      num_classes: set('depth'),
      axis: set('axis', -1),
      dtype: set('dtype'),
      sparse: only(false),
    },
  });
  operation('topK', 'math', 'TopK', {
    inputs: x,
    outputs: ['values', 'indices'],
    settings: { k: set('k', 1), sorted: set('sorted', true) },
  });
  const blocks = { block_size: set('blockSize'), data_format: only('channels_last') };
  operation('depthToSpace', 'nn', 'DepthToSpace', { inputs: x, settings: blocks });
  operation('spaceToDepth', 'nn', 'SpaceToDepth', { inputs: x, settings: blocks });
  operation('keras.layerNormalization', 'nn', 'LayerNorm', {
    inputs: ['x', 'gamma', 'beta'],
    settings: { axis: set('axis', -1), epsilon: set('epsilon'), rms_scaling: only(false) },
  });
  operation('keras.pad', 'numpy', 'Pad', {
    inputs: x,
    named: { constant_values: 'constantValues' },
    settings: { pad_width: set('padWidth'), mode: set('mode', 'constant') },
  });
  operation('keras.cast', 'core', 'Cast', { inputs: x, settings: { dtype: set('dtype') } });
  const own = new Set<string>();
  for (const one of kerasClasses()) {
    byOp.set(one.op, one);
    const name = `${one.module}.${one.className}`;
    if (!own.has(name)) byClass.set(name, one);
    own.add(name);
  }
  return { byOp, byClass };
});

/** Keras's op for one of ours; undefined where it has none. */
export function kerasOperation(op: string): KerasOperation | undefined {
  return operations().byOp.get(op);
}

/** The op of a class of Keras; undefined for one that is not known here. */
export function operationOfClass(module: string | null, className: string): KerasOperation | undefined {
  return operations().byClass.get(`${module}.${className}`);
}

/** Where Keras has an op of this name; undefined for one that is not known here. */
export function moduleOfOperation(className: string): string | undefined {
  const end = `.${className}`;
  return [...operations().byClass.keys()].find((name) => name.endsWith(end))?.slice(0, -end.length);
}

/** The arguments of a call of ours, by name. */
export type NamedArguments = Readonly<Record<string, unknown>>;

/** What Keras's object holds, and what its call is given. */
export interface KerasCall {
  readonly settings: Record<string, unknown>;
  readonly args: readonly unknown[];
  readonly kwargs: Record<string, unknown>;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * A call of ours in Keras's form.
 * @param all the names of our arguments, in order
 * @throws UnimplementedError for an argument that Keras's op has not
 */
export function toKeras(
  { op, className, inputs = [], named = {}, settings, together, always = {} }: KerasOperation,
  given: NamedArguments,
  all: readonly string[],
  rest: string | undefined,
): KerasCall {
  const own = inputs.length === 0 ? all : inputs;
  const set: Record<string, unknown> = {};
  const known = new Set([...own, ...Object.values(named), ...Object.keys(always)]);
  for (const [key, { of, otherwise = null, write }] of Object.entries(settings)) {
    if (of !== undefined) known.add(of);
    const value = of === undefined ? undefined : given[of];
    set[key] = !isGiven(value) ? otherwise : write === undefined ? value : write(value);
  }
  for (const [name, value] of Object.entries(given)) {
    if (known.has(name) || !isGiven(value) || value === false) continue;
    throw new UnimplementedError(
      `Keras's ${className} has no ${name}, so the op '${op}' cannot be written with it: put the call into your own layer with getConfig`,
    );
  }
  const args = own.flatMap((name) => {
    if (name !== rest) return [given[name]];
    const values = given[name] as readonly unknown[];
    return together === undefined ? values : [together.write(values)];
  });
  while (args.length > 0 && !isGiven(args.at(-1))) args.pop();
  const kwargs = Object.entries(named).filter(([, name]) => isGiven(given[name]));
  return {
    settings: set,
    args,
    kwargs: Object.fromEntries(kwargs.map(([key, name]) => [key, given[name]])),
  };
}

/**
 * The arguments of a call of ours for one of Keras.
 * @throws UnimplementedError for an option of Keras's op that ours has not
 */
export function fromKeras(
  { className, inputs = [], named = {}, settings, together, always = {} }: KerasOperation,
  config: Readonly<Record<string, unknown>>,
  args: readonly unknown[],
  kwargs: Readonly<Record<string, unknown>>,
  all: readonly string[],
  rest: string | undefined,
): NamedArguments {
  const fail = (name: string, value: unknown): never => {
    throw new UnimplementedError(`the option ${name} (${shown(value)}) of ${className} is not supported`);
  };
  const given: Record<string, unknown> = { ...always };
  const own = inputs.length === 0 ? all : inputs;
  own.forEach((name, i) => {
    given[name] = name !== rest ? args[i] : together === undefined ? args.slice(i) : together.read(args[i]);
  });
  if (args.length > own.length && !own.includes(rest ?? ''))
    throw new InvalidArgumentError(`${className} takes ${own.length} arguments, got ${args.length}`);
  for (const [key, value] of Object.entries(kwargs)) {
    if (!isGiven(value)) continue;
    if (named[key] === undefined) fail(key, value);
    given[named[key]] = value;
  }
  for (const [key, value] of Object.entries(config)) {
    if (key === 'name') continue;
    const setting = settings[key] ?? {};
    if (setting.of === undefined) {
      if (isGiven(value) && value !== (setting.otherwise ?? null)) fail(key, value);
    } else if (isGiven(value)) given[setting.of] = setting.read === undefined ? value : setting.read(value);
    // Over all elements, where ours go along one axis.
    else if (isGiven(setting.otherwise)) fail(key, value);
  }
  return given;
}
