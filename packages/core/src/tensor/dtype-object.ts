// What is known of dtypes, as objects: `tf.asDtype('float32').isFloating`.
import {
  type DType as DTypeName,
  dtypeTraits,
  InvalidArgumentError,
  isComplex,
  partsOf,
} from '@eagre/backend';
import * as kind from '../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, defineMethods, type NamedFunction } from '../arguments/arguments.ts';
import { shown } from '../arguments/checks.ts';
import { argumentsOf, takesArguments } from '../arguments/class-arguments.ts';
import { checkDTypeName, isFloating, isInteger } from './dtypes.ts';
import { showInConsole } from './format.ts';

const LARGEST: Readonly<Partial<Record<DTypeName, number>>> = {
  float16: 65504,
  bfloat16: 3.3895313892515355e38,
  float32: 3.4028234663852886e38,
  float64: Number.MAX_VALUE,
};

/** A dtype and what is known of it. Functions take its `name`, which is what tensors have as their dtype. */
class DTypeObject {
  /** `float32` */
  readonly name: DTypeName;

  /** @param name the name, or such an object */
  constructor(...args: Arguments<[name: DTypeName | DTypeObject], ['name']>) {
    const { name } = argumentsOf<{ readonly name: DTypeName | DTypeObject }>(DTypeObject, new.target, args);
    const given = name instanceof DTypeObject ? name.name : name;
    checkDTypeName(given, 'DType');
    this.name = given;
  }
  /** Bytes of an element; 1 for strings, which have no fixed size. */
  get size(): number {
    return Math.max(1, dtypeTraits[this.name].bytes);
  }
  /** The number in TensorFlow's files. */
  get asDatatypeEnum(): number {
    return dtypeTraits[this.name].tensorflow;
  }
  /** The same: there are no references to variables here. */
  get baseDtype(): DTypeObject {
    return this;
  }
  /** The dtype of the parts of complex numbers; of others the same. */
  get realDtype(): DTypeObject {
    return isComplex(this.name) ? new DTypeObject(partsOf(this.name)) : this;
  }
  /** Whether elements are truth values. */
  get isBool(): boolean {
    return this.name === 'bool';
  }
  /** Whether elements are complex numbers. */
  get isComplex(): boolean {
    return isComplex(this.name);
  }
  /** Whether elements are numbers with a point. */
  get isFloating(): boolean {
    return isFloating(this.name);
  }
  /** Whether elements are integers. */
  get isInteger(): boolean {
    return isInteger(this.name);
  }
  /** Whether elements are numbers. */
  get isNumeric(): boolean {
    return this.isFloating || this.isInteger || this.isComplex;
  }
  /** Never: dtypes of quantized numbers are not here. */
  get isQuantized(): boolean {
    return false;
  }
  /** Whether elements are integers without a sign. */
  get isUnsigned(): boolean {
    return dtypeTraits[this.name].kind === 'uint';
  }
  /** The smallest finite number. @throws InvalidArgumentError where there is none */
  get min(): number | bigint | boolean {
    return this.#limit('low');
  }
  /** The largest finite number. @throws InvalidArgumentError where there is none */
  get max(): number | bigint | boolean {
    return this.#limit('high');
  }
  /** The range of the colours of images: [0, 1] for floats, of integers those that are not negative, or all. */
  limits(...args: Arguments<[clipNegative?: boolean], ['clipNegative']>): [number | bigint, number | bigint];
  limits(clipNegative = true): [number | bigint, number | bigint] {
    if (this.isFloating) return [clipNegative ? 0 : -1, 1];
    if (!this.isInteger) throw new InvalidArgumentError(`${this.name} has no range`, 'DType.limits');
    return [clipNegative ? 0 : (this.min as number | bigint), this.max as number | bigint];
  }
  /** Whether two dtypes are the same. */
  isCompatibleWith(...args: Arguments<[other: DTypeName | DTypeObject], ['other']>): boolean;
  isCompatibleWith(other: DTypeName | DTypeObject): boolean {
    return new DTypeObject(other).name === this.name;
  }
  /** Whether two dtypes are the same. */
  isSubtypeOf(...args: Arguments<[other: DTypeName | DTypeObject], ['other']>): boolean;
  isSubtypeOf(other: DTypeName | DTypeObject): boolean {
    return new DTypeObject(other).name === this.name;
  }
  /** Whether two dtypes are the same. */
  equals(...args: Arguments<[other: DTypeName | DTypeObject], ['other']>): boolean;
  equals(other: DTypeName | DTypeObject): boolean {
    return new DTypeObject(other).name === this.name;
  }
  toString(): string {
    return `<dtype: '${this.name}'>`;
  }
  toJSON(): DTypeName {
    return this.name;
  }

  #limit(which: 'low' | 'high'): number | bigint | boolean {
    const { name } = this;
    if (name === 'bool') return which === 'high';
    if (name === 'int64') return which === 'high' ? 2n ** 63n - 1n : -(2n ** 63n);
    if (name === 'uint64') return which === 'high' ? 2n ** 64n - 1n : 0n;
    const most = LARGEST[name];
    if (most !== undefined) return which === 'high' ? most : -most;
    if (!this.isInteger)
      throw new InvalidArgumentError(
        `${name} has no ${which === 'low' ? 'smallest' : 'largest'} number`,
        'DType',
      );
    return dtypeTraits[name][which];
  }
}
takesArguments<{ readonly name: DTypeName | DTypeObject }>(
  { positional: ['name'], required: 1, names: { name: true } },
  DTypeObject,
);
defineMethods(DTypeObject.prototype, 'DType', {
  limits: { positional: ['clipNegative'], required: 0 },
  isCompatibleWith: { positional: ['other'] },
  isSubtypeOf: { positional: ['other'] },
  equals: { positional: ['other'] },
});
showInConsole(DTypeObject.prototype, String);
Object.defineProperty(DTypeObject, 'name', { value: 'DType' });

/** The name of a dtype. The value of this name is the class of objects that tell about dtypes. */
export type DType = DTypeName;
/** A dtype and what is known of it: `new tf.DType('float32')`, or `tf.asDtype('float32')`. */
export const DType: typeof DTypeObject = DTypeObject;

/** Other names of dtypes in TensorFlow and NumPy. */
const ALIASES: Readonly<Record<string, DTypeName>> = {
  half: 'float16',
  float: 'float32',
  double: 'float64',
  cfloat: 'complex64',
  cdouble: 'complex128',
  str: 'string',
};

/**
 * What is known of a dtype: of a name, of one that C or NumPy use, such as `double`, of the number in TensorFlow's files, or of such an
 * object. @throws InvalidArgumentError for anything else
 */
export const asDtype: NamedFunction<
  [typeValue: DTypeName | 'half' | 'float' | 'double' | number | DTypeObject],
  ['typeValue'],
  unknown,
  DTypeObject
> = /* @__PURE__ */ defineFunction('asDtype', { typeValue: kind.asIs }, {}, (typeValue) => {
  if (typeValue instanceof DTypeObject) return typeValue;
  if (typeof typeValue === 'number') {
    const found = Object.values(dtypeTraits).find(({ tensorflow }) => tensorflow === typeValue);
    if (found === undefined)
      throw new InvalidArgumentError(`there is no dtype of number ${typeValue}`, 'asDtype');
    return new DTypeObject(found.name);
  }
  if (typeof typeValue !== 'string')
    throw new InvalidArgumentError(`expected the name of a dtype, got ${shown(typeValue)}`, 'asDtype');
  return new DTypeObject(
    Object.hasOwn(ALIASES, typeValue) ? (ALIASES[typeValue] as DTypeName) : (typeValue as DTypeName),
  );
});
