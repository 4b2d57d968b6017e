import {
  cast,
  type DType,
  InvalidArgumentError,
  type PartialShape,
  type Shape,
  type Tensor,
} from '@eagre/core';
import {
  argumentsOf,
  checkCount,
  checkDTypeName,
  checkFlag,
  checkText,
  kerasDefaults,
  shown,
  showShape,
  takesArguments,
  tree,
} from '@eagre/core/internal';
import { isByNames, mapSymbolic } from '../layer/call.ts';
import { along, isDeep } from '../layer/forms.ts';
import { densified, inputKind, isAnyTensor, isStored, kindOf, type TensorKind } from '../layer/kinds.ts';
import {
  type CallOptions,
  isBuiltin,
  type Layer,
  type LayerInput,
  type LayerOutput,
  type Specs,
  type Symbolic,
  type TensorSpec,
} from '../layer/layer.ts';
import { invokeMasked, type Mask, masksIn, masksOfInputs, tellMasks } from '../layer/masks.ts';
import { checkUniqueNames, uniqueName } from '../layer/naming.ts';
import { InputLayer } from '../layers/core/core.ts';
import { KerasTensor, type Producer } from './keras-tensor.ts';
import './operations.ts';
import { checkPartialShape, formOf } from '../layer/specs.ts';

/** Options of `Input(shape, options)`, which describes what a model will be given. */
export interface InputOptions {
  /** Without the batch dimension; `null` is unknown. */
  readonly shape?: PartialShape | null;
  /** With the batch dimension, instead of `shape` and `batchSize`. */
  readonly batchShape?: PartialShape | null;
  /** How many examples each batch has; any number unless given. */
  readonly batchSize?: number | null;
  /** Of the input; float32 by default. */
  readonly dtype?: DType | null;
  /** The name under which inputs may be given, `{ image: x }`; unless given, `input_layer`, `input_layer_1`… */
  readonly name?: string | null;
  /** Whether the input is sparse tensors; dense ones are taken too. False by default. */
  readonly sparse?: boolean | null;
  /** Whether the input is ragged tensors: dimensions that are `null` then have any size in each row. False by default. */
  readonly ragged?: boolean | null;
  /** A symbolic tensor that is the input, in the place of a new one. */
  readonly tensor?: KerasTensor | null;
  /** Whether the model may be called without it, with null in its place; layers get null then. False by default. */
  readonly optional?: boolean;
}

/** The symbolic input of a functional model: pass it through layers, then `new tf.Model(inputs, outputs)`. */
export function Input(shape: PartialShape, options?: Omit<InputOptions, 'shape'>): KerasTensor;
export function Input(options: InputOptions): KerasTensor;
export function Input(...args: readonly unknown[]): KerasTensor {
  const options = argumentsOf<InputOptions>(Input, Input, args);
  const { batchSize, batchShape, dtype, name } = options;
  if (batchSize !== undefined && batchSize !== null) checkCount(batchSize, 'batchSize', 'Input');
  if (dtype !== undefined && dtype !== null) checkDTypeName(dtype, 'Input');
  if (name !== undefined && name !== null) checkText(name, 'name', 'Input');
  const { tensor } = options;
  const optional = checkFlag(options.optional, 'optional', 'Input');
  const kind = inputKind(options, 'Input');
  if (tensor !== undefined && tensor !== null) return checkedInput(tensor, options, kind);
  const isWhole = batchShape !== undefined && batchShape !== null;
  if (isWhole && [options.shape, batchSize].some((given) => given !== undefined && given !== null))
    throw new InvalidArgumentError('give either shape and batchSize, or batchShape', 'Input');
  if (!isWhole && (options.shape === undefined || options.shape === null))
    throw new InvalidArgumentError(
      'shape must be given: write Input(shape, { batchSize }) or Input({ shape, batchSize })',
      'Input',
    );
  const shape = checkPartialShape(
    (isWhole ? batchShape : options.shape) as PartialShape,
    isWhole ? 'batchShape' : 'shape',
    'Input',
  );
  return new KerasTensor(
    isWhole ? shape : [batchSize ?? null, ...shape],
    dtype ?? kerasDefaults.floatx,
    name ?? uniqueName('InputLayer'),
    null,
    kind,
    optional,
  );
}

const sameSizes = (a: PartialShape, b: PartialShape): boolean =>
  a.length === b.length && a.every((d, i) => d === b[i]);

/** A symbolic tensor as an input. @throws InvalidArgumentError where it is not what the other options say */
function checkedInput(
  tensor: unknown,
  { shape, batchShape, batchSize, dtype, sparse }: InputOptions,
  kind: TensorKind | undefined,
): KerasTensor {
  if (!(tensor instanceof KerasTensor))
    throw new InvalidArgumentError(`tensor must be a symbolic tensor, got ${shown(tensor)}`, 'Input');
  const differs: Readonly<Record<string, boolean>> = {
    shape: shape !== undefined && shape !== null && !sameSizes(shape, tensor.shape.slice(1)),
    batchShape: batchShape !== undefined && batchShape !== null && !sameSizes(batchShape, tensor.shape),
    batchSize: batchSize !== undefined && batchSize !== null && tensor.shape[0] !== batchSize,
    dtype: dtype !== undefined && dtype !== null && dtype !== tensor.dtype,
    sparse: (sparse ?? tensor.sparse) !== tensor.sparse,
    ragged: kind === 'ragged' && !tensor.ragged,
  };
  for (const [name, wrong] of Object.entries(differs))
    if (wrong)
      throw new InvalidArgumentError(`${name} is not that of the tensor, ${String(tensor)}`, 'Input');
  return tensor;
}
takesArguments<InputOptions>(
  {
    positional: ['shape'],
    required: 0,
    names: {
      shape: true,
      batchSize: true,
      dtype: true,
      sparse: true,
      ragged: true,
      batchShape: true,
      name: true,
      tensor: true,
      optional: true,
    },
    isFunction: true,
  },
  Input,
);

// The layers that stand for inputs, made when somebody asks for a model's layers.
const inputLayers = new WeakMap<KerasTensor, InputLayer>();
export function inputLayer(input: KerasTensor): InputLayer {
  let layer = inputLayers.get(input);
  if (layer === undefined) {
    const { shape, dtype, kind, optional } = input;
    // Of a model that begins inside of another one: Keras's name for it.
    const name = input.producer === null ? input.name : `${input.name}CLONE`;
    layer = new InputLayer({ shape: shape.slice(1), name });
    layer.describes({ shape, dtype, kind, optional });
    layer.built = true;
    const call = { layer, args: [input, {}], inputs: [input], outputs: [input] };
    layer._layer.calls.push(call);
    inputLayers.set(input, layer);
  }
  return layer;
}

/** The calls between the inputs and the outputs of a functional model, in an order in which they can run. */
export class FunctionalGraph {
  readonly inputs: readonly KerasTensor[];
  readonly outputs: readonly KerasTensor[];
  /** As they were given: one, several, by name, or such in each other. */
  readonly given: { readonly inputs: Symbolic; readonly outputs: Symbolic };
  /** The names of the outputs of a model that gives them by name. */
  readonly keys: readonly string[] | undefined;
  /** The names of the inputs: those by which they were given, or their own. */
  readonly inputNames: readonly string[];
  /** Every layer once, in Keras's order: those that are farthest from the outputs first. */
  readonly layers: readonly Layer[];
  /** The same with the inputs among them. */
  readonly nodes: readonly (Layer | KerasTensor)[];
  /** In an order in which they can run. */
  readonly calls: readonly Producer[];

  constructor(inputs: Symbolic, outputs: Symbolic) {
    this.given = { inputs, outputs };
    this.inputs = listed(inputs);
    this.outputs = listed(outputs);
    this.keys = isByNames(outputs) && !isDeep(outputs) ? keysOf(outputs) : undefined;
    if (new Set(this.inputs).size < this.inputs.length) {
      throw new InvalidArgumentError('an input is listed twice', 'Model');
    }
    this.inputNames = isByNames(inputs) && !isDeep(inputs) ? keysOf(inputs) : this.inputs.map((t) => t.name);
    this.calls = callsBetween(this.inputs, this.outputs);
    this.nodes = inKerasOrder(this.inputs, this.outputs);
    this.layers = this.nodes.filter((node): node is Layer => !(node instanceof KerasTensor));
    checkUniqueNames(this.layers, 'Model');
  }

  /** Every layer, those that stand for the inputs too; a model may begin inside of another one, where there are none. */
  get allLayers(): readonly Layer[] {
    return this.nodes.flatMap((node) => {
      if (!(node instanceof KerasTensor)) return [node];
      return node.producer === null ? [inputLayer(node)] : [];
    });
  }

  /** The shape of a layer's first output in this model. */
  shapeOf(layer: Layer): PartialShape | undefined {
    const call = this.calls.find((c) => c.layer === layer) ?? layer._layer.calls[0];
    return call?.outputs[0]?.shape;
  }

  /** Shapes and dtypes of the outputs for those of the inputs. */
  specs(inputs: readonly TensorSpec[]): Specs {
    this.#checkCount(inputs.length);
    const known = new Map<KerasTensor, TensorSpec>();
    this.inputs.forEach((input, i) => {
      const { shape } = inputs[i];
      const adjusted = adjustedShape(shape, input.shape);
      if (adjusted === undefined) unfit(input, shape);
      known.set(input, { shape: adjusted, dtype: input.dtype, kind: input.kind });
    });
    for (const { layer, args, outputs } of this.calls) {
      const { list } = layer.specsOfCall(args, (t) => known.get(t) as TensorSpec);
      outputs.forEach((t, i) => known.set(t, list[i]));
    }
    const list = this.outputs.map((t) => known.get(t) as TensorSpec);
    const { outputs } = this.given;
    return { list, many: Array.isArray(outputs), ...formOf(outputs, 'Model') };
  }

  /** Computes the outputs. Intermediate results are the memory scope's to give back. */
  run(given: LayerInput, options: CallOptions): LayerOutput {
    const values = this.#ordered(given);
    this.#checkCount(values.length);
    const results = new Map<KerasTensor, Tensor>();
    this.inputs.forEach((input, i) => results.set(input, fitted(input, values[i])));
    const { training, mask } = options;
    const value = (t: KerasTensor): Tensor => results.get(t) as Tensor;
    const masks = new Map<KerasTensor, Tensor | null | undefined>();
    if (mask !== undefined && mask !== null)
      masksOfInputs(mask, this.given.inputs, this.inputNames, 'Model').forEach((m, i) => {
        masks.set(this.inputs[i], m);
      });
    const maskOf = (arg: unknown): Mask => masksIn(arg, (t) => masks.get(t as KerasTensor) ?? null);
    for (const { layer, args, outputs } of this.calls) {
      const now = args.map((arg) => mapSymbolic(arg, value));
      // What the layer was called with when the model was described holds, `training: false` too.
      const own = now.pop() as CallOptions;
      const { y, masks: after } = invokeMasked(
        layer,
        now,
        args.slice(0, -1).map(maskOf),
        training === undefined ? own : { training, ...own },
        isBuiltin(layer),
      );
      const list = tree.leavesOf(y, layer.name, tree.wholeComposites) as readonly Tensor[];
      outputs.forEach((t, i) => {
        results.set(t, list[i]);
        masks.set(t, after[i]);
      });
    }
    const list = this.outputs.map(value);
    tellMasks(
      list,
      this.outputs.map((t) => masks.get(t)),
    );
    return tree.pack(this.given.outputs, list, 'Model') as LayerOutput;
  }

  /** The inputs in the order of the model's. Names that the model does not know are left out, as in Keras. */
  #ordered(given: LayerInput): readonly Tensor[] {
    if (isAnyTensor(given)) return [given as Tensor];
    const { inputs: form } = this.given;
    const deep = isDeep(form);
    if (Array.isArray(given) && !deep) return given as readonly Tensor[];
    const byName = given as unknown as Readonly<Record<string, Tensor>>;
    const list = deep
      ? along(form, given, { what: 'the input', of: 'input', partial: true, names: this.inputNames })
      : this.inputs.map((input, i) => byName[this.inputNames[i]] ?? byName[input.name]);
    return this.inputs.map((input, i) => {
      const value = list[i] as Tensor | undefined;
      if (value !== undefined) return value;
      if (input.optional) return null as never;
      throw new InvalidArgumentError(
        `the input '${this.inputNames[i]}' is missing among ${deep ? tree.showStructure(given, () => '·') : Object.keys(given).join(', ')}`,
        'Model',
      );
    });
  }

  #checkCount(n: number): void {
    if (n === this.inputs.length) return;
    throw new InvalidArgumentError(
      `got ${n} inputs for a model with ${this.inputs.length} (${this.inputs.map((t) => t.name).join(', ')})`,
      'Model',
    );
  }
}

/** The names of tensors by name, in the order in which a model has them, which is Keras's. */
const keysOf = (byNames: Readonly<Record<string, unknown>>): readonly string[] =>
  tree.sortKeys(Object.keys(byNames));

/** @throws InvalidArgumentError for what are no symbolic tensors */
function listed(given: Symbolic): readonly KerasTensor[] {
  const list = tree.leavesOf(given ?? [], 'Model');
  for (const t of list) {
    if (t instanceof KerasTensor) continue;
    throw new InvalidArgumentError(
      'inputs and outputs must be symbolic tensors: results of tf.Input, and of layers called on them',
      'Model',
    );
  }
  if (list.length === 0)
    throw new InvalidArgumentError('a model needs at least one input and one output', 'Model');
  return list as readonly KerasTensor[];
}

/** The calls that the outputs need, each after those that it needs. */
function callsBetween(inputs: readonly KerasTensor[], outputs: readonly KerasTensor[]): Producer[] {
  const given = new Set<KerasTensor>(inputs);
  const calls = new Set<Producer>();
  const visit = (t: KerasTensor): void => {
    if (given.has(t)) return;
    if (t.producer === null) {
      throw new InvalidArgumentError(
        `the outputs depend on the input '${t.name}', which is not among the model's inputs`,
        'Model',
      );
    }
    if (calls.has(t.producer)) return;
    t.producer.inputs.forEach(visit);
    calls.add(t.producer);
  };
  outputs.forEach(visit);
  return [...calls];
}

/**
 * The layers, and the inputs, in the order in which Keras has them. How far one is from the outputs is told by the longest way there, of a
 * layer that is called several times by the longest of all; those of one distance are in the order in which one comes to them from the outputs.
 */
function inKerasOrder(
  inputs: readonly KerasTensor[],
  outputs: readonly KerasTensor[],
): (Layer | KerasTensor)[] {
  type Node = Layer | KerasTensor;
  type Call = Producer | KerasTensor;
  const given = new Set<KerasTensor>(inputs);
  const found = new Map<Node, number>();
  const calls = new Set<Call>();
  const callOf = (t: KerasTensor): Call => (given.has(t) || t.producer === null ? t : t.producer);
  const nodeOf = (call: Call): Node => (call instanceof KerasTensor ? call : call.layer);
  const before = (call: Call): readonly KerasTensor[] => (call instanceof KerasTensor ? [] : call.inputs);
  const visit = (t: KerasTensor): void => {
    const call = callOf(t);
    if (calls.has(call)) return;
    if (!found.has(nodeOf(call))) found.set(nodeOf(call), found.size);
    before(call).forEach(visit);
    calls.add(call);
  };
  outputs.forEach(visit);
  const ofCalls = new Map<Call, number>();
  const ofNodes = new Map<Node, number>();
  for (const call of [...calls].reverse()) {
    const distance = Math.max(ofCalls.get(call) ?? 0, ofNodes.get(nodeOf(call)) ?? 0);
    ofCalls.set(call, distance);
    ofNodes.set(nodeOf(call), distance);
    for (const t of before(call)) {
      const inner = callOf(t);
      ofCalls.set(inner, Math.max(distance + 1, ofCalls.get(inner) ?? 0));
    }
  }
  // Inputs on which no output depends.
  for (const input of inputs) {
    if (found.has(input)) continue;
    found.set(input, -1);
    ofNodes.set(input, 0);
  }
  const at = (map: ReadonlyMap<Node, number>, node: Node): number => map.get(node) as number;
  return [...found.keys()].sort((a, b) => at(ofNodes, b) - at(ofNodes, a) || at(found, a) - at(found, b));
}

/** A shape as the input wants it: a last axis of 1 may be missing or superfluous, as in Keras. Undefined if it does not fit. */
function adjustedShape(shape: PartialShape, wanted: PartialShape): PartialShape | undefined {
  let own = shape;
  if (own.length === wanted.length + 1 && own.at(-1) === 1) own = own.slice(0, -1);
  else if (own.length === wanted.length - 1 && wanted.at(-1) === 1) own = [...own, 1];
  const fits =
    own.length === wanted.length && wanted.every((d, i) => d === null || own[i] === null || d === own[i]);
  return fits ? own : undefined;
}

/** The same of a value. */
export function adjusted(value: Tensor, wanted: PartialShape): Tensor | undefined {
  const shape = adjustedShape(value.shape, wanted) as Shape | undefined;
  return shape?.length === value.rank ? value : shape && value.reshape(shape);
}

/** A value in the shape and dtype of an input. @throws InvalidArgumentError when it cannot be. */
function fitted(input: KerasTensor, given: Tensor): Tensor {
  if (given === null) {
    if (input.optional) return given;
    throw new InvalidArgumentError(`the input '${input.name}' is null, and not optional`, 'Model');
  }
  if (!isAnyTensor(given))
    throw new InvalidArgumentError(
      `the input '${input.name}' is ${shown(given)}, expected a tensor`,
      'Model',
    );
  // As in Keras, ragged tensors stay what they are.
  const value = kindOf(given) === 'sparse' && input.kind !== 'sparse' ? densified(given) : given;
  if (isStored(value)) {
    if (adjustedShape(value.shape, input.shape)?.length !== value.rank) unfit(input, value.shape);
    return cast(value as unknown as Tensor, input.dtype);
  }
  const x = adjusted(value, input.shape);
  if (x === undefined) unfit(input, value.shape);
  if (x.dtype === input.dtype) return x;
  if (x.dtype === 'string' || input.dtype === 'string') {
    throw new InvalidArgumentError(`input '${input.name}' is ${x.dtype}, expected ${input.dtype}`, 'Model');
  }
  return x.cast(input.dtype);
}

function unfit(input: KerasTensor, shape: PartialShape): never {
  throw new InvalidArgumentError(
    `input '${input.name}' is ${showShape(shape)}, expected ${showShape(input.shape)}`,
    'Model',
  );
}
