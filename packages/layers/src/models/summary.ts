import { InvalidArgumentError, type PartialShape } from '@eagre/core';
import { checkCount, checkFunction, type OptionNames, showShape } from '@eagre/core/internal';
import type { Layer } from '../layer/layer.ts';
import type { Model } from './model.ts';

export interface SummaryOptions {
  /** Gets each line; `console.log` unless given. */
  readonly print?: (line: string) => void;
  /** Width of the table; 72 unless given. */
  readonly lineLength?: number;
}

export const summaryOptionNames: OptionNames<SummaryOptions> = { print: true, lineLength: true };

const LONGEST_LINE = 10_000;

/** Prints a table of the layers: name and class, output shape, parameters; then the totals. */
export function summary(model: Model, options: SummaryOptions = {}): void {
  const { print = (line: string) => console.log(line), lineLength = 72 } = options;
  checkFunction(print, 'print', 'summary');
  checkCount(lineLength, 'lineLength', 'summary', 1);
  if (lineLength > LONGEST_LINE)
    throw new InvalidArgumentError(
      `lineLength is ${lineLength}; lines have at most ${LONGEST_LINE}`,
      'summary',
    );
  const widths = [Math.floor(lineLength * 0.45), Math.floor(lineLength * 0.35), 0];
  widths[2] = lineLength - widths[0] - widths[1];
  const row = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => cell.slice(0, widths[i] - 1).padEnd(widths[i]))
      .join('')
      .trimEnd();
  print(`Model: "${model.name}"`);
  print('─'.repeat(lineLength));
  print(row(['Layer (type)', 'Output Shape', 'Param #']));
  print('═'.repeat(lineLength));
  let shape: PartialShape | undefined = model.knownInputShape;
  const chain = '_sequence' in model ? (model._sequence as { layers: readonly Layer[] }).layers : [];
  for (const layer of model.layers) {
    const chained = chain.includes(layer);
    const output = chained ? shape && outputShape(layer, shape) : model._graph?.shapeOf(layer);
    if (chained) shape = output;
    print(
      row([
        `${layer.name} (${layer.constructor.name})`,
        output === undefined ? '?' : showShape(output),
        count(layer),
      ]),
    );
  }
  print('─'.repeat(lineLength));
  const weights = model.namedWeights;
  const sum = (which: boolean | null): number =>
    weights.filter((w) => which === null || w.trainable === which).reduce((n, w) => n + w.variable.size, 0);
  print(`Total params: ${group(sum(null))}`);
  print(`Trainable params: ${group(sum(true))}`);
  print(`Non-trainable params: ${group(sum(false))}`);
}

function count(layer: Layer): string {
  return layer.awaitsBuild ? '0 (unbuilt)' : group(layer.weights.reduce((n, w) => n + w.size, 0));
}

function outputShape(layer: Layer, shape: PartialShape): PartialShape | undefined {
  try {
    return layer.computeOutputShape(shape);
  } catch {
    // A custom layer may not accept the stand-in for an unknown dimension; the table then says so.
    return undefined;
  }
}

/** `1234567` as `1,234,567`. */
function group(n: number): string {
  return n.toLocaleString('en-US');
}
