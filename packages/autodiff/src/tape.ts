import {
  constant,
  FailedPreconditionError,
  InvalidArgumentError,
  identity,
  oneHot,
  stack,
  swapAxes,
  type Tensor,
  Variable,
  zeros,
} from '@eagre/core';
import {
  argumentsOf,
  checkFlag,
  checkOneOf,
  context,
  type Dim,
  defineMethods,
  differs,
  dims,
  findDropped,
  fromOneLine,
  graphLoops,
  hasGradient,
  isUnknown,
  knownDim,
  type OptionNames,
  opHooks,
  sameShape,
  scoped,
  shown,
  showShape,
  sizeOfDims,
  takesArguments,
  toShape,
  whenDropped,
} from '@eagre/core/internal';
import { backward } from './backward.ts';
import { flatten, type GradientsOf, isSource, type Nested, rebuild, type Source } from './nest.ts';
import { Recorder } from './recorder.ts';

/**
 * The gradients of all passes of a jacobian, stacked for each source; null for those without any. Each pass is written down while a
 * function is traced; where it is not known how many there are, as a loop.
 */
function passes(
  count: Dim,
  sources: readonly Source[],
  pass: (i: Tensor) => readonly (Tensor | null)[],
): readonly (Tensor | null)[] {
  if (isUnknown(count) && context.tracer !== null) {
    let there: readonly boolean[] = [];
    const stacks = graphLoops.rows(count, (i) => {
      const grads = pass(i);
      there = grads.map((g) => g !== null);
      return grads.filter((g) => g !== null);
    });
    let next = 0;
    return there.map((is) => (is ? stacks[next++] : null));
  }
  const rows = Array.from({ length: knownDim(count) }, (_, i) => pass(constant([i], 'int32')));
  return sources.map((source, s) => {
    if (rows.every((row) => row[s] === null)) return null;
    return stack(rows.map((row) => row[s] ?? zeros(source.shape, { dtype: source.dtype })));
  });
}

/** Options of `GradientTape`. */
export interface GradientTapeOptions {
  /** May be asked for gradients several times; ends with `dispose`. */
  readonly persistent?: boolean;
  /** Watch every trainable variable that is used; true by default. */
  readonly watchAccessedVariables?: boolean;
}

/** Options of `tape.gradient`. */
export interface GradientOptions {
  /** Gradients of something beyond the target, one for each target; ones unless given. */
  readonly outputGradients?: Nested<Tensor>;
  /** What a source gets that the target does not depend on: null, or zeros. */
  readonly unconnectedGradients?: 'none' | 'zero';
}

const NONE: GradientTapeOptions = {};

// Open tapes beyond which dropped ones are looked for: twice as many as were found in use the last time.
const FEW_TAPES = 8;
let lookAt = FEW_TAPES;

/** Adds a recorder to those that are told of ops. Tapes that were dropped without an end would hold for ever what they record. */
function open(recorder: Recorder): void {
  if (context.tapes.length >= lookAt) {
    findDropped();
    withoutClosed();
    lookAt = Math.max(FEW_TAPES, 2 * context.tapes.length);
  }
  context.tapes = [...context.tapes, recorder];
}

/** The memory that a dropped tape holds is free at once; ops are told to it until a list of tapes is made anew. */
function abandon(recorder: Recorder): void {
  recorder.close();
  withoutClosed();
  // Code of the library may have set the tapes aside, and then puts them back.
  queueMicrotask(withoutClosed);
}

function withoutClosed(): void {
  context.tapes = context.tapes.filter((tape) => !(tape instanceof Recorder && tape.closed));
}

/**
 * Records ops for automatic differentiation, from its construction on.
 *
 *     using tape = new tf.GradientTape();
 *     const loss = w.mul(w);
 *     const grad = tape.gradient(loss, w); // 2w
 *
 * Trainable variables are watched by themselves, tensors after `watch`. `gradient` ends a tape that is not persistent. Tapes
 * nest: a tape that records while another computes a gradient gives the second order.
 */
export class GradientTape {
  readonly #recorder: Recorder;
  readonly #persistent: boolean;
  readonly #unwatch: () => void;
  #state: 'recording' | 'stopped' | 'used' = 'recording';
  /** Whether it ended by being asked. */
  #asked = false;

  constructor(...args: [options?: GradientTapeOptions | null]) {
    const op = 'GradientTape';
    const options =
      args.length === 0 ? NONE : argumentsOf<GradientTapeOptions>(GradientTape, new.target, args);
    this.#persistent = checkFlag(options.persistent, 'persistent', op);
    const watch = checkFlag(options.watchAccessedVariables ?? true, 'watchAccessedVariables', op);
    const recorder = new Recorder(watch);
    this.#recorder = recorder;
    open(recorder);
    this.#unwatch = whenDropped(this, () => abandon(recorder));
  }

  /** Runs `fn`, then stops recording: the form for those without `using`. @returns what `fn` returns. */
  record<T>(fn: () => T): T {
    return scoped(() => () => this.#stop(), 'tape.record', fn) as T;
  }

  /** Records what depends on these from now on. @throws InvalidArgumentError for a dtype that has no gradient: integers, booleans, strings. */
  watch(sources: Nested<Source>): void {
    for (const source of flatten(sources, 'watch')) {
      if (!hasGradient(source.dtype)) {
        throw new InvalidArgumentError(
          `a ${source.dtype} tensor has no gradient; watch a tensor of floats or complex numbers`,
          'GradientTape.watch',
        );
      }
      if (source instanceof Variable) this.#recorder.watchVariable(source);
      else this.#recorder.watchTensor(source);
    }
  }

  /** The variables that were watched and used, in order of first use. */
  watchedVariables(): Variable[] {
    return this.#recorder.watchedVariables();
  }

  /** Runs `fn` without recording it: for a metric inside a persistent tape, say. */
  stopRecording<T>(fn: () => T): T {
    return scoped(
      () => {
        context.tapes = context.tapes.filter((t) => t !== this.#recorder);
        return () => {
          // The function may have ended the tape, by asking it.
          if (this.#state === 'recording') context.tapes = [...context.tapes, this.#recorder];
        };
      },
      'tape.stopRecording',
      fn,
    ) as T;
  }

  /** Forgets what was recorded so far. */
  reset(): void {
    this.#recorder.release();
  }

  /**
   * The gradient of the targets' sum with respect to the sources, in the structure of the sources; null (or zeros) where the
   * targets do not depend on a source. A source whose rows were looked up, with `tf.gather` or an `Embedding`, and nothing else, has a
   * `tf.IndexedSlices`: only these rows. It has all methods of a tensor. Ragged and sparse sources get ragged and sparse gradients.
   * @throws FailedPreconditionError when a tape that is not persistent was asked before.
   * @throws InvalidArgumentError for targets that have no gradient, or wrong output gradients.
   */
  gradient<const S extends Nested<Source>>(
    target: Nested<Source>,
    sources: S,
    options: GradientOptions & { readonly unconnectedGradients: 'zero' },
  ): GradientsOf<S, Tensor>;
  gradient<const S extends Nested<Source>>(
    target: Nested<Source>,
    sources: S,
    options?: GradientOptions,
  ): GradientsOf<S, Tensor | null>;
  gradient(target: Nested<Source>, sources: Nested<Source>, options: GradientOptions = {}): unknown {
    return this.#gradient(target, sources, options, true);
  }
  /** @internal As `gradient`, with whole tensors where `gradient` gives rows of them. */
  denseGradient<const S extends Nested<Source>>(
    target: Nested<Source>,
    sources: S,
    options: GradientOptions = {},
  ): GradientsOf<S, Tensor | null> {
    return this.#gradient(target, sources, options, false) as GradientsOf<S, Tensor | null>;
  }

  #gradient(
    target: Nested<Source>,
    sources: Nested<Source>,
    options: GradientOptions,
    slices: boolean,
  ): unknown {
    this.#open();
    const op = 'GradientTape.gradient';
    const unconnected = unconnectedOf(options, op);
    const targets = this.#targets(target);
    const list = flatten(sources, 'sources');
    const seeds = outputGradients(targets, options.outputGradients);
    const grads = this.#ask(() =>
      backward(this.#recorder, targets, seeds, list, !this.#persistent, slices),
    ) as (Tensor | null)[];
    return rebuild(sources, unconnected === 'zero' ? withZeros(grads, list) : grads);
  }

  /**
   * The matrix of all partial derivatives: for each source a tensor of shape [...target, ...source].
   * One backward pass for each element of the target.
   */
  jacobian<const S extends Nested<Source>>(
    target: Source,
    sources: S,
    options: Pick<GradientOptions, 'unconnectedGradients'> = {},
  ): GradientsOf<S, Tensor | null> {
    this.#open();
    const op = 'GradientTape.jacobian';
    const unconnected = unconnectedOf(options, op);
    const y = this.#target(target, 'jacobian');
    const list = flatten(sources, 'sources');
    const size = sizeOfDims(y.shape);
    const stacks = this.#ask(() =>
      passes(size, list, (i) => {
        const seed = oneHot(i, size as number, { dtype: y.dtype }).reshape(y.shape);
        return backward(this.#recorder, [y], [seed], list, false) as (Tensor | null)[];
      }),
    );
    const grads = list.map((source, s): Tensor | null => {
      const shape = toShape([...dims(y), ...dims(source)]);
      const missing = unconnected === 'zero' ? zeros(shape, { dtype: source.dtype }) : null;
      return stacks[s]?.reshape(shape) ?? missing;
    });
    return rebuild(sources, grads) as GradientsOf<S, Tensor | null>;
  }

  /**
   * The jacobian of each example in a batch: target [b, ...t], source [b, ...s] → [b, ...t, ...s], where example i of the
   * target depends on example i of the source alone. One backward pass for each element of one example.
   */
  batchJacobian(target: Source, source: Source): Tensor {
    this.#open();
    const y = this.#target(target, 'batchJacobian');
    if (!isSource(source))
      throw new InvalidArgumentError(
        `the source is ${shown(source)}, expected a tensor or variable`,
        'batchJacobian',
      );
    const [batch, ...inner] = dims(y);
    const [first, ...own] = dims(source);
    if (batch === undefined || first === undefined || differs(first, batch)) {
      throw new InvalidArgumentError(
        `target ${showShape(y.shape)} and source ${showShape(source.shape)} need the same first dimension`,
        'batchJacobian',
      );
    }
    const size = sizeOfDims(inner);
    const shape = toShape([batch, ...inner, ...own]);
    const [rows] = this.#ask(() =>
      passes(size, [source], (i) => {
        const row = oneHot(i, size as number, { dtype: y.dtype });
        const seed = row.reshape(toShape([1, ...inner])).broadcastTo(y.shape);
        return backward(this.#recorder, [y], [seed], [source], false) as (Tensor | null)[];
      }),
    );
    if (rows === null || rows === undefined) return zeros(shape, { dtype: source.dtype });
    return swapAxes(rows, 0, 1).reshape(shape);
  }

  /** Stops recording and forgets everything. */
  [Symbol.dispose](): void {
    this.#end();
  }
  dispose(): void {
    this.#end();
  }

  #open(): void {
    if (this.#state === 'used') {
      throw new FailedPreconditionError(
        !this.#asked
          ? 'this tape has ended, by dispose or at the end of its `using` block: ask it before'
          : 'a tape that is not persistent can be asked for one gradient only; make it with new GradientTape({ persistent: true })',
        'GradientTape',
      );
    }
  }
  /** Computes gradients without recording that; a tape that is not persistent has ended then, also where it threw. */
  #ask<T>(compute: () => T): T {
    const asked = (): T => fromOneLine(compute);
    if (this.#persistent) return this.#state === 'recording' ? this.stopRecording(asked) : asked();
    this.#stop();
    this.#asked = true;
    try {
      return asked();
    } finally {
      this.#end();
    }
  }
  #stop(): void {
    if (this.#state !== 'recording') return;
    this.#state = 'stopped';
    context.tapes = context.tapes.filter((t) => t !== this.#recorder);
  }
  #end(): void {
    this.#stop();
    if (this.#state === 'used') return;
    this.#state = 'used';
    this.#unwatch();
    this.#recorder.close();
  }

  #target(target: Source, op: string): Tensor {
    if (!isSource(target)) throw new InvalidArgumentError('the target must be one tensor or variable', op);
    return this.#targets(target)[0];
  }

  #targets(target: Nested<Source>): Tensor[] {
    return flatten(target, 'target').map((t) => {
      if (!hasGradient(t.dtype)) {
        throw new InvalidArgumentError(
          `the target is ${t.dtype}; only floats and complex numbers have gradients`,
          'GradientTape.gradient',
        );
      }
      return t instanceof Variable ? t.taken() : t;
    });
  }
}

function unconnectedOf({ unconnectedGradients = 'none' }: GradientOptions, op: string): 'none' | 'zero' {
  checkOneOf(unconnectedGradients, ['none', 'zero'], 'unconnectedGradients', op);
  return unconnectedGradients;
}

function outputGradients(targets: readonly Tensor[], given: Nested<Tensor> | undefined): (Tensor | null)[] {
  if (given === undefined) return targets.map(() => null);
  const seeds = flatten(given, 'outputGradients') as Tensor[];
  if (seeds.length !== targets.length) {
    throw new InvalidArgumentError(
      `${seeds.length} output gradients for ${targets.length} targets`,
      'GradientTape.gradient',
    );
  }
  return seeds.map((seed, i) => {
    const y = targets[i];
    if (!sameShape(seed.shape, y.shape) || seed.dtype !== y.dtype) {
      throw new InvalidArgumentError(
        `output gradient ${i} is ${seed.dtype} ${showShape(seed.shape)}, its target ${y.dtype} ${showShape(y.shape)}`,
        'GradientTape.gradient',
      );
    }
    return seed;
  });
}

function withZeros(grads: readonly (Tensor | null)[], sources: readonly Source[]): Tensor[] {
  return grads.map((g, i) => {
    const { shape, dtype } = sources[i];
    return g ?? zeros(shape, { dtype });
  });
}

takesArguments<GradientTapeOptions>(
  { names: { persistent: true, watchAccessedVariables: true } },
  GradientTape,
);
const unconnectedNames: OptionNames<Pick<GradientOptions, 'unconnectedGradients'>> = {
  unconnectedGradients: true,
};
const gradientNames: OptionNames<GradientOptions> = { ...unconnectedNames, outputGradients: true };
defineMethods(GradientTape.prototype, 'GradientTape', {
  record: { positional: ['fn'] },
  watch: { positional: ['tensor'], objects: ['tensor'] },
  watchedVariables: {},
  stopRecording: { positional: ['fn'] },
  reset: {},
  gradient: { positional: ['target', 'sources'], objects: ['target', 'sources'], options: gradientNames },
  denseGradient: {
    positional: ['target', 'sources'],
    objects: ['target', 'sources'],
    options: gradientNames,
  },
  jacobian: { positional: ['target', 'sources'], objects: ['sources'], options: unconnectedNames },
  batchJacobian: { positional: ['target', 'source'] },
  dispose: {},
});

// Inputs that are one tensor count by themselves.
opHooks.vjp = (fn, inputs, dys) => {
  const own = inputs.map((x) => identity(x));
  const tape = new GradientTape();
  tape.watch(own);
  const wanted = fn(own).flatMap((y, i) => {
    const dy = dys[i];
    return dy === null || dy === undefined ? [] : [{ y, dy }];
  });
  return tape.denseGradient(
    wanted.map(({ y }) => y),
    own,
    { outputGradients: wanted.map(({ dy }) => dy) },
  );
};
