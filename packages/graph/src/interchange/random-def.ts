// Random draws in GraphDefs: TensorFlow's Philox, with a variable that holds the state, gives the numbers that Eagre draws.
import { type DType, dtypeTraits, UnimplementedError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { type Draw, type DrawSource, isDrawSource } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import type { Graph, GraphNode } from '../ir/graph.ts';
import { bodiesOf } from '../ir/graph-bodies.ts';
import { outputName } from './op-signatures.ts';
import { type Arithmetic, floatTransforms, integerTransform, type Transform } from './random-transforms.ts';

type AttrValues = Readonly<Record<string, tensorflow.AttrValue>>;

/** What writes nodes. */
export interface NodeWriter {
  name(wanted: string): string;
  /** @returns how other nodes name the first output. */
  add(name: string, op: string, input: readonly string[], attrs: AttrValues): string;
  constant(name: string, value: Tensor): string;
}

const typeOf = (dtype: DType): tensorflow.AttrValue => ({ type: dtypeTraits[dtype].tensorflow });
const int32 = typeOf('int32');
const int64 = typeOf('int64');

const word = (low: number, high: number): bigint => BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low));
const integers = (...values: readonly bigint[]): Tensor => constant(BigInt64Array.from(values), 'int64');
/** Counter and key as TensorFlow's op is given them. */
const stateOf = ({ k0, k1, counter0, counter1 }: Draw): Tensor =>
  integers(word(counter0, counter1), word(k0, k1));

/** The state that a stream is in now: its counter and its key, int64 [2]. */
export function streamState(source: DrawSource): Tensor {
  return stateOf(source.peek());
}

/** The names under which all functions of a GraphDef find the variable of a stream. */
export class StreamNames {
  readonly #names = new Map<DrawSource, string>();

  get sources(): Iterable<DrawSource> {
    return this.#names.keys();
  }

  of(source: DrawSource): string {
    let name = this.#names.get(source);
    // No variable of a program has such a name: a node has no colon in its.
    if (name === undefined) this.#names.set(source, (name = `random_state:${this.#names.size}`));
    return name;
  }
}

/** Where draws of one stream come from, in one graph. */
interface State {
  readonly name: string;
  /** The variable, and how other nodes name it. */
  readonly handle: string;
  /** The state as it was last read, and how many draws were made of that; null once it was advanced. */
  read: { readonly node: string; readonly value: string; draws: number } | null;
  /** The node that advanced it last. */
  last: string | null;
}

/** The streams that a graph draws from, in the order of its nodes. */
export class RandomStates {
  readonly #writer: NodeWriter;
  readonly #names: StreamNames;
  readonly #states = new Map<DrawSource, State>();

  readonly #handleOf: ((source: DrawSource) => string) | undefined;

  /** @param handleOf how nodes name the variable of a stream, where they are given it; a node for it is made unless given. */
  constructor(writer: NodeWriter, names: StreamNames, handleOf?: (source: DrawSource) => string) {
    this.#handleOf = handleOf;
    this.#writer = writer;
    this.#names = names;
  }

  /** Counts a draw of a node. @returns what gives its counter and key, an int64 [2]; null for a node that draws in another way. */
  draw({ attrs }: GraphNode, name: string): string | null {
    if (typeof attrs['k0'] === 'number')
      return this.#writer.constant(`${name}/state`, stateOf(attrs as Draw));
    const source = attrs['source'];
    if (!isDrawSource(source)) return null;
    const state = this.#stateOf(source);
    state.read ??= this.#read(state);
    const place = state.read.draws++;
    return place === 0 ? state.read.value : this.#advanced('draw', state, state.read.value, place);
  }

  /** Ahead of a node that draws in its bodies. @returns what the node has to run after. */
  enter(node: GraphNode): string[] {
    return sourcesIn(bodiesOf(node)).flatMap((source) => {
      const state = this.#stateOf(source);
      this.#advance(state);
      return state.last === null ? [] : [`^${state.last}`];
    });
  }

  /** Behind such a node. */
  leave(node: GraphNode, name: string): void {
    for (const source of sourcesIn(bodiesOf(node))) this.#stateOf(source).last = name;
  }

  /** Adds what advances the states. @returns the names of nodes that have to run. */
  finish(): string[] {
    return [...this.#states.values()].flatMap((state) => {
      this.#advance(state);
      return state.last ?? [];
    });
  }

  /** Adds what gives each stream of the whole GraphDef its state, as it is now: who imports the graph runs these nodes once. */
  initialize(): void {
    for (const source of this.#names.sources) {
      const { name, handle } = this.#stateOf(source);
      const now = this.#writer.constant(`${name}/Initializer`, stateOf(source.peek()));
      this.#writer.add(this.#writer.name(`${name}/Initialize`), 'AssignVariableOp', [handle, now], {
        dtype: int64,
        validate_shape: { b: false },
      });
    }
  }

  #read({ name, handle, last }: State): NonNullable<State['read']> {
    const node = this.#writer.name(`${name}/Read`);
    const input = [handle, ...(last === null ? [] : [`^${last}`])];
    return { node, value: this.#writer.add(node, 'ReadVariableOp', input, { dtype: int64 }), draws: 0 };
  }

  #advance(state: State): void {
    const { name, handle, read } = state;
    if (read === null) return;
    const next = this.#advanced('next', state, read.value, read.draws);
    state.last = this.#writer.name(`${name}/Assign`);
    state.read = null;
    this.#writer.add(state.last, 'AssignVariableOp', [handle, next, `^${read.node}`], {
      dtype: int64,
      validate_shape: { b: false },
    });
  }

  #advanced(last: string, state: State, from: string, draws: number): string {
    const name = this.#writer.name(`${state.name}/${last}`);
    const by = this.#writer.constant(`${name}/y`, integers(BigInt(draws), 0n));
    return this.#writer.add(name, 'AddV2', [from, by], { T: int64 });
  }

  #stateOf(source: DrawSource): State {
    let state = this.#states.get(source);
    if (state === undefined) {
      const name = this.#writer.name('random_state');
      const handle =
        this.#handleOf?.(source) ??
        this.#writer.add(name, 'VarHandleOp', [], {
          dtype: int64,
          shape: { shape: { dim: [{ size: 2 }] } },
          shared_name: { s: new TextEncoder().encode(this.#names.of(source)) },
          container: { s: new Uint8Array() },
        });
      state = { name, handle, read: null, last: null };
      this.#states.set(source, state);
    }
    return state;
  }
}

/** The streams that graphs draw from, and graphs inside of them. */
export function sourcesIn(graphs: readonly Graph[]): readonly DrawSource[] {
  const found = new Set<DrawSource>();
  for (const { nodes } of graphs)
    for (const node of nodes) {
      const source = node.attrs['source'];
      if (node.draws && isDrawSource(source)) found.add(source);
      for (const inner of sourcesIn(bodiesOf(node))) found.add(inner);
    }
  return [...found];
}

// ---- what is drawn

/** What a node draws: the name of the function that does so, and what it is given beside state and shape. */
export interface DrawCall {
  readonly name: string;
  readonly dtype: DType;
  /** By name: two scalars. */
  readonly parameters: readonly (readonly [string, Tensor])[];
  readonly transform: Transform;
}

/** @returns null for a node that draws nothing by itself. */
export function drawCall({ type, attrs, outputs }: GraphNode): DrawCall | null {
  const kind = type.replace(/^Stateless/, '');
  const dtype = outputs[0]?.dtype;
  if (kind === 'RandomUniformInt') {
    const [low, high] = [BigInt(attrs['low'] as number), BigInt(attrs['high'] as number)];
    const parameters = [
      ['low', constant(low, 'int64')],
      ['range', constant(high - low, 'int64')],
    ] as const;
    return { name: `draw_${kind}_${dtype}`, dtype, parameters, transform: integerTransform };
  }
  if (!Object.hasOwn(floatTransforms, kind) || (dtype !== 'float32' && dtype !== 'float64')) return null;
  const transform = floatTransforms[kind as keyof typeof floatTransforms][dtype];
  const parameters = (kind === 'RandomUniform' ? ['low', 'high'] : ['mean', 'stddev']).map(
    (p) => [p, constant(attrs[p] as number, 'float64')] as const,
  );
  return {
    name: `draw_${kind}_${dtype}`,
    dtype,
    parameters,
    transform,
  };
}

/** The function of state (int64 [2]), shape and two parameters that draws. */
export function drawFunction({ name, dtype, parameters, transform }: DrawCall): tensorflow.FunctionDef {
  const nodes = new FunctionNodes();
  const given = parameters.map(([p, { dtype: of }]) => ({ name: p, dtype: of }));
  const y = nodes.drawn(transform, given as [Given, Given], dtype);
  const arg = (argument: string, of: DType) => ({ name: argument, type: dtypeTraits[of].tensorflow });
  return {
    signature: {
      name,
      input_arg: [arg('state', 'int64'), arg('shape', 'int32'), ...given.map((p) => arg(p.name, p.dtype))],
      output_arg: [arg('y', dtype)],
    },
    node_def: nodes.list,
    ret: new Map([['y', y]]),
  };
}

/** A value of a function, under the name that its nodes have for it. */
interface Given {
  readonly name: string;
  readonly dtype: DType;
}

/** The nodes of a function that draws. */
class FunctionNodes implements Arithmetic<Given> {
  readonly list: tensorflow.NodeDef[] = [];
  readonly #constants = new Map<string, Given>();

  /** @returns the name of the numbers, of the function's shape. */
  drawn({ perBlock, run }: Transform, [a, b]: readonly [Given, Given], dtype: DType): string {
    const shape: Given = { name: 'shape', dtype: 'int32' };
    const at = (value: readonly number[] | readonly (readonly number[])[] | number): Given =>
      this.#constant(value, 'int32');
    const count = this.#op('Prod', [shape, at([0])], 'int32', { T: int32, Tidx: int32 });
    const blocks = this.floorDiv(this.add(count, perBlock - 1), perBlock);
    const pack = (values: readonly Given[], axis: number): Given =>
      this.#op('Pack', values, values[0].dtype, {
        N: { i: values.length },
        T: typeOf(values[0].dtype),
        axis: { i: axis },
      });
    const slice = (of: Given, begin: number, size: Given): Given =>
      this.#op('Slice', [of, at([begin]), size], of.dtype, { T: typeOf(of.dtype), Index: int32 });
    const words = (of: Given): Given =>
      this.#op('Bitcast', [of], 'uint64', { T: int64, type: typeOf('uint64') });
    const state: Given = { name: 'state', dtype: 'int64' };
    const counter = this.#op('Pad', [slice(state, 0, at([1])), at([[1, 0]])], 'int64', {
      T: int64,
      Tpaddings: int32,
    });
    const bits = this.#op(
      'StatelessRandomUniformFullIntV2',
      [pack([blocks, at(4)], 0), words(slice(state, 1, at([1]))), words(counter), at(1)],
      'uint32',
      { dtype: typeOf('uint32'), Tshape: int32 },
    );
    const columns = this.#op('Unpack', [this.cast(bits, 'int64')], 'int64', {
      num: { i: 4 },
      T: int64,
      axis: { i: 1 },
    });
    const [w0, w1, w2, w3] = [0, 1, 2, 3].map((i) => ({
      ...columns,
      name: columns.name.replace(/0$/, `${i}`),
    })) as [Given, Given, Given, Given];
    const made = run(this, [w0, w1, w2, w3], a, b);
    const reshape = (of: Given, to: Given): Given =>
      this.#op('Reshape', [of, to], of.dtype, { T: typeOf(of.dtype), Tshape: int32 });
    const flat = reshape(pack(made, 1), at([-1]));
    const y = reshape(slice(flat, 0, pack([count], 0)), shape);
    return (y.dtype === dtype ? y : this.cast(y, dtype)).name;
  }

  add(a: Given, b: Given | number): Given {
    return this.#binary('AddV2', a, b);
  }
  sub(a: Given | number, b: Given | number): Given {
    return this.#binary('Sub', a, b);
  }
  mul(a: Given, b: Given | number): Given {
    return this.#binary('Mul', a, b);
  }
  div(a: Given, b: Given): Given {
    return this.#binary('RealDiv', a, b);
  }
  floorDiv(a: Given, b: Given | number): Given {
    return this.#binary('FloorDiv', a, b);
  }
  mod(a: Given, b: Given | number): Given {
    return this.#binary('FloorMod', a, b);
  }
  min(a: Given, b: number): Given {
    return this.#binary('Minimum', a, b);
  }
  less(a: Given, b: Given | number): Given {
    return this.#binary('Less', a, b, 'bool');
  }
  equal(a: Given, b: Given | number): Given {
    return this.#binary('Equal', a, b, 'bool');
  }
  neg(a: Given): Given {
    return this.#op('Neg', [a], a.dtype);
  }
  sqrt(a: Given): Given {
    return this.#op('Sqrt', [a], a.dtype);
  }
  round(a: Given): Given {
    return this.#op('Round', [a], a.dtype);
  }
  select(condition: Given, a: Given, b: Given): Given {
    return this.#op('SelectV2', [condition, a, b], a.dtype, { T: typeOf(a.dtype) });
  }
  cast(a: Given, dtype: DType): Given {
    return this.#op('Cast', [a], dtype, { SrcT: typeOf(a.dtype), DstT: typeOf(dtype) });
  }
  bitcast(a: Given, dtype: DType): Given {
    return this.#op('Bitcast', [a], dtype, { T: typeOf(a.dtype), type: typeOf(dtype) });
  }

  #binary(op: string, a: Given | number, b: Given | number, result?: DType): Given {
    const { dtype } = (typeof a === 'number' ? b : a) as Given;
    const inputs = [a, b].map((v) => (typeof v === 'number' ? this.#constant(v, dtype) : v));
    return this.#op(op, inputs, result ?? dtype, { T: typeOf(dtype) });
  }

  #op(
    op: string,
    inputs: readonly Given[],
    dtype: DType,
    attrs: AttrValues = { T: typeOf(inputs[0].dtype) },
  ): Given {
    const name = `${op}_${this.list.length}`;
    this.list.push({ name, op, input: inputs.map((i) => i.name), attr: new Map(Object.entries(attrs)) });
    return { name: `${name}:${outputName(op, 0)}`, dtype };
  }

  #constant(value: number | readonly number[] | readonly (readonly number[])[], dtype: DType): Given {
    const key = `${dtype} ${JSON.stringify(value)}`;
    let known = this.#constants.get(key);
    if (known === undefined) {
      const numbers = [value].flat(2);
      const size = (list: unknown): { readonly size: number }[] =>
        Array.isArray(list) ? [{ size: list.length }, ...size(list[0])] : [];
      const held: Partial<tensorflow.TensorProto> =
        dtype === 'int64'
          ? { int64_val: numbers }
          : dtype === 'float64'
            ? { double_val: numbers }
            : dtype === 'float32'
              ? { float_val: numbers }
              : { int_val: numbers };
      const tensor = { dtype: dtypeTraits[dtype].tensorflow, tensor_shape: { dim: size(value) }, ...held };
      known = this.#op('Const', [], dtype, { dtype: typeOf(dtype), value: { tensor } });
      this.#constants.set(key, known);
    }
    return known;
  }
}

/** For draws that no node of TensorFlow's makes. */
export function noDraw({ name, type }: GraphNode): UnimplementedError {
  return new UnimplementedError(
    `'${name}' (${type}) draws random numbers itself, which a GraphDef cannot hold: write it with tf.random. To look at the graph only, give largestConstant`,
    'asGraphDef',
  );
}
