// Types of the user's own that are made of tensors: they go where tensors in structures go.
import { type DType, FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { CompositeTensor, Tensor, type TensorLike, TensorShape, Variable } from '@eagre/core';
import {
  type Call,
  defineFunction,
  isComposite,
  isPlain,
  kind,
  type NamedFunction,
  partialShape,
  showInConsole,
  shown,
  showShape,
  toOwnTensor,
  tree,
} from '@eagre/core/internal';
import { CompositeSpec, specOfComposite } from './composite-specs.ts';
import { TensorSpec } from './tensor-spec.ts';

// biome-ignore lint/suspicious/noExplicitAny: classes of whatever values
type AnyClass = abstract new (...args: any[]) => any;

/**
 * What a field holds: `tf.Tensor` for any tensor, a `TensorSpec` for one of a dtype and shape, the class of another value that is made of tensors
 * (an extension type, `tf.RaggedTensor`), `Number`, `String`, `Boolean` or `tf.TensorShape` for values that a trace is bound to, an array of
 * these for a tuple, a plain object for fields inside, or what `field` makes.
 */
export type FieldType =
  | typeof Tensor
  | TensorSpec
  | CompositeTensor
  | NumberConstructor
  | StringConstructor
  | BooleanConstructor
  | AnyClass
  | readonly FieldType[]
  | Field<unknown>
  | { readonly [name: string]: FieldType };

/** The value that a field of a type has. */
export type FieldValue<F> =
  F extends Field<infer V>
    ? V
    : F extends typeof Tensor | TensorSpec
      ? Tensor
      : F extends NumberConstructor
        ? number
        : F extends StringConstructor
          ? string
          : F extends BooleanConstructor
            ? boolean
            : F extends abstract new (
                  // biome-ignore lint/suspicious/noExplicitAny: classes of whatever values
                  ...args: any[]
                ) => infer V
              ? V
              : F extends CompositeTensor
                ? CompositeTensor
                : { readonly [K in keyof F]: FieldValue<F[K]> };

type Given<V> = V extends Tensor
  ? TensorLike
  : V extends CompositeTensor | number | string | boolean | null
    ? V
    : { readonly [K in keyof V]: Given<V[K]> };
type WithDefault<F> = {
  [K in keyof F]: F[K] extends Field<unknown> & { readonly optional: true } ? K : never;
}[keyof F];
/** What a constructor takes: the fields by name; those with a default may be left out. */
export type FieldsOf<F> = { readonly [K in Exclude<keyof F, WithDefault<F>>]: Given<FieldValue<F[K]>> } & {
  readonly [K in WithDefault<F>]?: Given<FieldValue<F[K]>>;
};

/** More about a field than its type; `field` makes it. */
export class Field<V> {
  declare readonly value: V;
  readonly type: FieldType;
  readonly hasDefault: boolean;
  readonly fallback: unknown;
  readonly nullable: boolean;
  readonly list: boolean;

  /** @internal */
  constructor(type: FieldType, hasDefault: boolean, fallback: unknown, nullable: boolean, list: boolean) {
    this.type = type;
    this.hasDefault = hasDefault;
    this.fallback = fallback;
    this.nullable = nullable;
    this.list = list;
  }
}

/** Options of `field`. */
export interface FieldOptions {
  /** What the field is where it is not given. */
  readonly default?: unknown;
  /** Whether it may be null. */
  readonly nullable?: boolean;
  /** Whether it is a list of any length. */
  readonly list?: boolean;
}

type Made<F, O extends FieldOptions> = Field<
  | (O['list'] extends true ? readonly FieldValue<F>[] : FieldValue<F>)
  | (O['nullable'] extends true ? null : never)
> &
  (O extends { readonly default: unknown } ? { readonly optional: true } : unknown);

/** A field with a default, one that may be null, or a list: `field(tf.Tensor, { nullable: true, default: null })`. */
export const field: <const F extends FieldType, const O extends FieldOptions>(
  type: F,
  options: O,
) => Made<F, O> = /* @__PURE__ */ defineFunction<
  NamedFunction<[type: FieldType], ['type'], FieldOptions, Field<unknown>>
>(
  'experimental.extensionType.field',
  { type: kind.structure },
  { default: kind.structure, nullable: kind.asIs, list: kind.asIs },
  (type, options) =>
    new Field(type, 'default' in options, options.default, options.nullable === true, options.list === true),
) as never;

/** The fields of a class, in the order in which they were written. */
export type Fields = Readonly<Record<string, FieldType>>;

const isClassOf = (type: unknown, base: AnyClass): boolean =>
  typeof type === 'function' && (type === base || type.prototype instanceof base);
const scalars = new Map<unknown, string>([
  [Number, 'number'],
  [String, 'string'],
  [Boolean, 'boolean'],
]);

/** The value of a field. @throws InvalidArgumentError for one of another type. */
function converted(value: unknown, type: FieldType, name: string, op: string): unknown {
  const fail = (expected: string): never => {
    throw new InvalidArgumentError(`${name} must be ${expected}, got ${shown(value)}`, op);
  };
  if (type instanceof Field) {
    if (value === undefined && type.hasDefault) return converted(type.fallback, type, name, op);
    if (value === null && type.nullable) return null;
    if (!type.list) return converted(value, type.type, name, op);
    if (!Array.isArray(value)) return fail('a list');
    return Object.freeze(value.map((v: unknown, i) => converted(v, type.type, `${name}[${i}]`, op)));
  }
  if (value === undefined) throw new InvalidArgumentError(`${name} must be given`, op);
  if (type === (Tensor as unknown)) return tensorOf(value, undefined, fail);
  if (type instanceof TensorSpec) return fitting(tensorOf(value, type.dtype, fail), type, fail);
  const scalar = scalars.get(type);
  if (scalar !== undefined) return typeof value === scalar ? value : fail(`a ${scalar}`);
  if (isComposite(type)) {
    if (isComposite(value) && value.facts === type.facts) return value;
    return fail(`as ${type}`);
  }
  if (typeof type === 'function')
    return value instanceof (type as AnyClass) ? value : fail(`a ${(type as AnyClass).name}`);
  if (Array.isArray(type)) {
    if (!Array.isArray(value) || value.length !== type.length) return fail(`a list of ${type.length}`);
    return Object.freeze(type.map((t: FieldType, i) => converted(value[i], t, `${name}[${i}]`, op)));
  }
  if (!isPlain(value)) return fail('an object');
  return Object.freeze(fieldsFrom(value, type as Fields, `${name}.`, op));
}

function fieldsFrom(
  given: Readonly<Record<string, unknown>>,
  fields: Fields,
  before: string,
  op: string,
): Record<string, unknown> {
  checkNames(given, fields, before, op);
  return Object.fromEntries(
    Object.entries(fields).map(([name, type]) => [
      name,
      converted(given[name], type, `${before}${name}`, op),
    ]),
  );
}

/** @throws InvalidArgumentError for a name that is none of a field */
function checkNames(given: object, fields: Fields, before: string, op: string): void {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(fields, name))
      throw new InvalidArgumentError(
        `'${before}${name}' is no field; the fields are ${Object.keys(fields).join(', ')}`,
        op,
      );
}

function tensorOf(value: unknown, dtype: DType | undefined, fail: (expected: string) => never): Tensor {
  if (isComposite(value) && value.dense === null) return fail('a tensor');
  try {
    return toOwnTensor(value instanceof Variable ? value.read() : (value as TensorLike), dtype);
  } catch {
    return fail('a tensor');
  }
}

function fitting(t: Tensor, spec: TensorSpec, fail: (expected: string) => never): Tensor {
  const shape = partialShape(t.shape);
  const { shape: wanted } = spec;
  const fits =
    t.dtype === spec.dtype &&
    (wanted === null ||
      (wanted.length === shape.length &&
        wanted.every((n, i) => n === null || shape[i] === null || n === shape[i])));
  return fits ? t : fail(`${spec.dtype} ${wanted === null ? 'of any shape' : showShape(wanted)}`);
}

/** @throws InvalidArgumentError for what is no type of a field. */
function checkType(type: unknown, name: string, op: string): void {
  if (type instanceof Field) {
    checkType(type.type, name, op);
    return;
  }
  if (type instanceof TensorSpec || isComposite(type) || scalars.has(type)) return;
  if (type === TensorShape || isClassOf(type, Tensor) || isClassOf(type, CompositeTensor)) return;
  if (Array.isArray(type)) {
    for (const [i, t] of type.entries()) checkType(t, `${name}[${i}]`, op);
    return;
  }
  if (isPlain(type)) {
    for (const [key, t] of Object.entries(type)) checkType(t, `${name}.${key}`, op);
    return;
  }
  throw new InvalidArgumentError(
    `field ${name} must be tf.Tensor, a spec, a class of values made of tensors, Number, String, Boolean, tf.TensorShape, or these in lists and objects; got ${shown(type)}`,
    op,
  );
}

// biome-ignore lint/suspicious/noExplicitAny: classes of whatever arguments
type AnyExtension = abstract new (...args: any[]) => ExtensionType;
/** A class with fields: what `ExtensionType.of` gives, and classes that extend it. */
type ExtensionClass = AnyExtension & {
  /** What each field is, by its name. */
  readonly fields: Fields;
};

/** What is known of a class. */
interface Declared {
  /** Its fields, and those of the classes that it extends. */
  readonly fields: Fields;
  /** The names of those that hold tensors: the parts of its values. */
  readonly partNames: readonly string[];
  /** The names of the others, whose values belong to the type. */
  readonly factNames: readonly string[];
  /** Tells it from other classes of its name. */
  readonly id: number;
}
const declared = new WeakMap<object, Declared>();
let nextId = 1;

/** What is known of a class. @throws InvalidArgumentError where it has no fields, or such as cannot be. */
function declaredOf(cls: ExtensionClass): Declared {
  const known = declared.get(cls);
  if (known !== undefined) return known;
  const { fields, name } = cls as { readonly fields?: unknown; readonly name: string };
  if (!isPlain(fields))
    throw new InvalidArgumentError(
      'it needs fields: class X extends tf.experimental.ExtensionType.of({ … })',
      name,
    );
  for (const [key, type] of Object.entries(fields)) {
    if (key in CompositeTensor.prototype || key in ExtensionType.prototype)
      throw new InvalidArgumentError(`a field cannot be called ${key}`, name);
    checkType(type, key, name);
  }
  const names = Object.keys(fields);
  const isPart = (key: string): boolean => holdsTensors(fields[key] as FieldType);
  const found = {
    fields: fields as Fields,
    partNames: names.filter(isPart),
    factNames: names.filter((key) => !isPart(key)),
    id: nextId++,
  };
  declared.set(cls, found);
  return found;
}

/** Whether a value holds tensors, or what stands in their places. */
const holdsTensors = (type: FieldType): boolean => {
  if (type instanceof Field) return holdsTensors(type.type);
  if (scalars.has(type) || type === (TensorShape as unknown)) return false;
  if (type instanceof TensorSpec || isComposite(type) || typeof type === 'function') return true;
  return Object.values(type).some(holdsTensors);
};

/**
 * The base of types of one's own that are made of tensors. Their values are arguments and results of traced functions, of `tf.cond`, `tf.whileLoop`
 * and `tf.nest`, and elements of datasets. What functions of tensors do with them is said by `tf.experimental.dispatchForApi`.
 *
 *     class MaskedTensor extends tf.experimental.ExtensionType.of({ values: tf.Tensor, mask: new tf.TensorSpec(null, 'bool') }) {
 *       orElse(value: tf.TensorLike): tf.Tensor { return tf.where(this.mask, this.values, value); }
 *     }
 *     const masked = new MaskedTensor({ values: [1, 2, 3], mask: [true, false, true] });
 *     masked.orElse(0).array(); // [1, 0, 3]
 *
 * Values do not change; `masked.with({ values })` is another one. A class may define `validate()`, which runs when a value is made by its
 * constructor. Fields that are not tensors (numbers, strings) are part of the type: a traced function has a trace for each of their values.
 */
export abstract class ExtensionType extends CompositeTensor {
  /** The types of the fields by name. */
  declare static readonly fields: Fields;

  /** A class of these fields, to be extended. */
  static of<const F extends Fields>(
    fields: F,
  ): {
    new (fields: FieldsOf<F>): ExtensionType & { readonly [K in keyof F]: FieldValue<F[K]> };
    readonly fields: F;
    spec: (typeof ExtensionType)['spec'];
  };
  static of(fields: Fields): never {
    // biome-ignore lint/complexity/noThisInStatic: the class that it is called on is extended
    return made(this, fields) as never;
  }

  /** @throws InvalidArgumentError for values that are not of the types of the fields, and those that are missing or unknown. */
  constructor(fields: Readonly<Record<string, unknown>>) {
    super();
    const cls = new.target as unknown as ExtensionClass;
    const { fields: types } = declaredOf(cls);
    if (!isPlain(fields))
      throw new InvalidArgumentError(
        `expected the fields by name, { ${Object.keys(types).join(', ')} }, got ${shown(fields)}`,
        cls.name,
      );
    put(this, fieldsFrom(fields, types, '', cls.name));
    this.validate();
  }

  /** Says what is wrong with the fields by throwing; does nothing unless a class defines it. */
  validate(): void {}

  /** The same value with some other fields. */
  with(fields: Readonly<Record<string, unknown>>): this {
    const cls = classOf(this);
    if (!isPlain(fields)) throw new InvalidArgumentError(`expected fields, got ${shown(fields)}`, cls.name);
    const made = Object.create(Object.getPrototypeOf(this) as object) as this;
    put(made, fieldsFrom({ ...dictOf(cls, this as never), ...fields }, declaredOf(cls).fields, '', cls.name));
    made.validate();
    return made;
  }

  /** The spec of values with such fields: specs in the places of tensors. For signatures of traced functions. */
  static spec(fields: Readonly<Record<string, unknown>>): ExtensionTypeSpec {
    // biome-ignore lint/complexity/noThisInStatic: the class that it is called on is meant
    return new ExtensionTypeSpec(this as unknown as ExtensionClass, fields);
  }

  get parts(): readonly unknown[] {
    return partsOf(classOf(this), this as never);
  }
  get partNames(): readonly string[] {
    return declaredOf(classOf(this)).partNames;
  }
  get facts(): string {
    return factsOf(classOf(this), this as never);
  }
  withParts(parts: readonly unknown[]): unknown {
    return rebuilt(classOf(this), this as never, parts);
  }
  /** Its gradient is that of its field `values`, where it has one. */
  override get differentiable(): unknown {
    return (this as unknown as { readonly values?: unknown }).values ?? null;
  }
  override withDifferentiable(values: unknown): unknown {
    if (values === null) return null;
    const { partNames, parts } = this;
    return this.withParts(parts.map((part, i) => (partNames[i] === 'values' ? values : part)));
  }
  override get specOfParts(): CompositeTensor {
    return new ExtensionTypeSpec(classOf(this), dictOf(classOf(this), this as never));
  }
  get advice(): string {
    return 'say what the function does with it: tf.experimental.dispatchForApi';
  }
  dispatch(call: Call): unknown {
    if (!call.ofTensors) return undefined;
    throw new InvalidArgumentError(`it does not take a ${this.constructor.name}: ${this.advice}`, call.name);
  }
  override toString(): string {
    return `${this.constructor.name}(${showValues(classOf(this), this as never)})`;
  }
}
showInConsole(ExtensionType.prototype, String);

function made(base: AnyClass, fields: unknown): unknown {
  const inherited = (base as unknown as { readonly fields?: Fields }).fields ?? {};
  if (!isPlain(fields))
    throw new InvalidArgumentError(`expected fields, got ${shown(fields)}`, 'ExtensionType.of');
  const all = Object.freeze({ ...inherited, ...(fields as Fields) });
  return class extends (base as new (...args: never[]) => object) {
    static readonly fields = all;
  };
}

/** Gives a value its fields, for good. */
function put(value: object, fields: Readonly<Record<string, unknown>>): void {
  for (const [name, v] of Object.entries(fields))
    Object.defineProperty(value, name, { value: v, enumerable: true, writable: false, configurable: false });
}

/** The fields of a value by name. */
export const asDict: NamedFunction<
  [value: ExtensionType],
  ['value'],
  unknown,
  Record<string, unknown>
> = /* @__PURE__ */ defineFunction(
  'experimental.extensionType.asDict',
  { value: kind.asIs },
  {},
  (value): Record<string, unknown> => {
    if (!(value instanceof ExtensionType))
      throw new InvalidArgumentError(
        `expected a value of an extension type, got ${shown(value)}`,
        'experimental.extensionType.asDict',
      );
    return dictOf(classOf(value), value as never);
  },
);

const classOf = (value: ExtensionType): ExtensionClass => value.constructor as unknown as ExtensionClass;

// A value and its spec both have the fields as properties.
type Values = Readonly<Record<string, unknown>>;

const dictOf = (cls: ExtensionClass, values: Values): Record<string, unknown> =>
  Object.fromEntries(Object.keys(declaredOf(cls).fields).map((name) => [name, values[name]]));

const showValues = (cls: ExtensionClass, values: Values): string =>
  Object.entries(dictOf(cls, values))
    .map(([name, value]) => `${name}=${tree.showStructure(value, String)}`)
    .join(', ');

const partsOf = (cls: ExtensionClass, values: Values): readonly unknown[] =>
  declaredOf(cls).partNames.map((name) => values[name]);

/** The fields with other parts. */
function fieldsWith(cls: ExtensionClass, values: Values, parts: readonly unknown[]): Record<string, unknown> {
  const others = declaredOf(cls).partNames.map((name, i) => [name, parts[i]]);
  return { ...dictOf(cls, values), ...Object.fromEntries(others) };
}

/** The class, which its name alone does not tell, and the fields that are no tensors. */
function factsOf(cls: ExtensionClass, values: Values): string {
  const { factNames, id } = declaredOf(cls);
  const others = factNames.map((name) => `${name}: ${JSON.stringify(values[name], hostValue)}`);
  return `${cls.name}#${id}${others.length === 0 ? '' : `{ ${others.join(', ')} }`}`;
}
const hostValue = (_: string, value: unknown): unknown =>
  value instanceof TensorShape ||
  Object.is(value, -0) ||
  (typeof value === 'number' && !Number.isFinite(value))
    ? `${typeof value} ${Object.is(value, -0) ? '-0' : String(value)}`
    : value;

/** A value of the class with other parts, which need not be tensors. */
function rebuilt(cls: ExtensionClass, values: Values, parts: readonly unknown[]): ExtensionType {
  const made = Object.create(cls.prototype as object) as ExtensionType;
  put(made, fieldsWith(cls, values, parts));
  return made;
}

const hasNoTensors = (parts: readonly unknown[]): boolean =>
  parts.every((part) =>
    tree.leavesOf(part, 'ExtensionTypeSpec').every((leaf) => leaf === null || leaf instanceof TensorSpec),
  );

/**
 * The spec of values of an extension type: `MaskedTensor.spec({ values: new tf.TensorSpec([null]), mask: new tf.TensorSpec([null], 'bool') })`. It has the
 * fields of its values, with specs in the places of tensors, and `valueType`, the class.
 */
export class ExtensionTypeSpec extends CompositeSpec {
  readonly valueType: ExtensionClass;

  /** @internal Use `spec` of the class, or `fromValue`. */
  constructor(valueType: ExtensionClass, fields: Readonly<Record<string, unknown>>) {
    super();
    this.valueType = valueType;
    const op = `${valueType.name}.spec`;
    const { fields: types, factNames } = declaredOf(valueType);
    if (!isPlain(fields))
      throw new InvalidArgumentError(`expected specs by the names of fields, got ${shown(fields)}`, op);
    checkNames(fields, types, '', op);
    put(
      this,
      Object.fromEntries(
        Object.entries(types).map(([name, type]) => {
          if (factNames.includes(name)) return [name, converted(fields[name], type, name, op)];
          const spec = fields[name] ?? (type instanceof TensorSpec ? type : undefined);
          if (spec === undefined || !hasNoTensors([spec]))
            throw new InvalidArgumentError(`${name} must be the spec of a tensor, got ${shown(spec)}`, op);
          return [name, spec];
        }),
      ),
    );
  }

  /** The spec of a value. */
  static fromValue(value: ExtensionType): ExtensionTypeSpec {
    return specOfComposite(value) as ExtensionTypeSpec;
  }

  get parts(): readonly unknown[] {
    return partsOf(this.valueType, this as never);
  }
  get partNames(): readonly string[] {
    return declaredOf(this.valueType).partNames;
  }
  get facts(): string {
    return factsOf(this.valueType, this as never);
  }
  withParts(parts: readonly unknown[]): unknown {
    const { valueType } = this;
    return hasNoTensors(parts)
      ? new ExtensionTypeSpec(valueType, fieldsWith(valueType, this as never, parts))
      : rebuilt(valueType, this as never, parts);
  }
  override toString(): string {
    return `${this.valueType.name}.Spec(${showValues(this.valueType, this as never)})`;
  }
}
showInConsole(ExtensionTypeSpec.prototype, String);

/**
 * How values of a batchable type become tensors that can be batched, and back; see `BatchableExtensionType.batchEncoder`. A class of one's own
 * overrides what is different: by default each part is batched by itself.
 */
export class ExtensionTypeBatchEncoder {
  /** The tensors that stand for a value: all of one spec have the same number and dtypes, and such shapes as can be stacked. */
  encode(value: ExtensionType): readonly Tensor[] {
    return tree.leavesOf(value, 'ExtensionTypeBatchEncoder') as Tensor[];
  }
  /** The value of such tensors, or that of a batch where they have a first axis more. @param like a value of the same structure. */
  decode(like: ExtensionType, encoding: readonly Tensor[]): ExtensionType {
    return tree.pack(like, encoding, 'ExtensionTypeBatchEncoder') as ExtensionType;
  }
}

/**
 * An extension type whose values `Dataset.batch` stacks and `Dataset.unbatch` and `fromTensorSlices` cut: field by field, or as a `batchEncoder` says.
 *
 *     class Point extends tf.experimental.BatchableExtensionType.of({ x: tf.Tensor, y: tf.Tensor }) {}
 */
export abstract class BatchableExtensionType extends ExtensionType {
  /** How its values are batched. */
  static batchEncoder: ExtensionTypeBatchEncoder = new ExtensionTypeBatchEncoder();
}

/** How the values of a batchable type are batched. */
export function batchEncoderOf(value: BatchableExtensionType): ExtensionTypeBatchEncoder {
  const { batchEncoder } = value.constructor as unknown as { readonly batchEncoder: unknown };
  if (batchEncoder instanceof ExtensionTypeBatchEncoder) return batchEncoder;
  throw new FailedPreconditionError(
    `batchEncoder must be a tf.experimental.ExtensionTypeBatchEncoder, got ${shown(batchEncoder)}`,
    value.constructor.name,
  );
}
