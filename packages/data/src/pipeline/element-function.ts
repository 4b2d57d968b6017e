// Functions of elements: traced where they can be.
import { FailedPreconditionError, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { type PartialShape, Tensor } from '@eagre/core';
import { inInitScope, isRefusedPromise, partialShape } from '@eagre/core/internal';
import { type Graph, TensorSpec, tfFunction } from '@eagre/graph';
import {
  conform,
  DatasetSpec,
  type ElementSpec,
  flattenSpec,
  mapSpec,
  showSpec,
  specOf,
} from '../elements/element-spec.ts';
import { type Element, flatten, isDataset, toElement } from '../elements/structure.ts';
import { type Awaitable, after } from './iterator.ts';
import { PlainCodeNeeded } from './plain-code.ts';

/** For functions that make elements. */
export interface SignatureOptions {
  /**
   * Dtypes and shapes of what the function gives, which is converted and checked. For functions that run as plain code, of which otherwise
   * nothing is known before elements come.
   */
  readonly outputSignature?: ElementSpec;
}

/** What all transformations take that call a function of elements. */
export interface FunctionCallOptions {
  /**
   * Whether the function runs as plain code for each element, so that it may read values and do other things of the host. Otherwise it is
   * traced once for each kind of elements, as by `tf.function`. Async functions always run as plain code, and so do functions that call
   * something that no graph can hold, such as `tf.io.parseSingleExample`.
   */
  readonly runEagerly?: boolean;
}

type Fn = (...args: never[]) => unknown;
type Call = (...args: readonly Element[]) => unknown;

/** Whether all functions of elements run as plain code, so that they can be debugged; see `enableDebugMode`. */
export const debugMode: { enabled: boolean } = { enabled: false };

/** Whether a function is declared `async`. */
export function isAsyncFunction(fn: unknown): boolean {
  return typeof fn === 'function' && Object.prototype.toString.call(fn) === '[object AsyncFunction]';
}

/** The arguments of a function of an element: the items of a tuple, or the element. */
export function argumentsOf(element: Element): readonly Element[] {
  return Array.isArray(element) ? (element as readonly Element[]) : [element];
}

const oneList = /^(?:async\s*)?(?:function\b[^(]*)?\(\s*\[[^\][]*\]\s*,?\s*\)/;

/**
 * A function of the items of a tuple. `([x, y]) => …` means the tuple where its first item is a tensor, which nobody takes apart instead of
 * the second item; a first item that is a tuple is taken apart itself.
 */
export function ofItems(fn: Fn): Fn {
  if (typeof fn !== 'function' || fn.length !== 1 || !oneList.test(Function.prototype.toString.call(fn)))
    return fn;
  const whole = fn as unknown as (element: unknown) => unknown;
  return (...items: readonly unknown[]) =>
    whole(items.length > 1 && items[0] instanceof Tensor ? items : items[0]);
}
function specsOf(spec: ElementSpec): readonly ElementSpec[] {
  return Array.isArray(spec) ? (spec as readonly ElementSpec[]) : [spec];
}

/** A function of elements with how it is called. */
export class ElementFunction {
  readonly #fn: Fn;
  readonly #what: string;
  readonly #eager: boolean;
  readonly #signature: ElementSpec | undefined;
  #traced: Call | null = null;
  /** Of what it returns; null where only a call tells. */
  spec: ElementSpec | null = null;
  /** Of a trace for elements of known shapes. */
  graph: Graph | null = null;

  /**
   * @param args specs of the arguments; null where they are not known before elements come.
   * @param what the transformation, for messages.
   */
  constructor(
    fn: Fn,
    args: readonly (ElementSpec | null)[] | null,
    options: FunctionCallOptions & SignatureOptions,
    what: string,
  ) {
    if (typeof fn !== 'function')
      throw new InvalidArgumentError(`expected a function, got ${typeof fn}`, what);
    this.#fn = fn;
    this.#what = what;
    this.#eager = options.runEagerly === true || debugMode.enabled || isAsyncFunction(fn);
    this.#signature = options.outputSignature;
    this.spec = options.outputSignature ?? null;
    if (args?.every((a) => a !== null)) this.#prepare(args);
  }

  /** For the elements of a dataset. */
  static ofElements(
    fn: Fn,
    spec: ElementSpec | null,
    options: FunctionCallOptions & SignatureOptions,
    what: string,
  ): ElementFunction {
    const how = isAsyncFunction(fn) ? { ...options, runEagerly: true } : options;
    return new ElementFunction(ofItems(fn), spec === null ? null : specsOf(spec), how, what);
  }

  /** Whether it runs as plain code, once for each element. */
  get eager(): boolean {
    return this.#traced === null;
  }

  #prepare(args: readonly ElementSpec[]): void {
    const leaves = args.flatMap((a) => flattenSpec(a));
    // Strings stay on the host, and datasets are made there: nothing of it can be in a graph.
    const plain = leaves.some((s) => s instanceof DatasetSpec || s.dtype === 'string');
    if (this.#eager || plain) return;
    const body = (...given: readonly Element[]): Element => {
      const result = this.#convert(this.#checked((this.#fn as unknown as Call)(...given)));
      for (const leaf of flatten(result)) {
        if (isDataset(leaf))
          throw new InvalidArgumentError(
            'the function returned a dataset: use flatMap or interleave, or { runEagerly: true }',
            this.#what,
          );
        if (leaf.dtype === 'string')
          throw new UnimplementedError(
            'the function returned strings, which stay on the host: pass { runEagerly: true }',
            this.#what,
          );
      }
      this.spec = this.#signature ?? unknownSizesNull(specOf(result));
      return result;
    };
    const traced = tfFunction(body, { name: this.#what.replace(/^.*\./, ''), reduceRetracing: true });
    this.#traced = traced as Call;
    if (leaves.some((s) => (s as TensorSpec).shape === null)) return;
    const signature = args.map((a) => mapSpec(a, (s) => s));
    const known = leaves.every((s) => !(s as TensorSpec).shape?.includes(null));
    try {
      const concrete = inInitScope(() => traced.getConcreteFunction(...(signature as TensorSpec[])));
      if (known) this.graph = concrete.graph;
    } catch (error) {
      if (!(error instanceof PlainCodeNeeded)) throw this.#explained(error);
      this.#traced = null;
      this.#tried = true;
    }
  }

  #checked(result: unknown): unknown {
    if (isRefusedPromise(result)) {
      throw new InvalidArgumentError(
        'the function returned a promise while it was traced: declare it `async`, or pass { runEagerly: true }',
        this.#what,
      );
    }
    return result;
  }

  #explained(error: unknown): unknown {
    if (!(error instanceof FailedPreconditionError)) return error;
    return new FailedPreconditionError(
      `${error.message}\n  Functions passed to a dataset are traced; to run this one as plain code for each element, pass { runEagerly: true }`,
      this.#what,
      { cause: error },
    );
  }

  /** @returns the element that the function gives, or a promise of it. */
  call(args: readonly Element[]): Awaitable<Element> {
    const first = this.#traced === null && !this.#eager && !this.#tried;
    if (first) {
      // Nothing was known of the elements; this one tells.
      this.#tried = true;
      this.#prepare(args.map((a) => unknownShapes(specOf(a))));
    }
    if (this.#traced !== null) {
      try {
        return this.#traced(...args) as Element;
      } catch (error) {
        if (!first || !(error instanceof PlainCodeNeeded)) throw this.#explained(error);
        this.#traced = null;
      }
    }
    const result = (this.#fn as unknown as (...a: readonly Element[]) => Awaitable<unknown>)(...args);
    return result instanceof Promise ? after(result, this.#convert) : this.#convert(result);
  }
  #tried = false;
  readonly #convert = (value: unknown): Element =>
    this.#signature === undefined
      ? toElement(value, this.#what)
      : conform(value, this.#signature, this.#what);

  /** What it returns as one number. */
  scalar(args: readonly Element[]): Awaitable<number> {
    return this.#one(args, 'number', (t) => t.size === 1 && t.dtype !== 'string');
  }

  /** What it returns as a truth value, 1 or 0. */
  truth(args: readonly Element[]): Awaitable<number> {
    return this.#one(args, 'boolean', isTruth);
  }

  /** @throws InvalidArgumentError when it is known already that the function returns no truth value. */
  checkTruth(): void {
    if (this.spec !== null && !(this.spec instanceof TensorSpec && isTruth(this.spec)))
      throw this.#wrong('boolean', showSpec(this.spec));
  }

  #one(args: readonly Element[], kind: string, fits: (t: Tensor) => boolean): Awaitable<number> {
    return after(this.call(args), (result) => {
      if (!(result instanceof Tensor) || !fits(result)) throw this.#wrong(kind, showSpec(specOf(result)));
      const value = Number(result.item<number | boolean>());
      if (this.#traced !== null) result.dispose();
      return value;
    });
  }

  #wrong(kind: string, got: string): InvalidArgumentError {
    return new InvalidArgumentError(`the function must return one ${kind}, got ${got}`, this.#what);
  }
}

function isTruth({ dtype, shape }: { readonly dtype: string; readonly shape: PartialShape | null }): boolean {
  return dtype === 'bool' && (shape === null || shape.length === 0);
}
function unknownShapes(spec: ElementSpec): ElementSpec {
  return mapSpec(spec, (s) => (s instanceof TensorSpec ? new TensorSpec(null, s.dtype) : s)) as ElementSpec;
}
function unknownSizesNull(spec: ElementSpec): ElementSpec {
  return mapSpec(spec, (s) =>
    s instanceof TensorSpec && s.shape !== null ? new TensorSpec(partialShape(s.shape), s.dtype) : s,
  ) as ElementSpec;
}
