// Tensors without values: what layers say of their outputs before there are any.
import { type DType, InvalidArgumentError, type PartialShape, scope, type Tensor } from '@eagre/core';
import {
  ambient,
  checkPartialShape as checkSizes,
  dimsOf,
  isPlain,
  tree,
  within,
  withoutTapes,
} from '@eagre/core/internal';
import { isDeep } from './forms.ts';
import { kindOf, type TensorKind, zerosOf } from './kinds.ts';
import type { Layer } from './layer.ts';
import { show } from './show.ts';

/** @throws InvalidArgumentError for what is no list of sizes and nulls. @param what the name of the option. */
export function checkPartialShape(shape: unknown, what: string, where: string): PartialShape {
  if (!Array.isArray(shape) || !shape.every((d) => d === null || (Number.isSafeInteger(d) && d >= 0))) {
    throw new InvalidArgumentError(
      `${what} must be a list of sizes without the batch, with null for any size, such as [28, 28, 1]; got ${show(shape)}`,
      where,
    );
  }
  return shape as PartialShape;
}

/** A tensor without values. */
export interface TensorSpec {
  /** Batch first; `null` is unknown. */
  readonly shape: PartialShape;
  readonly dtype: DType;
  /** Undefined of a dense one. */
  readonly kind?: TensorKind | undefined;
}
/** The inputs or outputs of a call, without values; `many`: an array, even of one. */
export interface Specs {
  readonly list: readonly TensorSpec[];
  readonly many: boolean;
  /** The structure of the outputs, of a call that gives tensors by name, or structures in structures. */
  readonly form?: unknown;
}

/** @internal The specs of one shape, or of several. */
export function specsOf(shape: PartialShape | readonly PartialShape[], dtype: DType): Specs {
  const many = isShapes(shape);
  for (const one of many ? shape : [shape]) checkSizes(one);
  return { list: (many ? shape : [shape]).map((s) => ({ shape: s, dtype })), many };
}

/** @internal What `computeOutputShape` says of outputs: a shape, a list of them, or those of named outputs. */
export function shapesOfSpecs({ list, many, form }: Specs): unknown {
  const shapes = list.map((s) => s.shape);
  if (form !== undefined) return tree.pack(form, shapes, 'computeOutputShape');
  return many ? shapes : shapes[0];
}

/** The structure of what a call gave, where that is more than one tensor or a list of them. */
export function formOf(y: unknown, op: string): { readonly form?: unknown } {
  if (!isPlain(y) && !isDeep(y)) return {};
  return { form: tree.mapLeaves(y, op, () => null, tree.wholeComposites) };
}

/** Whether it is a list of shapes. @throws InvalidArgumentError for what is no list. */
export function isShapes(shape: PartialShape | readonly PartialShape[]): shape is readonly PartialShape[] {
  if (!Array.isArray(shape))
    throw new InvalidArgumentError(`a shape must be a list of sizes, batch first, got ${show(shape)}`);
  // A size need not be known.
  return Array.isArray(dimsOf(shape as readonly number[])[0]);
}

// Whether layers run on stand-ins only to find out shapes: then losses do not count.
const attempts = ambient({ trying: false });
/** @internal */
export function isTryingOut(): boolean {
  return attempts.trying;
}

type StandIn = readonly [batch: number, other: number];
// Sizes tried for unknown dimensions (batch, others): what differs between two attempts depends on them.
const STAND_INS = [
  [2, 32],
  [3, 48],
] as const;
// Where those are too many, such as for a table of positions that is shorter.
const SMALL_STAND_INS = [
  [5, 2],
  [7, 3],
] as const;

/** Runs a layer on zeros to see what comes out. */
export function inferOutputSpec(layer: Layer, inputs: Specs): Specs {
  const { list, many } = inputs;
  const attempt = (options: (zero: Zero) => readonly unknown[]): Specs =>
    tryCall(layer, (zero) => [many ? list.map(zero) : zero(list[0]), ...options(zero)], list);
  try {
    return attempt(() => []);
  } catch (error) {
    // Masks are known when a model runs. A user's layer may need one: this one hides nothing.
    const masks = list.map(({ shape }): TensorSpec => ({ shape: shape.slice(0, -1), dtype: 'bool' }));
    if (masks.some(({ shape }) => shape.length < 2)) throw error;
    const seen = (zero: Zero, mask: TensorSpec): Tensor => zero(mask).logicalNot();
    try {
      return attempt((zero) => [
        { mask: many ? masks.map((mask) => seen(zero, mask)) : seen(zero, masks[0]) },
      ]);
    } catch {
      throw error;
    }
  }
}
type Zero = (spec: TensorSpec) => Tensor;

/** The spec of a tensor of any kind. */
function specOf(t: Tensor): TensorSpec {
  const kind = kindOf(t);
  return { shape: t.shape, dtype: t.dtype, ...(kind === undefined ? {} : { kind }) };
}

/**
 * Runs a layer on zeros to see what comes out.
 * @param args makes what the layer is called with, with zeros for specs.
 * @param specs all that `args` asks zeros for.
 */
export function tryCall(
  layer: Layer,
  args: (zero: Zero) => readonly unknown[],
  specs: readonly TensorSpec[],
): Specs {
  const attempt = ([batch, other]: StandIn): Specs => {
    return within(attempts, { trying: true }, () =>
      withoutTapes(() =>
        scope(() => {
          const [inputs, ...rest] = args(({ shape, dtype, kind }) => {
            const sizes = shape.map((d, i) => d ?? (i === 0 ? batch : other));
            return zerosOf(sizes, shape, dtype, kind);
          });
          const last = rest.at(-1);
          const options = isPlain(last) ? last : {};
          const more = isPlain(last) ? rest.slice(0, -1) : rest;
          const y: unknown = layer.invoke(inputs, ...more, options);
          const list = tree.leavesOf(y, layer.name, tree.wholeComposites) as Tensor[];
          return {
            list: list.map(specOf),
            many: Array.isArray(y),
            ...formOf(y, layer.name),
          };
        }),
      ),
    );
  };
  if (specs.every(({ shape }) => !shape.includes(null))) return attempt(STAND_INS[0]);
  const [first, second] = bothOf(attempt, specs);
  const list = first.list.map((spec, i) => {
    const other = second.list[i]?.shape;
    return { ...spec, shape: spec.shape.map((d, k) => (d === other?.[k] ? d : null)) };
  });
  return { ...first, list };
}

/** Two attempts with other sizes. @throws what the first one threw, where smaller sizes do not work either */
function bothOf(attempt: (sizes: StandIn) => Specs, specs: readonly TensorSpec[]): readonly [Specs, Specs] {
  const both = ([one, other]: readonly [StandIn, StandIn]) => [attempt(one), attempt(other)] as const;
  try {
    return both(STAND_INS);
  } catch (error) {
    if (specs.every(({ shape }) => !shape.slice(1).includes(null))) throw error;
    try {
      return both(SMALL_STAND_INS);
    } catch {
      throw error;
    }
  }
}
