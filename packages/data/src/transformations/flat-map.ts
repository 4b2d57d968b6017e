// `flatMap` and `interleave`: datasets made for each element.
import { InvalidArgumentError } from '@eagre/backend';
import { type Element, isDataset } from '../elements/structure.ts';
import { argumentsOf, ofItems, type SignatureOptions } from '../pipeline/element-function.ts';
import {
  type Awaitable,
  after,
  type DatasetNode,
  type ElementIterator,
  type IterationContext,
} from '../pipeline/iterator.ts';
import { UnaryNode } from '../pipeline/node.ts';
import {
  AUTOTUNE,
  type Count,
  checkCount,
  checkParallel,
  inOrder,
  plainNumber,
  UNKNOWN_CARDINALITY,
} from '../pipeline/options.ts';
import { conformNode } from './conform.ts';
import { dividedInput } from './divided-input.ts';
import { InterleaveIterator } from './interleave-iterator.ts';

/** Options of `interleave`. */
export interface InterleaveOptions extends SignatureOptions {
  /** How many datasets are read from at a time; 16 unless set, also for AUTOTUNE. */
  readonly cycleLength?: Count;
  /** How many elements are taken from one before the next; 1 unless set. */
  readonly blockLength?: Count;
  /**
   * From how many of the datasets elements are asked for at once, where they have to be waited for: up to `blockLength` of each are kept
   * ready. At most `cycleLength`, which AUTOTUNE is; 1 unless set. What nobody has to wait for is not asked for ahead.
   */
  readonly numParallelCalls?: Count;
  /** With false, elements of parallel calls come as they are ready. Otherwise as `withOptions` says: in turn, unless it says otherwise. */
  readonly deterministic?: boolean;
}

type DatasetFn = (...args: never[]) => unknown;
const CYCLE = 16;

export class InterleaveNode extends UnaryNode {
  readonly kind: 'FlatMap' | 'Interleave';
  readonly #fn: DatasetFn;
  readonly #cycle: number;
  readonly #block: number;
  readonly #parallel: number;
  readonly #deterministic: boolean | undefined;
  readonly #what: string;

  constructor(input: DatasetNode, fn: DatasetFn, options: InterleaveOptions, kind: 'FlatMap' | 'Interleave') {
    const what = kind === 'FlatMap' ? 'Dataset.flatMap' : 'Dataset.interleave';
    if (typeof fn !== 'function')
      throw new InvalidArgumentError(`expected a function, got ${typeof fn}`, what);
    super(input, options.outputSignature ?? null);
    this.kind = kind;
    this.#fn = ofItems(fn);
    this.#what = what;
    const { cycleLength = AUTOTUNE, numParallelCalls = 1 } = options;
    // Without a length of its own the cycle is long enough for the calls that are wanted.
    const calls = plainNumber(numParallelCalls);
    const chosen = typeof calls === 'number' ? Math.max(CYCLE, calls) : CYCLE;
    this.#cycle = checkParallel(cycleLength, 'cycleLength', what, chosen);
    this.#block = checkCount(options.blockLength ?? 1, 'blockLength', what);
    this.#parallel = checkParallel(numParallelCalls, 'numParallelCalls', what, this.#cycle);
    if (this.#parallel > this.#cycle)
      throw new InvalidArgumentError(
        `numParallelCalls must be AUTOTUNE or at most cycleLength, got ${calls} for a cycleLength of ${this.#cycle}`,
        what,
      );
    this.#deterministic = options.deterministic;
  }

  /** The dataset that its function makes of an element, where nothing has to be waited for; null elsewhere. */
  made(element: Element): DatasetNode | null {
    const made = (this.#fn as unknown as (...a: readonly Element[]) => unknown)(...argumentsOf(element));
    // The function is called again when elements are read, and tells of its error then.
    if (made instanceof Promise) made.catch(() => {});
    return isDataset(made) ? made.node : null;
  }

  override cardinality(): number {
    return this.input.cardinality() === 0 ? 0 : UNKNOWN_CARDINALITY;
  }

  iterate(context: IterationContext): ElementIterator {
    const make = (element: Element): Awaitable<DatasetNode> =>
      after(
        (this.#fn as unknown as (...a: readonly Element[]) => unknown)(...argumentsOf(element)),
        (made) => {
          if (!isDataset(made))
            throw new InvalidArgumentError('the function must return a dataset', this.#what);
          return conformNode(made.node, this.spec, this.#what);
        },
      );
    const input = dividedInput(this, this.input, context);
    return new InterleaveIterator(input.iterate(context), make, context, {
      cycle: this.#cycle,
      block: this.#block,
      parallel: this.#parallel,
      deterministic: inOrder(this.#deterministic, context.options),
    });
  }
}
