// Layers that make one tensor of a list.
import { dtypeTraits } from '@eagre/backend';
import {
  concat,
  einsum,
  mul,
  nn,
  onesLike,
  type PartialShape,
  type Shape,
  type SparseTensor,
  sparse,
  type Tensor,
  type TensorLike,
  zerosLike,
} from '@eagre/core';
import {
  argumentsOf,
  broadcastDims,
  type Dim,
  differs,
  dims,
  hasGradient,
  isFloating,
  isInteger,
  showShape,
  takesOptions,
  toShape,
} from '@eagre/core/internal';
import { densified, isStored, kindOf, onValues, takesKinds } from '../../layer/kinds.ts';
import {
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerInput,
  type LayerOptions,
  ownsTemporaries,
} from '../../layer/layer.ts';
import type { Mask } from '../../layer/masks.ts';
import { takesCall } from '../../layer/own-call.ts';
import { show } from '../../layer/show.ts';
import { fail, plus, type Size, seenBy, shapeOf, sizesOf, values } from '../common.ts';
import { axis, flag } from '../options.ts';
import { layerOptions } from '../weights.ts';

type Shapes = PartialShape | readonly PartialShape[];

/** The shapes of a list. @throws InvalidArgumentError for a single tensor. */
function listOf(layer: Layer, shapes: Shapes): readonly PartialShape[] {
  if (!Array.isArray(shapes)) fail(layer, `takes a list of shapes, got ${show(shapes)}`);
  if (!Array.isArray(shapes[0])) {
    fail(layer, `takes a list of tensors, got one of shape ${showShape(shapes as PartialShape)}`);
  }
  return shapes as readonly PartialShape[];
}

function tensorsOf(layer: Layer, inputs: LayerInput): Tensor[] {
  if (!Array.isArray(inputs)) listOf(layer, (inputs as Tensor).shape);
  const list = (inputs as readonly Tensor[]).map((x) => values(layer, x));
  // As in Keras, integers and truths beside floats are floats.
  const float = list.find((x) => isFloating(x.dtype))?.dtype;
  if (float === undefined) return list;
  return list.map((x) => (hasGradient(x.dtype) ? x : onValues(x, (values) => values.cast(float))));
}

function showAll(shapes: readonly PartialShape[]): string {
  return shapes.map(showShape).join(', ');
}

/** The size that all of them are, where they are known; undefined where two differ. */
function common(sizes: readonly Size[]): Size | undefined {
  let size: Size = null;
  for (const d of sizes) {
    if (d === null) continue;
    if (size !== null && differs(size, d)) return undefined;
    size ??= d;
  }
  return size;
}

/** Element by element; examples are broadcast against each other, the batch is not. */
abstract class Merge extends Layer {
  /** Computes from inputs of one rank. */
  protected abstract merge(inputs: readonly Tensor[]): Tensor;

  override build(inputShape: Shapes): void {
    this.computeOutputShape(inputShape);
  }

  /** The same where masks, of the inputs' rank, say what counts. Most take no notice. */
  protected mergeSeen(inputs: readonly Tensor[], _seen: readonly (Tensor | null)[]): Tensor {
    return this.merge(inputs);
  }

  override call(inputs: LayerInput, { mask }: CallOptions = {}): Tensor {
    const list = tensorsOf(this, inputs);
    this.computeOutputShape(list.map((x) => x.shape));
    if (list.some(isStored)) return this.#ofStored(list);
    const rank = Math.max(...list.map((x) => x.rank));
    const alike = list.map((x) => {
      if (x.rank === rank) return x;
      const missing = new Array<number>(rank - x.rank).fill(1);
      const [batch, ...example] = dims(x) as [Dim, ...Dim[]];
      return x.reshape(toShape([batch, ...missing, ...example]));
    });
    if (!Array.isArray(mask)) return this.merge(alike);
    const seen = (mask as readonly (TensorLike | null)[]).map((one) => {
      let places = one === null ? null : seenBy(one);
      while (places !== null && places.rank < rank) places = places.expandDims(-1);
      return places;
    });
    return this.mergeSeen(alike, seen);
  }

  /** Of sparse tensors comes a sparse one; next to a dense one they are dense, but in products. Ragged ones merge as they are. */
  #ofStored(list: readonly Tensor[]): Tensor {
    if (!list.some((x) => kindOf(x) === 'sparse')) return this.merge(list);
    if (list.every(isStored)) return this.mergeSparse(list as never) as unknown as Tensor;
    return this.merge(list.map(densified));
  }
  /** Of sparse tensors of one shape. */
  protected abstract mergeSparse(inputs: readonly SparseTensor[]): SparseTensor;

  /** What counts in any input, where each has a mask. */
  override computeMask(_: LayerInput, mask: Mask): Mask {
    if (!Array.isArray(mask)) return null;
    return anySeen(mask as readonly (Tensor | null)[]);
  }

  override computeOutputShape(inputShape: Shapes): PartialShape {
    const shapes = listOf(this, inputShape);
    const all = shapes.map(sizesOf);
    const batch = common(all.map((s) => s[0] ?? null));
    if (batch === undefined) fail(this, `cannot merge different batch sizes, got ${showAll(shapes)}`);
    const rank = Math.max(...all.map((s) => s.length));
    const example = Array.from({ length: Math.max(0, rank - 1) }, (_, i) => {
      // Counted from the end; the batch, at the front, is none of them.
      const sizes = all.map((s): Size => (s.length - rank + 1 + i < 1 ? 1 : s[s.length - rank + 1 + i]));
      let size: Dim = 1;
      for (const d of sizes) {
        const wide: Dim | null = d === null ? size : broadcastDims(size, d);
        if (wide === null) fail(this, `cannot broadcast its inputs, got ${showAll(shapes)}`);
        size = wide;
      }
      return size === 1 && sizes.includes(null) ? null : size;
    });
    return shapeOf([batch, ...example]);
  }
}

const sumOf = (inputs: readonly SparseTensor[]): SparseTensor =>
  inputs.reduce((a, b) => sparse.add(a, b) as SparseTensor);
/** At the coordinates that both have. */
function productOf(a: SparseTensor, b: SparseTensor): SparseTensor {
  const product = mul(a as unknown as Tensor, densified(b)) as unknown as SparseTensor;
  const isInBoth = onValues(b, (values) => onesLike(values, 'bool'))
    .toDense()
    .gatherNd(a.indices);
  return sparse.retain(product, isInBoth);
}

/** The sum of the inputs. */
export class Add extends Merge {
  declare static readonly fromConfig: FromConfig<Add>;
  protected override merge(inputs: readonly Tensor[]): Tensor {
    return inputs.reduce((a, b) => a.add(b));
  }
  protected override mergeSparse(inputs: readonly SparseTensor[]): SparseTensor {
    return sumOf(inputs);
  }
}

/** The first of two inputs less the second. */
export class Subtract extends Merge {
  declare static readonly fromConfig: FromConfig<Subtract>;
  protected override merge([a, b]: readonly Tensor[]): Tensor {
    return a.sub(b);
  }
  protected override mergeSparse([a, b]: readonly SparseTensor[]): SparseTensor {
    return sumOf([a, onValues(b, (values) => values.neg())]);
  }
  override computeOutputShape(inputShape: Shapes): PartialShape {
    const shapes = listOf(this, inputShape);
    if (shapes.length !== 2) fail(this, `takes exactly two tensors, got ${shapes.length}`);
    return super.computeOutputShape(inputShape);
  }
}

/** What counts in any input; null unless each has a mask. */
function anySeen(masks: readonly (Tensor | null)[]): Tensor | null {
  return masks.reduce((a, b) => (a === null || b === null ? null : a.logicalOr(b)));
}

/** The product of the inputs. */
export class Multiply extends Merge {
  declare static readonly fromConfig: FromConfig<Multiply>;
  protected override merge(inputs: readonly Tensor[]): Tensor {
    return inputs.reduce((a, b) => a.mul(b));
  }
  /** What an input's mask hides does not count; what all hide is 0. */
  protected override mergeSeen(inputs: readonly Tensor[], seen: readonly (Tensor | null)[]): Tensor {
    const y = this.merge(inputs.map((x, i) => seen[i]?.where(x, 1) ?? x));
    const any = anySeen(seen);
    return any === null ? y : any.where(y, 0);
  }
  protected override mergeSparse(inputs: readonly SparseTensor[]): SparseTensor {
    return inputs.reduce(productOf);
  }
}

/** As TensorFlow divides integers: in 32 bits those of up to 16, others in 64. */
function meanOfIntegers(inputs: readonly Tensor[]): Tensor {
  const sum = inputs.reduce((a, b) => a.add(b));
  if (inputs.length === 1) return sum;
  return sum.cast(dtypeTraits[sum.dtype].bytes <= 2 ? 'float32' : 'float64').div(inputs.length);
}

/** The mean of the inputs. */
export class Average extends Merge {
  declare static readonly fromConfig: FromConfig<Average>;
  protected override merge(inputs: readonly Tensor[]): Tensor {
    if (!isFloating(this.computeDtype)) return meanOfIntegers(inputs);
    const list = inputs.map((x) => (isFloating(x.dtype) ? x : x.cast(this.computeDtype)));
    return list.length === 1 ? list[0] : list.reduce((a, b) => a.add(b)).div(list.length);
  }
  protected override mergeSparse(inputs: readonly SparseTensor[]): SparseTensor {
    return onValues(sumOf(inputs), (values) => values.cast(this.computeDtype).div(inputs.length));
  }
}

abstract class Extreme extends Merge {
  protected abstract of(a: Tensor, b: Tensor): Tensor;
  protected override merge(inputs: readonly Tensor[]): Tensor {
    return inputs.reduce((a, b) => this.of(a, b));
  }
  /** Another input's value stands for what a mask hides. */
  protected override mergeSeen(inputs: readonly Tensor[], seen: readonly (Tensor | null)[]): Tensor {
    let [y] = inputs;
    let [known] = seen;
    inputs.slice(1).forEach((input, i) => {
      const mask = seen[i + 1];
      const x = mask === null ? input : mask.where(input, y);
      if (known !== null) y = known.where(y, x);
      known = anySeen([known, mask]);
      y = this.of(y, x);
    });
    return y;
  }
}

/** The largest of the inputs. */
export class Maximum extends Extreme {
  declare static readonly fromConfig: FromConfig<Maximum>;
  protected override of(a: Tensor, b: Tensor): Tensor {
    return a.maximum(b);
  }
  protected override mergeSparse(inputs: readonly SparseTensor[]): SparseTensor {
    return inputs.reduce((a, b) => sparse.maximum(a, b));
  }
}

/** The smallest of the inputs. */
export class Minimum extends Extreme {
  declare static readonly fromConfig: FromConfig<Minimum>;
  protected override of(a: Tensor, b: Tensor): Tensor {
    return a.minimum(b);
  }
  protected override mergeSparse(inputs: readonly SparseTensor[]): SparseTensor {
    return inputs.reduce((a, b) => sparse.minimum(a, b));
  }
}

/** Options of `Concatenate`. */
export interface ConcatenateOptions extends LayerOptions {
  /** The axis along which inputs are joined; the last by default. */
  readonly axis?: number;
}

/** The inputs joined along one axis; all other axes must agree. */
export class Concatenate extends Layer {
  declare static readonly fromConfig: FromConfig<Concatenate>;
  /** The axis along which inputs are joined. */
  declare readonly axis: number;

  constructor(...args: [axis?: number | null | ConcatenateOptions, options?: ConcatenateOptions]) {
    super(argumentsOf<ConcatenateOptions>(Concatenate, new.target, args));
  }
  override build(inputShape: Shapes): void {
    this.computeOutputShape(inputShape);
  }
  override call(inputs: LayerInput): Tensor {
    const list = tensorsOf(this, inputs);
    this.computeOutputShape(list.map((x) => x.shape));
    if (list.every((x) => kindOf(x) === 'sparse'))
      return sparse.concat(this.axis, list as unknown as SparseTensor[]) as unknown as Tensor;
    return concat(
      list.map((x) => (kindOf(x) === 'sparse' ? densified(x) : x)),
      this.axis,
    );
  }
  /** What counts in any of the joined inputs; one without a mask counts everywhere. */
  override computeMask(inputs: LayerInput, mask: Mask): Mask {
    if (!Array.isArray(mask) || mask.every((m) => m === null)) return null;
    const whole = tensorsOf(this, inputs).map((x, i) => {
      const own = (mask as readonly (Tensor | null)[])[i] ?? null;
      if (own === null) return onesLike(x, 'bool');
      return own.rank < x.rank ? own.expandDims(-1).logicalOr(zerosLike(x, 'bool')) : own;
    });
    return concat(whole, this.axis).any(-1);
  }

  override computeOutputShape(inputShape: Shapes): PartialShape {
    const shapes = listOf(this, inputShape);
    const rank = shapes[0].length;
    if (shapes.some((s) => s.length !== rank)) fail(this, `needs inputs of one rank, got ${showAll(shapes)}`);
    if (this.axis < -rank || this.axis >= rank) {
      fail(this, `joins along axis ${this.axis}, which inputs ${showAll(shapes)} do not have`);
    }
    const axis = this.axis < 0 ? this.axis + rank : this.axis;
    const all = shapes.map(sizesOf);
    return shapeOf(
      Array.from({ length: rank }, (_, i) => {
        const sizes = all.map((s) => s[i]);
        const size = i === axis ? sizes.reduce(plus) : common(sizes);
        if (size === undefined)
          fail(this, `needs inputs that agree but on axis ${this.axis}, got ${showAll(shapes)}`);
        return size;
      }),
    );
  }
}
/** Options of `Dot`. */
export interface DotOptions extends LayerOptions {
  /** Whether vectors are divided by their norms before, so that products are cosines; false by default. */
  readonly normalize?: boolean;
}

/** All arguments of `Dot`, by name. */
export interface DotArguments extends DotOptions {
  /** The axis of both along which products are summed, or that of each; not the batch. */
  readonly axes: number | readonly [first: number, second: number];
}

/**
 * The products of two tensors' vectors, example by example: of [batch, a, n] and [batch, b, n] along axis 2 comes [batch, a, b], of
 * [batch, n] and [batch, n] along axis 1 [batch, 1].
 */
export class Dot extends Layer {
  declare static readonly fromConfig: FromConfig<Dot>;
  /** The axis of both along which products are summed, or that of each; not the batch. */
  declare readonly axes: number | readonly [number, number];
  /** Whether vectors are divided by their norms before, so that products are cosines. */
  declare readonly normalize: boolean;

  constructor(...args: [axes: DotArguments['axes'] | DotArguments, options?: DotOptions]) {
    super(argumentsOf<DotArguments>(Dot, new.target, args));
  }
  override build(inputShape: Shapes): void {
    this.computeOutputShape(inputShape);
  }
  override call(inputs: LayerInput): Tensor {
    const list = tensorsOf(this, inputs);
    const shape = this.computeOutputShape(list.map((x) => x.shape)) as Shape;
    const axes = this.#axes(list.map((x) => x.rank));
    const [a, b] = list.map((x, i) => (this.normalize ? nn.l2Normalize(x, axes[i]) : x));
    let next = 'c'.charCodeAt(0);
    // a is the batch, b what is summed.
    const [first, second] = list.map((x, i) =>
      dims(x).map((_, axis) => (axis === 0 ? 'a' : axis === axes[i] ? 'b' : String.fromCharCode(next++))),
    );
    const result = ['a', ...[...first, ...second].filter((letter) => letter > 'b')].join('');
    // Products of few dtypes of integers have a kernel; of what overflows, the same bits remain.
    const { dtype } = a;
    const wide = isFloating(dtype) || dtype === 'int32' || dtype === 'int64' || !isInteger(dtype);
    const of = dtype === 'uint32' || dtype === 'uint64' ? 'int64' : 'int32';
    const [x, y] = wide && dtype !== 'bool' ? [a, b] : [a.cast(of), b.cast(of)];
    const product = einsum(`${first.join('')},${second.join('')}->${result}`, x, y).reshape(shape);
    return product.dtype === dtype ? product : product.cast(dtype);
  }
  /** There is none. */
  override computeMask(_inputs: LayerInput, _previousMask: Mask): Mask {
    return null;
  }
  override computeOutputShape(inputShape: Shapes): PartialShape {
    const shapes = listOf(this, inputShape);
    if (shapes.length !== 2) fail(this, `takes exactly two tensors, got ${shapes.length}`);
    const all = shapes.map(sizesOf);
    const axes = this.#axes(all.map((s) => s.length));
    for (const [what, i, j] of [
      ['batch sizes', 0, 0],
      ['sizes along its axes', ...axes],
    ] as const)
      if (common([all[0][i], all[1][j]]) === undefined)
        fail(this, `needs equal ${what}, got ${showAll(shapes)}`);
    const batch = common([all[0][0], all[1][0]]) as Size;
    const rest = all.flatMap((s, i) => s.filter((_, axis) => axis !== 0 && axis !== axes[i]));
    return shapeOf([batch, ...(rest.length === 0 ? [1] : rest)]);
  }
  #axes(ranks: readonly number[]): readonly [number, number] {
    const given = typeof this.axes === 'number' ? [this.axes, this.axes] : this.axes;
    const axes = given.map((axis, i) => (axis < 0 ? axis + ranks[i] : axis));
    if (axes.some((axis, i) => axis < 1 || axis >= ranks[i]))
      fail(
        this,
        `sums along axes [${given}], which inputs of rank ${ranks.join(' and ')} do not have behind the batch`,
      );
    return axes as unknown as readonly [number, number];
  }
}
ownsTemporaries(Merge, Concatenate, Dot);
takesKinds(['sparse', 'ragged'], Merge, Concatenate);
takesCall({ options: { training: true, mask: true }, maskOfEach: true }, Merge);
takesOptions<LayerOptions, Merge>(
  { options: layerOptions },
  Add,
  Subtract,
  Multiply,
  Average,
  Maximum,
  Minimum,
);
takesOptions<ConcatenateOptions, Concatenate>(
  { positional: ['axis'], required: 0, options: { axis, ...layerOptions } },
  Concatenate,
);
takesOptions<DotArguments, Dot>(
  {
    positional: ['axes'],
    options: {
      axes: {
        read: (given, _, layer) => {
          const list = typeof given === 'number' ? [given, given] : given;
          if (!Array.isArray(list) || list.length !== 2 || !list.every((a) => Number.isSafeInteger(a)))
            fail(layer as Layer, `needs axes of one integer or two, got ${show(given)}`);
          return given as DotArguments['axes'];
        },
      },
      normalize: flag(false),
      ...layerOptions,
    },
  },
  Dot,
);
