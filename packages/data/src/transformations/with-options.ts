// `withOptions`: what holds for a pipeline.

import type { Options } from '../pipeline/dataset-options.ts';
import type { DatasetNode, ElementIterator, IterationContext, RowAccess } from '../pipeline/iterator.ts';
import { UnaryNode } from '../pipeline/node.ts';
import { checkOptions, type DatasetOptions } from '../pipeline/options.ts';

/** Options for the pipeline up to here. */
export class OptionsNode extends UnaryNode {
  readonly kind = 'Options';
  /** Options that hold for the pipeline up to here. */
  readonly options: DatasetOptions;

  constructor(input: DatasetNode, options: DatasetOptions | Options) {
    super(input);
    this.options = checkOptions(options);
  }

  rows(): RowAccess | null {
    return this.input.rows?.() ?? null;
  }

  iterate(context: IterationContext): ElementIterator {
    return this.input.iterate(context);
  }
}
