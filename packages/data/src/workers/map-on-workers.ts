import { InvalidArgumentError } from '@eagre/backend';
import type { NamedFunction, Tensor } from '@eagre/core';
import { type Arguments, defineFunction, kind } from '@eagre/core/internal';
import { conform, type ElementSpec } from '../elements/element-spec.ts';
import { type Element, type ElementOf, mapLeaves, tensorsOf, toElement } from '../elements/structure.ts';
import { Dataset } from '../pipeline/dataset.ts';
import {
  type Awaitable,
  after,
  type DatasetNode,
  ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
} from '../pipeline/iterator.ts';
import { UnaryNode } from '../pipeline/node.ts';
import { AUTOTUNE, checkParallel } from '../pipeline/options.ts';
import { MapNode } from '../transformations/map.ts';
import { WorkerPool } from './worker-pool.ts';

/** A function in a module that threads can import. */
export interface WorkerFunction {
  /** The module: `new URL('./work.js', import.meta.url)`. */
  readonly worker: URL;
  /** The name under which the module exports the function. */
  readonly export: string;
}

/** Options of {@link mapOnWorkers}. */
export interface WorkerMapOptions {
  /** Threads, and elements that are under way at once. Default: AUTOTUNE, one per processor but one. */
  readonly numParallelCalls?: number | undefined;
  /** Whether elements stay in order. Default: as the dataset's options say, true. */
  readonly deterministic?: boolean | undefined;
  /** Dtypes and shapes of the results. Without it, numbers become float32. */
  readonly outputSignature?: ElementSpec | undefined;
}

/** A tensor as a function on a thread gets it. */
export type WorkerArray =
  | { readonly data: Float32Array; readonly shape: readonly number[]; readonly dtype: 'float32' }
  | { readonly data: Float64Array; readonly shape: readonly number[]; readonly dtype: 'float64' }
  | { readonly data: Int32Array; readonly shape: readonly number[]; readonly dtype: 'int32' }
  | { readonly data: BigInt64Array; readonly shape: readonly number[]; readonly dtype: 'int64' }
  | { readonly data: Uint8Array; readonly shape: readonly number[]; readonly dtype: 'uint8' | 'bool' }
  | { readonly data: readonly string[]; readonly shape: readonly number[]; readonly dtype: 'string' };

/**
 * Maps elements by a function that runs on other threads, several elements at once and beside the main thread. The function is one that
 * a module exports, since what a closure holds cannot be sent: it gets each tensor as `{ data, shape, dtype }` and returns values
 * for tensors (arrays, typed arrays, `{ data, shape, dtype }`), in arrays and objects, or a promise of them. It should be pure:
 * a restored pass calls it again for elements that were under way.
 *
 * The threads start with a pass and end with it, and need `for await`. An error of the function is the error of its element,
 * with its message and stack as `cause`.
 */
export const mapOnWorkers: <R = Element>(
  ...args: Arguments<[dataset: Dataset<unknown>, work: WorkerFunction], ['dataset', 'work'], WorkerMapOptions>
) => Dataset<ElementOf<R>> = defineFunction<
  NamedFunction<
    [dataset: Dataset<unknown>, work: WorkerFunction],
    ['dataset', 'work'],
    WorkerMapOptions,
    Dataset<unknown>
  >
>(
  'tf.data.mapOnWorkers',
  { dataset: true, work: kind.structure },
  { numParallelCalls: true, deterministic: true, outputSignature: true },
  (dataset, work, options) => {
    const what = 'mapOnWorkers';
    if (!(work?.worker instanceof URL) || typeof work.export !== 'string')
      throw new InvalidArgumentError(
        "give { worker: new URL('./work.js', import.meta.url), export: 'name' }",
        what,
      );
    return new Dataset<unknown>(new WorkerMapNode(dataset.node, work, options, what));
  },
) as never;

class WorkerMapNode extends UnaryNode {
  readonly kind = 'WorkerMap';
  readonly #work: WorkerFunction;
  readonly #options: WorkerMapOptions;
  readonly #threads: number;
  readonly #what: string;

  constructor(input: DatasetNode, work: WorkerFunction, options: WorkerMapOptions, what: string) {
    super(input, options.outputSignature ?? null);
    const { numParallelCalls = AUTOTUNE } = options;
    const processors = process.getBuiltinModule('node:os').availableParallelism();
    this.#threads = checkParallel(numParallelCalls, 'numParallelCalls', what, Math.max(1, processors - 1));
    this.#work = work;
    this.#options = options;
    this.#what = what;
  }

  iterate(context: IterationContext): ElementIterator {
    const pool = new WorkerPool(this.#work.worker, this.#work.export, this.#threads, this.#what);
    const { deterministic, outputSignature } = this.#options;
    const call = async (...args: readonly Element[]): Promise<Element> => {
      const transfer: ArrayBuffer[] = [];
      const value = await pool.call(
        args.map((arg) => toPlain(arg, transfer, this.#what)),
        transfer,
      );
      return outputSignature === undefined
        ? toElement(value, this.#what)
        : conform(value, outputSignature, this.#what);
    };
    const map = new MapNode(this.input, call, {
      numParallelCalls: this.#threads,
      runEagerly: true,
      isFresh: true,
      ...(deterministic !== undefined && { deterministic }),
    });
    return new WorkerMapIterator(map.iterate(context), pool);
  }
}

/** An element without tensors. Their values are copied once, and then moved. */
function toPlain(element: Element, transfer: ArrayBuffer[], what: string): unknown {
  tensorsOf(element, what);
  return mapLeaves(element, (leaf) => {
    const tensor = leaf as Tensor;
    const { dtype, shape } = tensor;
    if (dtype === 'string') return { data: tensor.strings(), shape, dtype };
    const data = tensor.data();
    if (data.buffer instanceof ArrayBuffer && data.byteLength === data.buffer.byteLength)
      transfer.push(data.buffer);
    return { data, shape, dtype };
  });
}

class WorkerMapIterator extends ElementIterator {
  override readonly ownsElements = true;
  readonly #map: ElementIterator;
  readonly #pool: WorkerPool;

  constructor(map: ElementIterator, pool: WorkerPool) {
    super();
    this.#map = map;
    this.#pool = pool;
  }

  next(): Awaitable<Step> {
    return after(this.#map.next(), (step) => {
      if (step === END) void this.#pool.close();
      return step;
    });
  }

  saveState(): State {
    return this.#map.saveState();
  }
  restoreState(state: State): void {
    this.#map.restoreState(state);
  }

  override close(): Awaitable<void> {
    const closing = this.#pool.close();
    return after(this.#map.close(), () => closing);
  }
}
