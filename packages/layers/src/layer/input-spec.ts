// What a layer says of its inputs, and whether inputs are that.
import { type DType, InvalidArgumentError, type PartialShape } from '@eagre/core';
import {
  argumentsOf,
  configOf,
  flagOption,
  isPlain,
  type Option,
  optionsFrom,
  partialShape,
  setOptions,
  shown,
  showShape,
  takesOptions,
  tree,
} from '@eagre/core/internal';
import { checkPartialShape, isTryingOut } from './specs.ts';

/** Options of `InputSpec`. */
export interface InputSpecOptions {
  /** The only dtype that is taken; any by default. */
  readonly dtype?: DType | null;
  /** With the batch; null where any size fits. */
  readonly shape?: PartialShape | null;
  /** The rank; that of the shape where there is one. */
  readonly ndim?: number | null;
  /** The largest rank that is taken; any by default. */
  readonly maxNdim?: number | null;
  /** The smallest rank that is taken; any by default. */
  readonly minNdim?: number | null;
  /** Sizes of some axes; a negative one counts from the end. */
  readonly axes?: Readonly<Record<number, number | null>> | null;
  /** Whether a last axis of size 1 may be missing or too much; false by default. */
  readonly allowLastAxisSqueeze?: boolean;
  /** The name of the input where inputs are given by name. */
  readonly name?: string | null;
  /** Whether null may be given in its place; false by default. */
  readonly optional?: boolean;
}

/**
 * What an input of a layer must be. A layer of one's own that has one as its `inputSpec`, or a list of one for each input, refuses other inputs.
 *
 *     this.inputSpec = new tf.layers.InputSpec({ ndim: 3, axes: { [-1]: 4 } });
 *
 * @throws InvalidArgumentError for axes beyond the rank
 */
export class InputSpec {
  /** The only dtype that is taken. */
  declare readonly dtype: DType | null;
  /** With the batch; null where any size fits. */
  declare readonly shape: PartialShape | null;
  /** The rank; that of the shape where there is one. */
  declare readonly ndim: number | null;
  /** The largest rank that is taken. */
  declare readonly maxNdim: number | null;
  /** The smallest rank that is taken. */
  declare readonly minNdim: number | null;
  /** Sizes of some axes; a negative one counts from the end. */
  declare readonly axes: Readonly<Record<number, number | null>>;
  /** Whether a last axis of size 1 may be missing or too much. */
  declare readonly allowLastAxisSqueeze: boolean;
  /** The name of the input where inputs are given by name. */
  declare readonly name: string | null;
  /** Whether null may be given in its place. */
  declare readonly optional: boolean;

  constructor(...args: [options?: InputSpecOptions]) {
    setOptions(this, argumentsOf<InputSpecOptions>(InputSpec, new.target, args));
    const rank = this.ndim ?? this.maxNdim;
    const last = Math.max(...Object.keys(this.axes).map(Number));
    if (rank !== null && last >= rank)
      throw new InvalidArgumentError(`axis ${last} is not one of the ${rank} axes`, 'InputSpec');
  }

  /** What makes it again, by Keras's names. */
  getConfig(): Record<string, unknown> {
    return configOf(this);
  }
  /** One of the options that `getConfig` gave, here or in Keras. */
  static fromConfig(config: Readonly<Record<string, unknown>>): InputSpec {
    return new InputSpec(optionsFrom(config, InputSpec));
  }
}

/** One spec for each input; null where any fits. */
export type InputSpecs = InputSpec | readonly (InputSpec | null)[] | null;

interface Described {
  readonly shape: PartialShape;
  readonly dtype: DType;
}

/** @throws InvalidArgumentError for inputs that are not what the layer says. */
export function checkInputSpec(
  layer: { readonly name: string; readonly inputSpec?: unknown },
  given: unknown,
): void {
  const { inputSpec } = layer;
  // What it is tried out with has some size where none is known.
  if (inputSpec === undefined || inputSpec === null || isTryingOut()) return;
  const specs = (Array.isArray(inputSpec) ? inputSpec : [inputSpec]) as readonly (InputSpec | null)[];
  if (!specs.every((spec) => spec === null || spec instanceof InputSpec)) return;
  const names = specs.map((spec) => spec?.name ?? null);
  const byName = isPlain(given) && names.every((name) => name !== null);
  const inputs = byName
    ? names.map((name) => given[name as string])
    : Array.isArray(given)
      ? given
      : tree.leavesOf(given, layer.name);
  if (inputs.length !== specs.length)
    throw new InvalidArgumentError(`expects ${specs.length} inputs, got ${inputs.length}`, layer.name);
  specs.forEach((spec, i) => {
    const input = inputs[i] as Described | null | undefined;
    if (spec === null || (input !== null && input !== undefined && !('shape' in input))) return;
    if (input === null || input === undefined) {
      if (spec.optional) return;
      throw new InvalidArgumentError(`expects an input '${spec.name ?? i}'`, layer.name);
    }
    const wrong = difference(spec, partialShape(input.shape), input.dtype);
    if (wrong !== null)
      throw new InvalidArgumentError(
        `expects ${wrong} as input ${spec.name ?? i}, got ${input.dtype} ${showShape(input.shape)}`,
        layer.name,
      );
  });
}

/** What was expected, if it is something else. */
function difference(spec: InputSpec, shape: PartialShape, dtype: DType): string | null {
  const { ndim, maxNdim, minNdim, allowLastAxisSqueeze: squeezes } = spec;
  if (ndim !== null && !squeezes && shape.length !== ndim) return `rank ${ndim}`;
  if (maxNdim !== null && shape.length > maxNdim) return `rank ${maxNdim} at most`;
  if (minNdim !== null && shape.length < minNdim) return `rank ${minNdim} at least`;
  if (spec.dtype !== null && dtype !== spec.dtype) return spec.dtype;
  for (const [axis, size] of Object.entries(spec.axes)) {
    const got = shape.at(Number(axis));
    if (size !== null && got !== null && got !== size) return `${size} along axis ${axis}`;
  }
  if (spec.shape === null) return null;
  const kept = (s: PartialShape): PartialShape => (squeezes && s.at(-1) === 1 ? s.slice(0, -1) : s);
  const [own, other] = [kept(spec.shape), kept(shape)];
  const fits = own.every(
    (n, i) => n === null || other[i] === null || other[i] === undefined || other[i] === n,
  );
  return fits ? null : showShape(spec.shape);
}

const rank: Option<number | null> = {
  read: (given, name, of) => {
    if (name === 'ndim' && (of as InputSpec).shape !== null) return (of as InputSpec).shape?.length ?? null;
    if (given === undefined || given === null) return null;
    if (!Number.isSafeInteger(given) || (given as number) < 0)
      throw new InvalidArgumentError(`${name} must be a rank, got ${shown(given)}`, 'InputSpec');
    return given as number;
  },
};
const unwritten = <T>(option: Option<T>): Option<T> => ({ ...option, write: () => undefined });
takesOptions<InputSpecOptions, InputSpec>(
  {
    options: {
      dtype: { read: (given) => (given ?? null) as DType | null },
      shape: {
        read: (given) => {
          if (given === undefined || given === null) return null;
          checkPartialShape(given as PartialShape, 'shape', 'InputSpec');
          return given as PartialShape;
        },
      },
      ndim: rank,
      maxNdim: rank,
      minNdim: rank,
      axes: {
        read: (given) => {
          const axes = (given ?? {}) as Readonly<Record<number, number | null>>;
          if (!isPlain(axes) || !Object.keys(axes).every((axis) => Number.isInteger(Number(axis))))
            throw new InvalidArgumentError(
              `axes must be an object of sizes by axis, got ${shown(given)}`,
              'InputSpec',
            );
          return axes;
        },
      },
      allowLastAxisSqueeze: unwritten(flagOption(false)),
      name: unwritten({ read: (given) => (given ?? null) as string | null }),
      optional: flagOption(false),
    },
  },
  InputSpec,
);
