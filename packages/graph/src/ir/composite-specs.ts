// Specs of values that are made of several tensors: for signatures of traced functions and elements of datasets.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import {
  type CompositeTensor,
  IndexedSlices,
  type PartialShape,
  type RaggedTensor,
  SparseTensor,
  Tensor,
} from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  type Call,
  CompositeTensor as Composite,
  checkDTypeName,
  checkPartialShape,
  defineMethods,
  isComposite,
  isRagged,
  makeRagged,
  makeSparse,
  showInConsole,
  showShape,
  takesArguments,
  tree,
} from '@eagre/core/internal';
import { commonSupertype, compatible, isSpecClass, specMethods, subtype } from './spec-relations.ts';
import { TensorSpec } from './tensor-spec.ts';

/** What all specs are: `spec instanceof tf.TypeSpec`. */
export abstract class TypeSpec {
  static [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof TensorSpec || value instanceof CompositeSpec;
  }
}

/** A spec whose parts are specs of tensors. What is put in their places makes the value that it describes. */
export abstract class CompositeSpec extends Composite {
  get advice(): string {
    return 'it is a spec, and no tensor';
  }
  dispatch(_call: Call): unknown {
    return undefined;
  }

  /** Whether a value, or a value of another spec, can be of this one: of its kind and dtypes, and of a shape that fits. */
  isCompatibleWith(...args: Arguments<[specOrValue: unknown], ['specOrValue']>): boolean;
  isCompatibleWith(specOrValue: unknown): boolean {
    const isValue = isComposite(specOrValue) && !(specOrValue instanceof CompositeSpec);
    return compatible(this, isValue ? specOfComposite(specOrValue) : specOrValue);
  }
  /** Whether every value of this spec is one of the other. */
  isSubtypeOf(...args: Arguments<[other: unknown], ['other']>): boolean;
  isSubtypeOf(other: unknown): boolean {
    return subtype(this, other);
  }
  /** The spec that values of this one and of all others have, as exact as can be; null where there is none. */
  mostSpecificCommonSupertype(...args: Arguments<[others: readonly unknown[]], ['others']>): this | null;
  mostSpecificCommonSupertype(others: readonly unknown[]): this | null {
    return commonSupertype<this>(this, others, `${this.constructor.name}.mostSpecificCommonSupertype`);
  }
}
defineMethods(CompositeSpec.prototype, 'TypeSpec', specMethods);
isSpecClass(CompositeSpec);

const isTensorSpec = (part: unknown): boolean => part instanceof TensorSpec;

interface RaggedOptions {
  readonly shape?: PartialShape | null;
  readonly dtype?: DType;
  readonly raggedRank?: number | null;
  readonly rowSplitsDtype?: 'int32' | 'int64';
}

/**
 * What an argument of a traced function may be: a ragged tensor. `new tf.RaggedTensorSpec([null, null], 'int32')`; null stands for any size.
 * @param raggedRank how many dimensions are ragged: all but the first unless given. 0 is for rows in `fnOutputSignature` of `tf.mapFn`: a tensor.
 */
export class RaggedTensorSpec extends CompositeSpec {
  /** Null for sizes that may be any; null as a whole for any shape. */
  readonly shape: PartialShape | null;
  /** Of the values. */
  readonly dtype: DType;
  /** How many dimensions are ragged. */
  readonly raggedRank: number;
  /** The dtype of the splits. */
  readonly rowSplitsDtype: 'int32' | 'int64';

  constructor(
    ...args: Arguments<
      [
        shape?: PartialShape | null,
        dtype?: DType,
        raggedRank?: number | null,
        rowSplitsDtype?: 'int32' | 'int64',
      ],
      ['shape', 'dtype', 'raggedRank', 'rowSplitsDtype']
    >
  ) {
    super();
    const op = 'RaggedTensorSpec';
    const {
      shape = null,
      dtype = 'float32',
      raggedRank = null,
      rowSplitsDtype = 'int64',
    } = args.length === 0
      ? ({} as RaggedOptions)
      : argumentsOf<RaggedOptions>(RaggedTensorSpec, new.target, args);
    if (shape !== null) checkPartialShape(shape, op);
    checkDTypeName(dtype, op);
    if (shape === null && raggedRank === null)
      throw new InvalidArgumentError('give a shape or a raggedRank', op);
    const rank = raggedRank ?? (shape as PartialShape).length - 1;
    if (!Number.isInteger(rank) || rank < 0 || (shape !== null && rank >= shape.length))
      throw new InvalidArgumentError(
        `raggedRank must be from 0 to the rank less one, got ${rank} for ${shape === null ? 'any shape' : showShape(shape)}`,
        op,
      );
    if (rowSplitsDtype !== 'int32' && rowSplitsDtype !== 'int64')
      throw new InvalidArgumentError(
        `rowSplitsDtype must be int32 or int64, got ${String(rowSplitsDtype)}`,
        op,
      );
    this.shape = shape;
    this.dtype = dtype;
    this.raggedRank = rank;
    this.rowSplitsDtype = rowSplitsDtype;
  }

  get parts(): readonly unknown[] {
    const { shape, dtype, raggedRank, rowSplitsDtype } = this;
    if (raggedRank === 0) return [new TensorSpec(shape, dtype)];
    const flat = shape === null ? null : [null, ...shape.slice(raggedRank + 1)];
    const rows = shape?.[0] ?? null;
    return [
      new TensorSpec(flat, dtype),
      ...Array.from(
        { length: raggedRank },
        (_, i) => new TensorSpec([i === 0 && rows !== null ? rows + 1 : null], rowSplitsDtype),
      ),
    ];
  }
  get partNames(): readonly string[] {
    return ['flatValues', ...this.parts.slice(1).map((_, i) => `nestedRowSplits[${i}]`)];
  }
  get facts(): string {
    return `RaggedTensor<${new Array<null>(this.raggedRank).fill(null).map(String).join(',')}>`;
  }
  withParts(parts: readonly unknown[]): unknown {
    if (parts.every(isTensorSpec)) return raggedSpec(parts as readonly TensorSpec[]);
    const [values, ...splits] = parts;
    return splits.reduceRight((inner, s) => makeRagged(inner as never, s as never), values);
  }
  override toString(): string {
    const { shape, dtype, raggedRank, rowSplitsDtype } = this;
    return `RaggedTensorSpec(shape=${shape === null ? 'any' : showShape(shape)}, dtype=${dtype}, raggedRank=${raggedRank}, rowSplitsDtype=${rowSplitsDtype})`;
  }
  /** The spec of a ragged tensor. */
  static fromValue(value: RaggedTensor): RaggedTensorSpec {
    const { shape, dtype, raggedRank, rowSplits } = value;
    return new RaggedTensorSpec(shape, dtype, raggedRank, rowSplits.dtype as 'int32' | 'int64');
  }
}

interface SparseOptions {
  readonly shape?: PartialShape | null;
  readonly dtype?: DType;
}

/** What an argument of a traced function may be: a sparse tensor. `new tf.SparseTensorSpec([null, 100], 'float32')`. */
export class SparseTensorSpec extends CompositeSpec {
  /** Null for sizes that may be any; null as a whole for any shape. */
  readonly shape: PartialShape | null;
  /** Of the values. */
  readonly dtype: DType;

  constructor(...args: Arguments<[shape?: PartialShape | null, dtype?: DType], ['shape', 'dtype']>) {
    super();
    const op = 'SparseTensorSpec';
    const { shape = null, dtype = 'float32' } =
      args.length === 0
        ? ({} as SparseOptions)
        : argumentsOf<SparseOptions>(SparseTensorSpec, new.target, args);
    if (shape !== null) checkPartialShape(shape, op);
    checkDTypeName(dtype, op);
    this.shape = shape;
    this.dtype = dtype;
  }

  get parts(): readonly unknown[] {
    const rank = this.shape?.length ?? null;
    return [
      new TensorSpec([null, rank], 'int64'),
      new TensorSpec([null], this.dtype),
      new TensorSpec([rank], 'int64'),
    ];
  }
  get partNames(): readonly string[] {
    return ['indices', 'values', 'denseShape'];
  }
  get facts(): string {
    return 'SparseTensor';
  }
  withParts(parts: readonly unknown[]): unknown {
    if (parts.every(isTensorSpec)) return this;
    return makeSparse(parts[0] as never, parts[1] as never, parts[2] as never);
  }
  /** The spec of a sparse tensor. */
  static fromValue(value: SparseTensor): SparseTensorSpec {
    return new SparseTensorSpec(value.shape, value.dtype);
  }
  override toString(): string {
    return `SparseTensorSpec(shape=${this.shape === null ? 'any' : showShape(this.shape)}, dtype=${this.dtype})`;
  }
}

/** What an argument of a traced function may be: some rows of a tensor. `new tf.IndexedSlicesSpec([1000, 64], 'float32')`. */
export class IndexedSlicesSpec extends CompositeSpec {
  /** Null for sizes that may be any; null as a whole for any shape. */
  readonly shape: PartialShape | null;
  /** Of the values. */
  readonly dtype: DType;
  /** The dtype of the indices. */
  readonly indicesDtype: 'int32' | 'int64';

  constructor(
    ...args: Arguments<
      [shape?: PartialShape | null, dtype?: DType, indicesDtype?: 'int32' | 'int64'],
      ['shape', 'dtype', 'indicesDtype']
    >
  ) {
    super();
    const op = 'IndexedSlicesSpec';
    const given: SparseOptions & { readonly indicesDtype?: 'int32' | 'int64' } =
      args.length === 0 ? {} : argumentsOf<SparseOptions>(IndexedSlicesSpec, new.target, args);
    const { shape = null, dtype = 'float32', indicesDtype = 'int64' } = given;
    if (shape !== null) checkPartialShape(shape, op);
    checkDTypeName(dtype, op);
    this.shape = shape;
    this.dtype = dtype;
    this.indicesDtype = indicesDtype;
  }

  get parts(): readonly unknown[] {
    const { shape, dtype, indicesDtype } = this;
    return [
      new TensorSpec(shape === null ? null : [null, ...shape.slice(1)], dtype),
      new TensorSpec([null], indicesDtype),
      new TensorSpec([shape?.length ?? null], 'int32'),
    ];
  }
  get partNames(): readonly string[] {
    return ['values', 'indices', 'denseShape'];
  }
  get facts(): string {
    return 'IndexedSlices<>';
  }
  withParts(parts: readonly unknown[]): unknown {
    if (parts.every(isTensorSpec)) return this;
    return new IndexedSlices(parts[0] as never, parts[1] as never, parts[2] as never);
  }
  override toString(): string {
    const { shape, dtype, indicesDtype } = this;
    return `IndexedSlicesSpec(shape=${shape === null ? 'any' : showShape(shape)}, dtype=${dtype}, indicesDtype=${indicesDtype})`;
  }
}

/** The spec of ragged tensors with such values and splits. */
function raggedSpec([flat, ...splits]: readonly TensorSpec[]): RaggedTensorSpec {
  const rows = splits[0]?.shape?.[0] ?? null;
  const inner = flat?.shape?.slice(1) ?? [];
  return new RaggedTensorSpec(
    [rows === null ? null : rows - 1, ...splits.map(() => null), ...inner],
    flat?.dtype ?? 'float32',
    splits.length,
    (splits[0]?.dtype ?? 'int64') as 'int64',
  );
}

/** The spec of a composite tensor whose parts are specs. */
export function specOfParts(value: CompositeTensor): CompositeTensor {
  const [first, second] = value.parts as readonly TensorSpec[];
  if (isRagged(value)) return raggedSpec(value.parts as readonly TensorSpec[]);
  if (value instanceof SparseTensor) {
    const rank = first?.shape?.[1] ?? null;
    return new SparseTensorSpec(
      rank === null ? null : new Array<null>(rank).fill(null),
      second?.dtype ?? 'float32',
    );
  }
  if (value instanceof IndexedSlices) {
    const inner = first?.shape?.slice(1) ?? [];
    return new IndexedSlicesSpec([null, ...inner], first?.dtype ?? 'float32', second?.dtype as 'int64');
  }
  return value.specOfParts;
}

/** The spec of a composite tensor. */
export function specOfComposite(value: CompositeTensor): CompositeTensor {
  if (isRagged(value)) return RaggedTensorSpec.fromValue(value);
  if (value instanceof SparseTensor) return SparseTensorSpec.fromValue(value);
  if (value instanceof IndexedSlices)
    return new IndexedSlicesSpec(value.shape, value.dtype, value.indices.dtype as 'int64');
  const specs = value.parts.map((part) =>
    tree.mapLeaves(
      part,
      'tf.typeSpecFromValue',
      (leaf) =>
        leaf instanceof Tensor
          ? new TensorSpec(leaf.shape, leaf.dtype)
          : isComposite(leaf)
            ? specOfComposite(leaf)
            : leaf,
      tree.wholeComposites,
    ),
  );
  return (value.withParts(specs) as CompositeTensor).specOfParts;
}

takesArguments<RaggedOptions>(
  {
    positional: ['shape', 'dtype', 'raggedRank', 'rowSplitsDtype'],
    required: 0,
    names: { shape: true, dtype: true, raggedRank: true, rowSplitsDtype: true },
  },
  RaggedTensorSpec,
);
takesArguments<SparseOptions>(
  { positional: ['shape', 'dtype'], required: 0, names: { shape: true, dtype: true } },
  SparseTensorSpec,
);
takesArguments<SparseOptions & { readonly indicesDtype?: 'int32' | 'int64' }>(
  {
    positional: ['shape', 'dtype', 'indicesDtype'],
    required: 0,
    names: { shape: true, dtype: true, indicesDtype: true },
  },
  IndexedSlicesSpec,
);
for (const spec of [RaggedTensorSpec, SparseTensorSpec, IndexedSlicesSpec])
  showInConsole(spec.prototype, String);
