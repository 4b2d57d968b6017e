// What the variables of branches and loops are in a graph, and what is the same in all of them.
import { constant, type DType, type PartialShape, Tensor, Variable, zeros } from '@eagre/core';
import {
  context,
  isCompatible,
  isFloating,
  isInteger,
  isPlain,
  sameShape,
  showShape,
  toTensor,
} from '@eagre/core/internal';
import { TensorArray, TensorSpec } from '@eagre/graph';
import { AutographError } from '../errors.ts';
import { type Bare, bareOf, heldAs, type Met, mark, meets } from './bare.ts';

/** A tensor. */
interface Leaf {
  readonly kind: 'leaf';
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** The shapes that it may have, where that is said: null for sizes that change. */
  readonly open?: PartialShape;
  /** Of a bare number: what it is, and the dtypes that it meets, its sources' too. */
  readonly bare?: { readonly integer: boolean; readonly met: Met; readonly from: Set<Met> };
}

/** What a value becomes in a graph: nothing where all ways have the same one. */
export type Kind =
  | 'same'
  | 'array'
  | Leaf
  | { readonly kind: 'list'; readonly items: readonly Kind[] }
  | { readonly kind: 'object'; readonly keys: readonly string[]; readonly items: readonly Kind[] };

/** Thrown through a trace that has to start again with other kinds. */
export class Retry extends Error {
  override readonly name: string = 'Retry';
  readonly kinds: readonly Kind[];

  constructor(kinds: readonly Kind[]) {
    super('the kinds of variables were found');
    this.kinds = kinds;
  }
}

type HostScalar = number | boolean | bigint;

const isHostScalar = (v: unknown): v is HostScalar =>
  typeof v === 'number' || typeof v === 'boolean' || typeof v === 'bigint';

const hostDType = (v: boolean | bigint): DType => (typeof v === 'boolean' ? 'bool' : 'int64');

/** The kind of a bare number. */
const bareKind = (dtype: DType, integer: boolean): Kind => ({
  kind: 'leaf',
  dtype,
  shape: [],
  bare: { integer, met: new Set(), from: new Set() },
});

/** The dtypes that tensors for bare numbers have. */
const held = (...values: readonly unknown[]): readonly DType[] =>
  values.filter((v) => v instanceof Tensor).map(({ dtype }) => dtype);

const show = (v: unknown): string => {
  if (v instanceof Tensor || v instanceof Variable) return `${v.dtype} ${showShape(v.shape)}`;
  if (v instanceof TensorArray) return 'a TensorArray';
  if (typeof v === 'string') return JSON.stringify(v);
  if (Array.isArray(v)) return `an array of ${v.length}`;
  if (isPlain(v)) return `an object with the keys ${Object.keys(v).join(', ')}`;
  if (typeof v === 'object' && v !== null) return `an object of class ${v.constructor.name}`;
  return typeof v === 'function' ? 'a function' : String(v);
};

/** A name for messages: of a variable, or of something else. */
export interface Naming {
  readonly site: string;
  readonly name: string;
  /** Where the two values come from. */
  readonly ways: readonly [string, string];
  /** Whether tensors of other sizes may come: branches have them, loops do not. */
  readonly anySizes?: boolean;
}

function differs({ site, name, ways, anySizes }: Naming, a: unknown, b: unknown): AutographError {
  const rule =
    Array.isArray(a) && Array.isArray(b)
      ? 'both must be as long, as shapes are known in a graph: write to a tf.TensorArray of the largest size'
      : `both must be of one dtype and ${anySizes === true ? 'rank' : 'shape'}${isGrowing(a, b, ways[0]) ? '; sizes that change from turn to turn are named by tf.autograph.experimental.setLoopOptions({ shapeInvariants: … })' : ''}`;
  return new AutographError(site, `${name} is ${show(a)} ${ways[0]} and ${show(b)} ${ways[1]}; ${rule}`);
}

/** Whether a loop changes sizes of a tensor alone. */
const isGrowing = (a: unknown, b: unknown, way: string): boolean =>
  way === 'before the loop' &&
  a instanceof Tensor &&
  b instanceof Tensor &&
  a.dtype === b.dtype &&
  a.rank === b.rank;

/** The kind of a value that only one way has. */
export function kindOf(value: unknown, naming: Naming): Kind {
  return unified(value, value, naming, true);
}

/**
 * The kind of what is one value or another.
 * @param fresh whether the same value counts as one that is made anew.
 * @throws AutographError where no graph can hold both.
 */
export function unified(a: unknown, b: unknown, naming: Naming, fresh = false): Kind {
  if (!fresh && Object.is(a, b)) return 'same';
  if (a instanceof TensorArray && b instanceof TensorArray) return 'array';
  const [x, y] = [a, b].map((v) => (v instanceof Variable ? toTensor(v) : v));
  const [m, n] = [bareOf(x), bareOf(y)];
  if (m !== undefined && n !== undefined) {
    const integer = m.integer && n.integer;
    return bareKind(heldAs(held(x, y), integer), integer);
  }
  if (isHostScalar(x) && isHostScalar(y)) {
    if (typeof x !== typeof y || typeof x === 'number') throw differs(naming, a, b);
    return { kind: 'leaf', dtype: hostDType(x), shape: [] };
  }
  if ((x instanceof Tensor || isHostScalar(x)) && (y instanceof Tensor || isHostScalar(y))) {
    const model = x instanceof Tensor && m === undefined ? x : y instanceof Tensor ? y : (x as Tensor);
    const open = naming.anySizes === true ? model.shape.map(() => null) : undefined;
    for (const other of [x, y]) if (!fits(other, model.dtype, model.shape, open)) throw differs(naming, a, b);
    return { kind: 'leaf', dtype: model.dtype, shape: model.shape };
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    const items: readonly unknown[] = b;
    return {
      kind: 'list',
      items: a.map((item: unknown, i) => unified(item, items[i], at(naming, `[${i}]`), fresh)),
    };
  }
  if (isPlain(a) && isPlain(b)) {
    const keys = Object.keys(a);
    if (keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k)))
      return {
        kind: 'object',
        keys,
        items: keys.map((k) => unified(a[k], b[k], at(naming, `.${k}`), fresh)),
      };
  }
  if (fresh) {
    // Nothing but itself can stand for it.
    return 'same';
  }
  if (a === undefined || b === undefined) {
    const missing = a === undefined ? naming.ways[0] : naming.ways[1];
    throw new AutographError(naming.site, `${naming.name} has no value ${missing}: give it one before`);
  }
  throw differs(naming, a, b);
}

const at = (naming: Naming, where: string): Naming => ({ ...naming, name: naming.name + where });

function fits(
  value: Tensor | HostScalar,
  dtype: DType,
  shape: readonly number[],
  open?: PartialShape,
): boolean {
  if (value instanceof Tensor) {
    const isShape = open === undefined ? sameShape(value.shape, shape) : isCompatible(value.shape, open);
    if (value.dtype === dtype && isShape) return true;
    const bare = bareOf(value);
    return bare !== undefined && shape.length === 0 && takes(dtype, bare);
  }
  if (shape.length !== 0) return false;
  if (typeof value === 'boolean' || dtype === 'bool') return typeof value === 'boolean' && dtype === 'bool';
  return isFloating(dtype) || Number.isInteger(Number(value));
}

/** Whether a dtype holds a bare number. */
const takes = (dtype: DType, { integer }: Bare): boolean =>
  isFloating(dtype) || (integer && isInteger(dtype));

/** A kind with what each kind of a number in it becomes. */
function mapBare(kind: Kind, value: unknown, to: (kind: Leaf, value: unknown) => Kind): Kind {
  if (typeof kind === 'string') return kind;
  if (kind.kind === 'leaf') return kind.bare === undefined ? kind : to(kind, value);
  const part = (i: number): unknown =>
    kind.kind === 'list'
      ? Array.isArray(value)
        ? (value as unknown[])[i]
        : undefined
      : isPlain(value)
        ? value[kind.keys[i] as string]
        : undefined;
  const items = kind.items.map((item, i) => mapBare(item, part(i), to));
  return items.every((item, i) => item === kind.items[i]) ? kind : { ...kind, items };
}

/** A kind that was found before, without the dtypes that its bare numbers met. */
export const again = (kind: Kind): Kind =>
  mapBare(kind, undefined, ({ bare }) => bareKind('float32', bare?.integer === true));

/** By what is traced, and by place. */
const found = new WeakMap<object, Map<string, readonly Kind[]>>();

/** The kinds that were found last at the places of the function that is being traced: those to try first. */
export function kindsFound(): Map<string, readonly Kind[]> {
  const tracer = context.tracer as { readonly tracedCall?: object } | null;
  const key = tracer?.tracedCall ?? tracer ?? found;
  let kinds = found.get(key);
  if (kinds === undefined) found.set(key, (kinds = new Map()));
  return kinds;
}

/** The kind with the dtypes that bare numbers have met, or that a value has. */
export const adopted = (kind: Kind, value: unknown): Kind =>
  mapBare(kind, value, (leaf, v) => {
    const { bare, dtype } = leaf;
    if (bare === undefined) return leaf;
    const now = heldAs([dtype, ...bare.met, ...held(v)], bare.integer);
    return now === dtype ? leaf : { ...leaf, dtype: now };
  });

/** The kind with bare integers as int32. */
export const asIntegers = (kind: Kind): Kind =>
  mapBare(kind, undefined, (leaf) =>
    leaf.bare?.integer === true && leaf.dtype === 'float32' ? { ...leaf, dtype: 'int32' } : leaf,
  );

export function sameKind(a: Kind | undefined, b: Kind): boolean {
  if (a === undefined || typeof a === 'string' || typeof b === 'string') return a === b;
  if (a.kind === 'leaf' || b.kind === 'leaf')
    return (
      a.kind === 'leaf' &&
      b.kind === 'leaf' &&
      a.dtype === b.dtype &&
      a.bare?.integer === b.bare?.integer &&
      sameShape(a.shape, b.shape)
    );
  if (a.kind !== b.kind || a.items.length !== b.items.length) return false;
  if (a.kind === 'object' && b.kind === 'object' && a.keys.some((k, i) => k !== b.keys[i])) return false;
  return a.items.every((item, i) => sameKind(item, b.items[i]));
}

/**
 * A kind of which some sizes may change.
 * @param open the shapes, as `shapeInvariants` has them: in the structure of the value, nothing for what keeps its shape.
 */
export function openKind(kind: Kind, open: unknown): Kind {
  if (open === undefined || open === null || typeof kind === 'string') return kind;
  if (kind.kind === 'leaf') return { ...kind, open: shapeOf(open) };
  const parts = open as Readonly<Record<string | number, unknown>>;
  return {
    ...kind,
    items: kind.items.map((item, i) =>
      openKind(item, parts[kind.kind === 'list' ? i : (kind.keys[i] as string)]),
    ),
  };
}

const shapeOf = (open: unknown): PartialShape =>
  (open instanceof TensorSpec ? open.shape : open) as PartialShape;

/** The shapes that the tensors of a kind may have; null for those that keep theirs. */
export function openShapes(kind: Kind, out: (PartialShape | null)[]): void {
  if (kind === 'same') return;
  if (kind === 'array') out.push(null);
  else if (kind.kind === 'leaf') out.push(kind.open ?? null);
  else kind.items.forEach((item) => openShapes(item, out));
}

/** Whether a value can be brought to a kind, as it is. */
export function hasKind(value: unknown, kind: Kind): boolean {
  if (kind === 'same') return false;
  if (kind === 'array') return value instanceof TensorArray;
  if (kind.kind === 'leaf') {
    const x = value instanceof Variable ? toTensor(value) : value;
    if (kind.bare !== undefined) {
      const bare = bareOf(x);
      return bare !== undefined && (bare.integer || !kind.bare.integer);
    }
    return (x instanceof Tensor || isHostScalar(x)) && fits(x, kind.dtype, kind.shape, kind.open);
  }
  if (kind.kind === 'list')
    return (
      Array.isArray(value) &&
      value.length === kind.items.length &&
      kind.items.every((k, i) => k === 'same' || hasKind(value[i], k))
    );
  return (
    isPlain(value) &&
    Object.keys(value).length === kind.keys.length &&
    kind.keys.every(
      (key, i) =>
        Object.hasOwn(value, key) && (kind.items[i] === 'same' || hasKind(value[key], kind.items[i] as Kind)),
    )
  );
}

/** The tensors that stand for a value; zeros where it has none. */
export function encode(kind: Kind, value: unknown, missing: boolean, out: (Tensor | TensorArray)[]): void {
  if (kind === 'same') return;
  if (kind === 'array') {
    if (value instanceof TensorArray) out.push(value);
    return;
  }
  if (kind.kind === 'leaf') {
    if (missing) out.push(zeros(kind.shape, kind.dtype));
    else if (isHostScalar(value)) out.push(constant(value, kind.dtype));
    else out.push(inDType(toTensor(value as Tensor | Variable), kind));
    return;
  }
  kind.items.forEach((item, i) => {
    const part: unknown = missing
      ? undefined
      : kind.kind === 'list'
        ? (value as readonly unknown[])[i]
        : (value as Readonly<Record<string, unknown>>)[kind.keys[i]];
    encode(item, part, missing, out);
  });
}

/** The tensor of a bare number in the dtype of its kind; other tensors as they are. */
function inDType(x: Tensor, { dtype, bare }: Leaf): Tensor {
  const from = bareOf(x);
  if (from === undefined) return x;
  if (bare === undefined) meets(x, dtype);
  else for (const met of from.met) bare.from.add(met);
  return x.dtype === dtype ? x : x.cast(dtype);
}

/** A value with the tensors that stand for it now. @param like what it is where it is the same. */
export function decode(kind: Kind, like: unknown, next: () => unknown): unknown {
  if (kind === 'same') return like;
  if (kind === 'array') return next();
  if (kind.kind === 'leaf') {
    const { bare } = kind;
    const value = next();
    if (bare === undefined || !(value instanceof Tensor)) return value;
    return mark(value, { integer: bare.integer, met: [bare.met, ...bare.from] });
  }
  if (kind.kind === 'list')
    return kind.items.map((item, i) => decode(item, Array.isArray(like) ? like[i] : undefined, next));
  return Object.fromEntries(
    kind.items.map((item, i) => {
      const key = kind.keys[i];
      return [key, decode(item, isPlain(like) ? like[key] : undefined, next)];
    }),
  );
}
