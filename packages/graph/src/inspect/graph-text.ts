import { type ComplexDType, type DType, isComplex, partsOf } from '@eagre/backend';
import { type Complex, type Tensor, Variable } from '@eagre/core';
import {
  complexAt,
  complexText,
  DimExpr,
  dimsOf,
  hostValues,
  isFloating,
  partialShape,
  roundingTo,
} from '@eagre/core/internal';
import type { Graph, GraphNode, GraphValue } from '../ir/graph.ts';
import { bodiesOf } from '../ir/graph-bodies.ts';
import { isUnknownRank } from '../tracing/unknown-rank.ts';

// More of a constant or a list than this would hide the rest of the line.
const LONGEST = 8;
const DEEPEST = 3;

/**
 * A graph for people, the same for the same graph: its arguments, a line for each other node in the order of the trace
 * (`%name: dtype[shape] = Type(inputs…) {attribute: value, …}`), the assignments of variables, and what it returns. `%name:1` is
 * the second output of a node with several. What no result needs, and so never
 * runs, is marked `# unused`. The bodies of branches and loops follow their node, indented.
 */
export function graphToString(graph: Graph): string {
  const labels = new VariableLabels(graph);
  const live = new Set(graph.liveNodes());
  const lines = graph.nodes
    .filter(({ what }) => what.kind !== 'argument')
    .flatMap((node) => [
      nodeToString(node, labels) + (live.has(node) ? '' : '  # unused'),
      ...bodiesOf(node).map((body) => `  ${graphToString(body).replaceAll('\n', '\n    ')}`),
    ]);
  for (const { variable, value } of graph.assignments)
    lines.push(`AssignVariableOp(${labels.of(variable)}, ${reference(value)})`);
  lines.push(`return${graph.outputs.map((value, i) => `${i > 0 ? ',' : ''} ${reference(value)}`).join('')}`);
  return `${graph.name}(${graph.arguments.map(definition).join(', ')}) {\n  ${lines.join('\n  ')}\n}`;
}

// The bodies themselves are shown, what ties gradients to them is not.
const showsOfControl: ReadonlySet<string> = new Set(['written']);

/** The line of one node. */
export function nodeToString(node: GraphNode, labels: VariableLabels): string {
  const { what, type, inputs, outputs } = node;
  const result = outputs.length === 0 ? '' : `${outputs.map(definition).join(', ')} = `;
  const read = what.kind === 'variable' ? [labels.of(what.variable)] : inputs.map(reference);
  const attrs: string[] = [];
  if (what.kind === 'constant') attrs.push(`value: ${showConstant(what.tensor)}`);
  if (what.kind === 'size') attrs.push('value: ?');
  if (what.kind === 'update')
    attrs.push(`writes: [${what.written.map((variable) => labels.of(variable)).join(', ')}]`);
  // Those of arguments, constants and variables are the type that stands before them.
  if (what.kind === 'op' || what.kind === 'update') {
    for (const [name, value] of Object.entries(node.attrs))
      if (value !== undefined && (bodiesOf(node).length === 0 || showsOfControl.has(name)))
        attrs.push(`${name}: ${showAttr(value, labels, 0)}`);
  }
  return `${result}${type}(${read.join(', ')})${attrs.length === 0 ? '' : ` {${attrs.join(', ')}}`}`;
}

/** `float32[2,3]`; `?` stands for any size, `float32<unknown>` has any rank. */
export function showType(value: Pick<GraphValue, 'dtype' | 'shape'>): string {
  const { dtype, shape } = value;
  if (isUnknownRank(value)) return `${dtype}<unknown>`;
  return `${dtype}[${partialShape(shape)
    .map((d) => d ?? '?')
    .join(',')}]`;
}

function reference({ node, index }: GraphValue): string {
  return node.outputs.length === 1 ? `%${node.name}` : `%${node.name}:${index}`;
}

function definition(value: GraphValue): string {
  return `${reference(value)}: ${showType(value)}`;
}

/** What variables are called in texts of a graph: their names, numbered where several have the same. */
export class VariableLabels {
  readonly #labels = new Map<Variable, string>();
  readonly #taken = new Map<string, number>();

  /** Variables are numbered in the order in which the graph reads them. */
  constructor(graph: Graph) {
    for (const { what } of graph.nodes) if (what.kind === 'variable') this.of(what.variable);
  }

  /** `'dense/kernel'`, and `'Variable'#2` for the second of that name. */
  of(variable: Variable): string {
    let label = this.#labels.get(variable);
    if (label === undefined) {
      const count = (this.#taken.get(variable.path) ?? 0) + 1;
      this.#taken.set(variable.path, count);
      label = `'${variable.path}'${count === 1 ? '' : `#${count}`}`;
      this.#labels.set(variable, label);
    }
    return label;
  }
}

function showAttr(value: unknown, labels: VariableLabels, depth: number): string {
  if (typeof value === 'number') return showNumber(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return value.name === '' ? '<function>' : `<function ${value.name}>`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof DimExpr) return '?';
  if (value instanceof Variable) return labels.of(value);
  if (isTyped(value)) return `<${showType(value)}>`;
  if (Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))) {
    if (depth >= DEEPEST) return '[…]';
    const items: readonly unknown[] = Array.isArray(value)
      ? dimsOf(value)
      : Array.from(value as unknown as ArrayLike<unknown>);
    return showList(items, (item) => showAttr(item, labels, depth + 1));
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const { constructor } = value;
    return typeof constructor === 'function' && constructor.name !== ''
      ? `<${constructor.name}>`
      : '<object>';
  }
  if (depth >= DEEPEST) return '{…}';
  const fields = Object.entries(value).map(([name, item]) => `${name}: ${showAttr(item, labels, depth + 1)}`);
  return `{${fields.join(', ')}}`;
}

/** Tensors, and what else has a dtype and a shape. */
function isTyped(value: object): value is Pick<GraphValue, 'dtype' | 'shape'> {
  return (
    'dtype' in value && typeof value.dtype === 'string' && 'shape' in value && Array.isArray(value.shape)
  );
}

function showList<T>(items: readonly T[], show: (item: T) => string): string {
  const shown = items.slice(0, LONGEST).map(show);
  if (items.length > LONGEST) shown.push('…');
  return `[${shown.join(', ')}]`;
}

function showNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** The first elements of a constant, flat. */
function showConstant(tensor: Tensor): string {
  const show = (value: number | bigint | string): string => {
    if (typeof value === 'string') return JSON.stringify(value);
    if (tensor.dtype === 'bool') return String(value !== 0);
    if (typeof value === 'bigint') return String(value);
    return !isFloating(tensor.dtype) ? showNumber(value) : showFloat(value, tensor.dtype);
  };
  const values: (number | bigint | string)[] =
    tensor.dtype === 'string'
      ? tensor.strings().slice(0, LONGEST + 1)
      : Array.from<number | bigint>(hostValues(tensor).subarray(0, LONGEST + 1));
  if (isComplex(tensor.dtype)) return showComplex(tensor, tensor.dtype);
  return tensor.shape.length === 0 && values.length > 0 ? show(values[0]) : showList(values, show);
}

function showComplex(tensor: Tensor, dtype: ComplexDType): string {
  const parts = hostValues(tensor).subarray(0, 2 * (LONGEST + 1)) as Float32Array;
  const numbers = Array.from({ length: parts.length / 2 }, (_, i) => complexAt(parts, i));
  const part = (value: number): string => showFloat(value, partsOf(dtype));
  const show = (value: Complex): string => complexText(value, part);
  return tensor.shape.length === 0 ? show(numbers[0]) : showList(numbers, show);
}

/** With as few digits as tell it from others of the dtype. */
function showFloat(value: number, dtype: DType): string {
  for (let digits = 1; value !== 0 && digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (roundingTo(dtype)(short) === value) return showNumber(short);
  }
  return showNumber(value);
}
