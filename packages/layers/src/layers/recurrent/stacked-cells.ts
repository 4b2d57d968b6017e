import type { PartialShape, Tensor } from '@eagre/core';
import {
  argumentsOf,
  type Dim,
  defineMethods,
  dims,
  isPlain,
  type Option,
  takesOptions,
} from '@eagre/core/internal';
import {
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerOptions,
  ownsTemporaries,
} from '../../layer/layer.ts';
import { takesCall } from '../../layer/own-call.ts';
import { deserializeLayer, serializeLayer } from '../../saving/serialization.ts';
import { fail, floats, shapeOf, sizesOf } from '../common.ts';
import { layerOptions } from '../weights.ts';
import {
  cellCall,
  checkStates,
  initialStates,
  outputSize,
  presentStep,
  type RecurrentCell,
  runCell,
  stateShapes,
  stateSizes,
  zeroStates,
} from './cell.ts';

/** All arguments of `StackedRNNCells`, by name. */
export interface StackedRNNCellsArguments extends LayerOptions {
  /** The cells, from that of the input to that of the output. */
  readonly cells: readonly RecurrentCell[];
}

/** Cells one after the other, each step through all of them. Its states are those of the first cell, then the second's, … */
export class StackedRNNCells extends Layer {
  declare static readonly fromConfig: FromConfig<StackedRNNCells>;
  /** The cells, from that of the input to that of the output. */
  declare readonly cells: readonly RecurrentCell[];

  constructor(...args: [cells: readonly RecurrentCell[] | StackedRNNCellsArguments, options?: LayerOptions]) {
    super(argumentsOf<StackedRNNCellsArguments>(StackedRNNCells, new.target, args));
  }
  get stateSize(): readonly number[] {
    return this.cells.flatMap(stateSizes);
  }
  get outputSize(): number {
    return outputSize(this.cells.at(-1) as RecurrentCell);
  }
  /** The states of all cells before the first step, zeros. @throws InvalidArgumentError for what is no batch size */
  getInitialState(
    batchSize:
      | number
      | {
          /** How many examples the states are for. */
          readonly batchSize: number;
        },
  ): Tensor[];
  getInitialState(batchSize: number): Tensor[] {
    return initialStates(this, this, batchSize);
  }
  override build(inputShape: PartialShape): void {
    let shape: PartialShape = inputShape;
    const [batch = null] = sizesOf(shape);
    for (const cell of this.cells) {
      cell.ensureBuilt(shape);
      shape = shapeOf([batch, outputSize(cell)]);
    }
  }
  override call(inputs: Tensor, { training, states, masks }: CallOptions = {}): readonly Tensor[] {
    let x = floats(this, inputs);
    const batch = dims(x)[0];
    const shapes = stateShapes(this, batch);
    const given = (states as readonly Tensor[] | undefined) ?? zeroStates(this, shapes);
    checkStates(this, given, shapes);
    const next: Tensor[] = [];
    this.cells.forEach((cell, i) => {
      const n = stateSizes(cell).length;
      const own = given.slice(next.length, next.length + n);
      const mask = (masks as readonly unknown[] | undefined)?.[i];
      const [y, ...after] = runCell(cell, x, own, { training: training ?? false, masks: mask });
      x = y;
      next.push(...after);
    });
    return [x, ...next];
  }
  /** @internal */
  override present(result: Tensor, args: readonly unknown[]): unknown {
    return presentStep(result, args);
  }
  /** @internal */
  masks(batch: Dim, features: Dim): unknown[] {
    let n = features;
    return this.cells.map((cell) => {
      const own = cell.masks?.(batch, n);
      n = outputSize(cell);
      return own;
    });
  }
}
ownsTemporaries(StackedRNNCells);

/** @internal The states of a cell as users get them: those of stacked cells in a list for each cell with several. */
export function nestedStates<T>(cell: RecurrentCell, states: readonly T[]): readonly unknown[] {
  if (!(cell instanceof StackedRNNCells)) return states;
  let from = 0;
  return cell.cells.map((one) => {
    const own = states.slice(from, (from += stateSizes(one).length));
    return Array.isArray(one.stateSize) ? nestedStates(one, own) : own[0];
  });
}
defineMethods(StackedRNNCells.prototype, 'StackedRNNCells', {
  getInitialState: { positional: ['batchSize'] },
});
takesCall(cellCall, StackedRNNCells);

const cells: Option<readonly RecurrentCell[]> = {
  read: (given, _, layer) => {
    const list = Array.isArray(given)
      ? given.map((c: unknown) => (isPlain(c) ? deserializeLayer(c) : c))
      : [];
    const isCell = (cell: unknown): boolean =>
      !isPlain(cell) && cell instanceof Layer && (cell as RecurrentCell).stateSize !== undefined;
    if (list.length === 0 || !list.every(isCell))
      fail(layer as Layer, 'needs a list of cells, which are layers with a stateSize');
    return list as RecurrentCell[];
  },
  write: (value) => value.map(serializeLayer),
};
takesOptions<StackedRNNCellsArguments, StackedRNNCells>(
  { positional: ['cells'], options: { cells, ...layerOptions } },
  StackedRNNCells,
);
