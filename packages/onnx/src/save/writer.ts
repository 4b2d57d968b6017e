// Writes the nodes of an ONNX graph.
import { type DType, UnimplementedError } from '@eagre/backend';
import { concat, constant, reshape, split, type Tensor, transpose, type Variable } from '@eagre/core';
import {
  Computed,
  type Dim,
  type DimExpr,
  type DimSymbol,
  dimOf,
  dims,
  type Factor,
  identicalDims,
  isExpression,
  Operated,
  type Operation,
  viewOf,
} from '@eagre/core/internal';
import { onnx } from '@eagre/formats';
import type { Graph, GraphNode, GraphValue } from '@eagre/graph';
import { bytesOf, typeNumber } from '../tensors.ts';

const OP = 'tf.onnx.save';

/** The value of an attribute: a number with a fraction only if it is made by `real`. */
export type AttributeValue = number | string | readonly number[] | Real | onnx.GraphProto | onnx.TensorProto;
/** A floating attribute. */
export class Real {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}
export const real = (value: number): Real => new Real(value);

/** The inputs of an op: names, and '' for what is left out. */
type Names = readonly string[];
type AttributeValues = Readonly<Record<string, AttributeValue>>;

const { FLOAT, INT, STRING, INTS, GRAPH, TENSOR } = onnx.AttributeType;

function attribute(name: string, value: AttributeValue): onnx.AttributeProto {
  if (value instanceof Real) return { name, f: value.value, type: FLOAT };
  if (typeof value === 'number') return { name, i: value, type: INT };
  if (typeof value === 'string') return { name, s: bytesOf(value), type: STRING };
  if (Array.isArray(value)) return { name, ints: value as readonly number[], type: INTS };
  return 'node' in (value as object)
    ? { name, g: value as onnx.GraphProto, type: GRAPH }
    : { name, t: value as onnx.TensorProto, type: TENSOR };
}

/** What the graphs of a file share. */
export class File {
  readonly opset: number;
  readonly writeNodes: (w: GraphWriter, graph: Graph) => void;
  readonly initializers: Map<string, Tensor> = new Map();
  readonly #names = new Set<string>();
  readonly #constants = new Map<string, string>();
  readonly #variables = new Map<Variable, string>();

  /** @param writeNodes what writes the nodes of a graph, of branches and loops too. */
  constructor(opset: number, writeNodes: (w: GraphWriter, graph: Graph) => void) {
    this.opset = opset;
    this.writeNodes = writeNodes;
  }

  /** A name of its own. */
  name(wanted: string): string {
    const base = wanted === '' ? 'value' : wanted;
    let name = base;
    for (let i = 1; this.#names.has(name); i++) name = `${base}_${i}`;
    this.#names.add(name);
    return name;
  }

  initializer(wanted: string, tensor: Tensor): string {
    if (tensor.dtype === 'string' || tensor.dtype.startsWith('complex'))
      throw new UnimplementedError(
        `the constant '${wanted}' is ${tensor.dtype}, of which ONNX has no ops`,
        OP,
      );
    const name = this.name(wanted);
    this.initializers.set(name, tensor);
    return name;
  }

  /** A small constant, which equal ones share. */
  constant(values: readonly number[], dtype: DType, shape: readonly number[]): string {
    const key = `${dtype} [${shape}] ${values.map((v) => (Object.is(v, -0) ? '-0' : v))}`;
    let name = this.#constants.get(key);
    if (name === undefined) {
      const wide = dtype === 'int64' || dtype === 'uint64';
      const data = wide ? BigInt64Array.from(values, clampedBigInt) : Float64Array.from(values);
      const tensor = constant({ data, shape, dtype: wide ? 'int64' : 'float64' });
      name = this.initializer('const', tensor.dtype === dtype ? tensor : tensor.cast(dtype));
      this.#constants.set(key, name);
    }
    return name;
  }

  variable(variable: Variable): string {
    let name = this.#variables.get(variable);
    if (name === undefined) {
      name = this.initializer(variable.path, variable.read());
      this.#variables.set(variable, name);
    }
    return name;
  }
}

const clampedBigInt = (n: number): bigint => {
  if (n >= 2 ** 63) return 2n ** 63n - 1n;
  return n <= -(2 ** 63) ? -(2n ** 63n) : BigInt(n);
};

const NARROW = { int16: 'int32', uint16: 'int32', bfloat16: 'float32' } as const;
// What ONNX Runtime computes instead (1.32).
const WIDER: Readonly<Record<string, Readonly<Partial<Record<DType, DType>>>>> = {
  Max: NARROW,
  Min: NARROW,
  Where: { ...NARROW, bool: 'uint8', uint64: 'int64' },
};

/** Writes one graph: that of the model, or one of a branch or loop. */
export class GraphWriter {
  readonly file: File;
  nodes: onnx.NodeProto[] = [];
  readonly graph: Graph;
  readonly #outer: GraphWriter | null;
  readonly #values = new Map<GraphValue, string>();
  /** int64 vectors of one number, by the keys of sizes. */
  readonly #sizes = new Map<string, string>();
  /** The values that somebody needs. */
  readonly #used = new Set<GraphValue>();
  /** The node that is written, for names and messages. */
  node: GraphNode | null = null;

  constructor(file: File, graph: Graph, outer: GraphWriter | null) {
    this.file = file;
    this.graph = graph;
    this.#outer = outer;
    for (const v of graph.outputs) this.#used.add(v);
    for (const { inputs } of graph.nodes) for (const v of inputs) this.#used.add(v);
  }

  get opset(): number {
    return this.file.opset;
  }

  isUsed(value: GraphValue): boolean {
    return this.#used.has(value);
  }

  // ---- values

  set(value: GraphValue, name: string): void {
    this.#values.set(value, name);
  }
  of(value: GraphValue): string {
    const name = this.#values.get(value);
    if (name === undefined)
      throw new UnimplementedError(`the value of '${value.node.name}' is not written`, OP);
    return name;
  }

  // ---- nodes

  /** Adds a node. @returns the names of its outputs. */
  several(op: string, inputs: Names, attrs: AttributeValues, count: number): string[] {
    const folded = this.#folded(op, inputs, attrs, count);
    if (folded !== null) return folded;
    const base = this.node?.name ?? op;
    const outputs = Array.from({ length: count }, () => this.file.name(base));
    this.nodes.push(nodeProto(op, this.file.name(`${base}/${op}`), inputs, outputs, attrs));
    return outputs;
  }

  /** Adds a node of one output. */
  add(op: string, inputs: Names, attrs: AttributeValues = {}): string {
    return this.several(op, inputs, attrs, 1)[0] as string;
  }

  /** What moves initializers is done now. */
  #folded(op: string, inputs: Names, attrs: AttributeValues, count: number): string[] | null {
    const fold = FOLDS[op];
    const tensors = inputs.map((name) => this.file.initializers.get(name));
    if (fold === undefined || tensors.length === 0 || !tensors.every((t) => t !== undefined)) return null;
    const results = fold(tensors as Tensor[], attrs, count);
    if (results === null) return null;
    const base = inputs[0] as string;
    return results.map((t) => this.file.initializer(base.startsWith('const') ? 'const' : base, t));
  }

  ints(values: readonly number[]): string {
    return this.file.constant(values, 'int64', [values.length]);
  }
  scalar(value: number, dtype: DType): string {
    return this.file.constant([value], dtype, []);
  }
  cast(x: string, from: DType, to: DType): string {
    return from === to ? x : this.add('Cast', [x], { to: typeNumber(to) });
  }
  /** An op of values of one dtype, in a wider one where ONNX Runtime has no kernel for theirs. `first`: the inputs before them. */
  widened(op: string, first: readonly string[], values: readonly string[], dtype: DType): string {
    const wide = WIDER[op]?.[dtype] ?? dtype;
    return this.cast(this.add(op, [...first, ...values.map((x) => this.cast(x, dtype, wide))]), wide, dtype);
  }
  transpose(x: string, perm: readonly number[]): string {
    return perm.every((p, i) => p === i) ? x : this.add('Transpose', [x], { perm });
  }
  unsqueeze(x: string, axes: readonly number[]): string {
    return this.add('Unsqueeze', [x, this.ints(axes)]);
  }
  squeeze(x: string, axes: readonly number[]): string {
    return this.add('Squeeze', [x, this.ints(axes)]);
  }

  // ---- sizes

  /** Sizes as an int64 vector. */
  shape(sizes: readonly Dim[]): string {
    if (sizes.every((d) => typeof d === 'number')) return this.ints(sizes as readonly number[]);
    return this.add(
      'Concat',
      sizes.map((d) => this.size(d)),
      { axis: 0 },
    );
  }

  /** A size as an int64 vector of one number. */
  size(d: Dim): string {
    if (typeof d === 'number') return this.ints([d]);
    let name = this.#known(d.key);
    if (name === undefined) {
      name = this.#computed(d);
      this.#sizes.set(d.key, name);
    }
    return name;
  }

  #known(key: string): string | undefined {
    return this.#sizes.get(key) ?? (this.#outer === null ? undefined : this.#outer.#known(key));
  }

  #computed(d: DimExpr): string {
    return d.terms
      .map(({ coefficient, factors }) => {
        const parts = factors.map((f) => this.#factor(f));
        if (coefficient !== 1 || parts.length === 0) parts.unshift(this.ints([coefficient]));
        return parts.reduce((a, b) => this.add('Mul', [a, b]));
      })
      .reduce((a, b) => this.add('Add', [a, b]));
  }

  #factor(factor: Factor): string {
    if (factor instanceof Operated)
      return this.#operated(factor.operation, this.size(factor.a), this.size(factor.b));
    if (factor instanceof Computed)
      throw new UnimplementedError(
        `the size ${factor.text} is computed by code that a graph cannot hold: save the model for known sizes`,
        OP,
      );
    const symbol = dimOf(factor);
    const known = this.#known(symbol.key);
    if (known !== undefined) return known;
    const found = this.#find(symbol);
    if (found === null)
      throw new UnimplementedError(`the size ${symbol} is not that of a value of the graph`, OP);
    this.#sizes.set(symbol.key, found);
    return found;
  }

  #operated(operation: Operation, a: string, b: string): string {
    switch (operation) {
      case 'max':
        return this.add('Max', [a, b]);
      case 'min':
        return this.add('Min', [a, b]);
      case 'mod':
        return this.add('Mod', [a, b]);
      case 'floorDiv':
        // ONNX rounds towards zero.
        return this.add('Div', [this.add('Sub', [a, this.add('Mod', [a, b])]), b]);
    }
  }

  /** The size of an axis of a value, or an element of one, here or outside. */
  #find(symbol: DimExpr): string | null {
    const measure = this.graph.measures.find(
      (m) => m.from === 'element' && identicalDims(dimOf(m.symbol), symbol) && this.#values.has(m.value),
    );
    if (measure !== undefined) {
      const flat = this.add('Reshape', [
        this.cast(this.of(measure.value), measure.value.dtype, 'int64'),
        this.ints([-1]),
      ]);
      return this.add('Slice', [flat, this.ints([measure.at]), this.ints([measure.at + 1])]);
    }
    for (const [value, name] of this.#values) {
      const axis = dims(value).findIndex((d) => identicalDims(d, symbol));
      if (axis >= 0) return this.add('Shape', [name], { start: axis, end: axis + 1 });
    }
    return this.#outer === null ? null : this.#outer.#find(symbol);
  }
}

export function nodeProto(
  op_type: string,
  name: string,
  input: Names,
  output: Names,
  attrs: AttributeValues,
): onnx.NodeProto {
  const inputs = [...input];
  while (inputs.at(-1) === '') inputs.pop();
  return {
    input: inputs,
    output,
    name,
    op_type,
    attribute: Object.entries(attrs).map(([key, value]) => attribute(key, value)),
  };
}

const numbersOf = (t: Tensor | undefined): number[] =>
  t === undefined ? [] : Array.from(viewOf(t) as unknown as ArrayLike<number | bigint>, Number);

/** What moves values without computing. */
const FOLDS: Readonly<
  Record<string, (tensors: readonly Tensor[], attrs: AttributeValues, count: number) => Tensor[] | null>
> = {
  Transpose: ([x], attrs) => [transpose(x as Tensor, attrs['perm'] as number[])],
  Reshape: ([x, shape]) => {
    const wanted = numbersOf(shape);
    return wanted.includes(0) ? null : [reshape(x as Tensor, wanted)];
  },
  Unsqueeze: ([x, axes]) => {
    const shape = [...(x as Tensor).shape];
    for (const axis of numbersOf(axes).sort((a, b) => a - b)) shape.splice(axis, 0, 1);
    return [reshape(x as Tensor, shape)];
  },
  Squeeze: ([x, axes]) => {
    const drop = numbersOf(axes);
    return [
      reshape(
        x as Tensor,
        (x as Tensor).shape.filter((_, i) => !drop.includes(i)),
      ),
    ];
  },
  Concat: (tensors, attrs) => [concat(tensors, attrs['axis'] as number)],
  Split: ([x, sizes], attrs) => split(x as Tensor, numbersOf(sizes), attrs['axis'] as number),
};

// A longer name of a size says nothing to a reader.
const LONGEST_NAME = 160;

/** How a size is called in the file. */
export class SizeNames {
  readonly #names = new Map<Factor, string>();
  #named = 0;

  /** The dimension of a size. */
  dimension(d: Dim): onnx.Dimension {
    return isExpression(d) ? { dim_param: this.text(d) } : { dim_value: d };
  }

  text(d: Dim): string {
    if (typeof d === 'number') return String(d);
    return d.terms
      .map(({ coefficient, factors }) =>
        [
          ...(coefficient === 1 && factors.length > 0 ? [] : [String(coefficient)]),
          ...factors.map((f) => this.#factor(f)),
        ].join('*'),
      )
      .join(' + ');
  }

  #factor(factor: Factor): string {
    const known = this.#names.get(factor);
    if (known !== undefined) return known;
    let name = '';
    if (factor instanceof Operated)
      name = `${factor.operation}(${this.text(factor.a)}, ${this.text(factor.b)})`;
    else if (factor instanceof Computed)
      name = `${factor.name}(${factor.args.map((d) => this.text(d)).join(', ')})`;
    // Long ones get a name of their own, as symbols do: N for the first, then d1, d2, …
    if (name === '' || name.length > LONGEST_NAME) name = this.#named++ === 0 ? 'N' : `d${this.#named - 1}`;
    this.#names.set(factor, name);
    return name;
  }

  symbol(symbol: DimSymbol): string {
    return this.#factor(symbol);
  }
}
