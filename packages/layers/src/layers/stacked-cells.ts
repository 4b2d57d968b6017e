import { type PartialShape, type Tensor, zeros } from '@eagre/core';
import {
  argumentsOf,
  type Dim,
  defineMethods,
  dims,
  isPlain,
  takesArguments,
  toShape,
} from '@eagre/core/internal';
import { builtin, type CallOptions, Layer, type LayerOptions } from '../layer.ts';
import { takesCall } from '../own-call.ts';
import { deserializeLayer, serializeLayer } from '../serialization.ts';
import {
  cellCall,
  checkStates,
  outputSize,
  presentStep,
  type RecurrentCell,
  runCell,
  stateSizes,
  zeroStates,
} from './cell.ts';
import { type Config, fail, floats, shapeOf, sizesOf } from './common.ts';
import { layerOptions } from './weights.ts';

/** All arguments of `StackedRNNCells`, by name. */
export interface StackedRNNCellsArguments extends LayerOptions {
  readonly cells: readonly RecurrentCell[];
}

/** Cells one after the other, each step through all of them. Its states are those of the first cell, then the second's, … */
export class StackedRNNCells extends Layer {
  readonly cells: readonly RecurrentCell[];

  constructor(cells: readonly RecurrentCell[] | StackedRNNCellsArguments, options?: LayerOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<StackedRNNCellsArguments>(StackedRNNCells, new.target, args);
    super(options);
    const { cells } = options;
    const isCell = (cell: unknown): boolean =>
      !isPlain(cell) && cell instanceof Layer && (cell as RecurrentCell).stateSize !== undefined;
    if (!Array.isArray(cells) || cells.length === 0 || !cells.every(isCell))
      fail(this, 'needs a list of cells, which are layers with a stateSize');
    this.cells = [...(cells as readonly RecurrentCell[])];
  }
  get stateSize(): readonly number[] {
    return this.cells.flatMap(stateSizes);
  }
  get outputSize(): number {
    return outputSize(this.cells.at(-1) as RecurrentCell);
  }
  /** The states of all cells before the first step, zeros. @throws InvalidArgumentError for what is no batch size */
  getInitialState(batchSize: number | { readonly batchSize: number }): Tensor[];
  getInitialState(batchSize: number): Tensor[] {
    return zeroStates(this, batchSize, this.stateSize);
  }
  override build(inputShape: PartialShape): void {
    let shape: PartialShape = inputShape;
    const [batch = null] = sizesOf(shape);
    for (const cell of this.cells) {
      cell.ensureBuilt(shape);
      shape = shapeOf([batch, outputSize(cell)]);
    }
  }
  override call(inputs: Tensor, { training, states, masks }: CallOptions): readonly Tensor[] {
    let x = floats(this, inputs);
    const batch = dims(x)[0] as Dim;
    const given =
      (states as readonly Tensor[] | undefined) ??
      this.stateSize.map((n) => zeros(toShape([batch, n]), { dtype: this.dtype }));
    checkStates(this, given, batch, this.stateSize);
    const next: Tensor[] = [];
    this.cells.forEach((cell, i) => {
      const n = stateSizes(cell).length;
      const own = given.slice(next.length, next.length + n);
      const mask = (masks as readonly unknown[] | undefined)?.[i];
      const [y, ...after] = runCell(cell, x, own, { training: training ?? false, masks: mask });
      x = y as Tensor;
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
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), cells: this.cells.map(serializeLayer) };
  }
  static override fromConfig({ cells, ...options }: Config): StackedRNNCells {
    return new StackedRNNCells(
      (cells as unknown[]).map((cell) => deserializeLayer(cell)) as RecurrentCell[],
      options,
    );
  }
}
builtin(StackedRNNCells);
defineMethods(StackedRNNCells.prototype, 'StackedRNNCells', {
  getInitialState: { positional: ['batchSize'] },
});
takesCall(cellCall, StackedRNNCells);
takesArguments<StackedRNNCellsArguments>(
  { positional: ['cells'], names: { cells: true, ...layerOptions } },
  StackedRNNCells,
);
