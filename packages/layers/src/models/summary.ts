import { dtypeTraits } from '@eagre/backend';
import { InvalidArgumentError, type PartialShape, type Variable } from '@eagre/core';
import {
  checkCount,
  checkFlag,
  checkFunction,
  checkOptionNames,
  type OptionNames,
  shown,
  showShape,
} from '@eagre/core/internal';
import { type Layer, specsOf } from '../layer/layer.ts';
import { isCompiled } from '../trainers/compile.ts';
import { kerasOperation } from './keras-operations.ts';
import type { KerasTensor, Producer } from './keras-tensor.ts';
import type { Model } from './model.ts';
import { Operation } from './operations.ts';
import { fittedWidths, tableLines } from './text-table.ts';

/** Options of `model.summary`. */
export interface SummaryOptions {
  /** The width of the table; as wide as the terminal, and at most 88, or 108 with the column of connections, unless given. */
  readonly lineLength?: number | null;
  /** Where the columns end, as fractions of the width. */
  readonly positions?: readonly number[] | null;
  /** Gets each line; `console.log` unless given. */
  readonly printFn?: ((line: string) => void) | null;
  /** Also the layers of models inside. */
  readonly expandNested?: boolean;
  /** A column that tells whether a layer is trained. */
  readonly showTrainable?: boolean;
  /** The names of the first and the last layer to be shown, or regular expressions for them. */
  readonly layerRange?: readonly [first: string, last: string] | null;
}

export const summaryOptionNames: OptionNames<SummaryOptions> = {
  lineLength: true,
  positions: true,
  printFn: true,
  expandNested: true,
  showTrainable: true,
  layerRange: true,
};

const LONGEST_LINE = 10_000;
const NARROWEST = 4;
const TERMINAL = 80;

/** Prints a table of the layers: name and class, output shape, parameters, connections; then the totals. */
export function summary(model: Model, options: SummaryOptions): void {
  checkOptionNames(options, summaryOptionNames, 'Model.summary');
  const print = options.printFn ?? ((line: string) => console.log(line));
  checkFunction(print, 'printFn', 'summary');
  const expandNested = checkFlag(options.expandNested, 'expandNested', 'summary');
  const showTrainable = checkFlag(options.showTrainable, 'showTrainable', 'summary');
  const connected = model._graph !== undefined && !isChain(model);

  const titles = ['Layer (type)', 'Output Shape', 'Param #', ...(connected ? ['Connected to'] : [])];
  let positions: readonly number[] = options.positions ?? (connected ? [0.3, 0.56, 0.74, 1] : [0.45, 0.8, 1]);
  if (showTrainable) {
    titles.push('Trainable');
    positions = [...positions.map((p) => p * 0.9), 1];
  }
  const longest = (connected ? 108 : 88) + (showTrainable ? 12 : 0);
  const columns = globalThis.process?.stdout?.columns || TERMINAL;
  const lineLength = options.lineLength ?? Math.min(longest, columns - 4);
  const widths = widthsOf(positions, lineLength, titles.length);

  const rowOf = (layer: Layer, inside: Model, depth: number): string[] => {
    const before = depth === 0 ? '' : `${'   '.repeat(depth)}└ `;
    const row = [`${before}${layer.name} (${classOf(layer)})`, shapeOf(layer, inside), count(layer)];
    if (connected) row.push((depth === 0 && connections(layer, model)) || '-');
    if (showTrainable) row.push(layer.weights.length === 0 ? '-' : layer.trainable ? 'Y' : 'N');
    return row;
  };
  const rowsOf = (layer: Layer, inside: Model, depth: number): string[][] => {
    const inner = expandNested && 'layers' in layer ? (layer as Model).layers : [];
    return [rowOf(layer, inside, depth), ...inner.flatMap((one) => rowsOf(one, layer as Model, depth + 1))];
  };
  const rows = inRange(model.operations, options.layerRange ?? undefined).flatMap((l) => rowsOf(l, model, 0));
  const align = (title: string): 'left' | 'right' | 'center' =>
    title === 'Param #' ? 'right' : title === 'Trainable' ? 'center' : 'left';
  print(`Model: "${printable(model.name)}"`);
  for (const line of tableLines(
    titles.map((title, i) => ({ title, align: align(title), width: widths[i] })),
    rows.map((row) => row.map(printable)),
  ))
    print(line);

  const trained = model.trainableVariables;
  const others = model.nonTrainableWeights;
  const optimizer = isCompiled(model) && model.optimizer.built ? model.optimizer.variables : [];
  print(` Total params: ${sizes([...trained, ...others, ...optimizer])}`);
  print(` Trainable params: ${sizes(trained)}`);
  print(` Non-trainable params: ${sizes(others)}`);
  if (optimizer.length > 0) print(` Optimizer params: ${sizes(optimizer)}`);
}

/** A text without what moves the cursor or changes colours. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '\ufffd');
}

/** @throws InvalidArgumentError for a table that cannot be that wide */
function widthsOf(positions: readonly number[], lineLength: number, columns: number): number[] {
  checkCount(lineLength, 'lineLength', 'summary', 1);
  if (lineLength > LONGEST_LINE)
    throw new InvalidArgumentError(
      `lineLength is ${lineLength}; lines have at most ${LONGEST_LINE}`,
      'summary',
    );
  if (
    !Array.isArray(positions) ||
    positions.length !== columns ||
    !positions.every((p) => typeof p === 'number')
  )
    throw new InvalidArgumentError(
      `positions must be the ends of ${columns} columns, got ${shown(positions)}`,
      'summary',
    );
  let end = 0;
  const widths = positions.map((position) => {
    const width = Math.trunc(position * lineLength) - end;
    end += width;
    return width;
  });
  if (widths.some((width) => width < NARROWEST))
    throw new InvalidArgumentError(
      `a table of lineLength ${lineLength} is too narrow for ${columns} columns`,
      'summary',
    );
  return fittedWidths(widths, lineLength);
}

/** Whether the layers of a functional model are one after another, each called once. */
function isChain(model: Model): boolean {
  const { calls, inputs } = model.described;
  const seen = new Set<unknown>();
  return (
    inputs.length === 1 &&
    calls.every((call) => {
      const given = inputsOf(call);
      const before = given[0]?.producer ?? 'input';
      const fresh = given.length === 1 && !seen.has(before) && !seen.has(call.layer);
      seen.add(before).add(call.layer);
      return fresh;
    })
  );
}

/** The symbolic tensors that a layer was called with; a call of an op has the first of them twice. */
export function inputsOf({ layer, inputs }: Producer): readonly KerasTensor[] {
  return layer instanceof Operation ? inputs.slice(1) : inputs;
}

/** What a layer is called with in a model: `dense[0][0]` is the first output of the first call of `dense`. */
function connections(layer: Layer, model: Model): string {
  const { calls } = model.described;
  return layer._layer.calls
    .filter((call) => calls.includes(call))
    .flatMap(inputsOf)
    .map((t) => {
      const { producer } = t;
      if (producer === null) return `${t.name}[0][0]`;
      return `${producer.layer.name}[${producer.layer._layer.calls.indexOf(producer)}][${producer.outputs.indexOf(t)}]`;
    })
    .join(', ');
}

/** The layers from the first that fits one expression to the last that fits the other. */
function inRange(layers: readonly Layer[], range: readonly [string, string] | undefined): readonly Layer[] {
  if (range === undefined) return layers;
  if (!Array.isArray(range) || range.length !== 2 || !range.every((name) => typeof name === 'string'))
    throw new InvalidArgumentError(`layerRange must be two names of layers, got ${shown(range)}`, 'summary');
  const [first, last] = range.map((name) => {
    const pattern = expression(name);
    const found = layers.flatMap((layer, i) => (layer.name === name || pattern?.test(layer.name) ? [i] : []));
    if (found.length === 0)
      throw new InvalidArgumentError(`layerRange: no layer has the name '${name}'`, 'summary');
    return found;
  });
  const [from, to] = [Math.min(...first), Math.max(...last)];
  return from > to ? layers.slice(Math.min(...last), Math.max(...first) + 1) : layers.slice(from, to + 1);
}

function expression(text: string): RegExp | undefined {
  try {
    return new RegExp(`^(?:${text})`);
  } catch {
    return undefined;
  }
}

/** Keras's name of the class; of an op its own. */
export function classOf(layer: Layer): string {
  if (layer instanceof Operation) return kerasOperation(layer.op)?.className ?? layer.op;
  return layer.kerasNames.class_name ?? layer.constructor.name;
}

function shapeOf(layer: Layer, inside: Model): string {
  const shapes = outputShapes(layer, inside);
  if (shapes === undefined) return '?';
  return shapes.length === 1
    ? showShape(shapes[0])
    : `[${shapes.map((shape) => showShape(shape)).join(', ')}]`;
}

/** The shapes of a layer's outputs: as it was last described, or else for what it was built. */
export function outputShapes(layer: Layer, inside: Model): readonly PartialShape[] | undefined {
  const chain = '_sequence' in inside ? (inside._sequence as { layers: readonly Layer[] }).layers : [];
  if (chain.includes(layer)) return inSequence(chain, inside.knownInputShape, layer);
  const call = layer._layer.calls.at(-1);
  if (call !== undefined) return call.outputs.map((t) => t.shape);
  const { shape } = layer._layer;
  return Array.isArray(shape) ? computed(layer, shape as PartialShape) : undefined;
}

/** The shape behind a layer of a sequence, from the input on. */
function inSequence(
  chain: readonly Layer[],
  input: PartialShape | undefined,
  layer: Layer,
): readonly PartialShape[] | undefined {
  let shape = input;
  for (const one of chain) {
    shape = shape && computed(one, shape)?.[0];
    if (one === layer) break;
  }
  return shape && [shape];
}

function computed(layer: Layer, shape: PartialShape): readonly PartialShape[] | undefined {
  try {
    return specsOf(layer.computeOutputShape(shape), layer.computeDtype).list.map((spec) => spec.shape);
  } catch {
    // A custom layer may not accept the stand-in for an unknown dimension; the table then says so.
    return undefined;
  }
}

function count(layer: Layer): string {
  return layer.awaitsBuild ? '0 (unbuilt)' : group(layer.weights.reduce((n, w) => n + w.size, 0));
}

/** How many numbers, and how much memory: `1,024 (4.00 KB)`. */
function sizes(variables: readonly Variable[]): string {
  const numbers = variables.reduce((n, v) => n + v.size, 0);
  let size = variables.reduce((n, v) => n + v.size * dtypeTraits[v.dtype].bytes, 0);
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  while (size >= 1024 && units.length > 1) {
    size /= 1024;
    units.shift();
  }
  return `${group(numbers)} (${size.toFixed(2)} ${units[0]})`;
}

/** `1234567` as `1,234,567`. */
function group(n: number): string {
  return n.toLocaleString('en-US');
}
