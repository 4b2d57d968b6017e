// The bodies of predict requests: tensors as nested lists, in rows ("instances") or columns ("inputs").
import { type DType, dtypeTraits, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import {
  isArray,
  isNumber,
  isObject,
  type Json,
  type JsonObject,
  toDouble,
  toInteger,
  typeName,
} from '../json/json.ts';
import { describeJson } from '../json/json-writer.ts';
import { arrayFor, checkShapeOf } from '../servable/host-tensors.ts';
import type { HostTensor, HostTensors, TensorInfo } from '../servable/servable.ts';
import { nameOfDType } from './dtype-names.ts';

/** How the tensors of a request are written, which is how those of its response are. */
export type PredictFormat = 'row' | 'columnar';
export type Infos = Readonly<Record<string, TensorInfo>>;

const has = (infos: Infos, name: string): boolean => Object.hasOwn(infos, name);

/** @throws InvalidArgumentError for what is no string */
export function signatureName(document: JsonObject): string | undefined {
  const name = document.get('signature_name');
  if (name === undefined) return undefined;
  if (typeof name !== 'string')
    throw new InvalidArgumentError(
      `JSON Value: ${describeJson(document)} not formatted correctly. 'signature_name' key must be a string value.`,
    );
  // As in a message that has no name.
  return name === '' ? undefined : name;
}

/** @throws InvalidArgumentError for a text that is no object */
export function asDocument(json: Json): JsonObject {
  if (!isObject(json)) throw formatError(json, 'Is not object');
  return json;
}

export function formatError(value: Json, what: string): InvalidArgumentError {
  return new InvalidArgumentError(`JSON Value: ${describeJson(value)} ${what}`);
}

/**
 * The inputs in the body of a predict request.
 *
 * @throws InvalidArgumentError with TensorFlow Serving's messages for what does not fit the signature.
 */
export function predictInputs(
  document: JsonObject,
  infos: Infos,
): { readonly format: PredictFormat; readonly inputs: HostTensors } {
  const instances = document.get('instances');
  const inputs = document.get('inputs');
  if (instances !== undefined && inputs !== undefined)
    throw formatError(
      document,
      "Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist ",
    );
  const read =
    instances !== undefined
      ? { format: 'row' as const, inputs: inRows(instancesOf(document, instances), infos) }
      : inputs !== undefined
        ? { format: 'columnar' as const, inputs: inColumns(inputs, infos) }
        : undefined;
  if (read === undefined) throw new InvalidArgumentError("Missing 'inputs' or 'instances' key");
  for (const [name, tensor] of Object.entries(read.inputs)) checkShapeOf(name, tensor.shape, infos[name]);
  return read;
}

function instancesOf(document: JsonObject, instances: Json): readonly Json[] {
  if (!isArray(instances)) throw formatError(document, "Expecting 'instances' to be an list/array");
  if (instances.length === 0) throw formatError(document, "No values in 'instances' array");
  return instances;
}

function inRows(instances: readonly Json[], infos: Infos): HostTensors {
  const names = Object.keys(infos);
  const named = isElementObject(instances[0]);
  if (!isObject(instances[0]) && names.length > 1)
    throw new InvalidArgumentError(
      'instances is a plain list, but expecting list of objects as multiple input tensors required as per tensorinfo_map',
    );
  const rows = new Map<string, Rows>();
  const add = (item: Json, name: string): void => {
    if (!has(infos, name)) throw new InvalidArgumentError(`JSON object: does not have named input: ${name}`);
    let tensor = rows.get(name);
    if (tensor === undefined) rows.set(name, (tensor = new Rows(infos[name].dtype)));
    tensor.add(item);
  };
  for (const [i, element] of instances.entries()) {
    if (named) addObject(element, i, names, add);
    else {
      if (isElementObject(element))
        throw new InvalidArgumentError(`Expecting value/list but got object at item ${i} of input list`);
      within(`Failed to process element: ${i} of 'instances' list.`, () => add(element, names[0]));
    }
  }
  return Object.fromEntries([...rows].map(([name, tensor]) => [name, tensor.finish()]));
}

function addObject(
  element: Json,
  i: number,
  names: readonly string[],
  add: (item: Json, name: string) => void,
): void {
  if (!isElementObject(element))
    throw new InvalidArgumentError(`Expecting object but got list at item ${i} of input list`);
  for (const [name, item] of element)
    within(`Failed to process element: ${i} key: ${name} of 'instances' list.`, () => add(item, name));
  if (names.some((name) => !element.has(name)))
    throw new InvalidArgumentError(
      `Failed to process element: ${i} of 'instances' list. JSON object: ${describeJson(element)} keys must be equal to: ${[...names].sort().join(',')}`,
    );
}

function within(where: string, fn: () => void): void {
  try {
    fn();
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new InvalidArgumentError(`${where} Error: INVALID_ARGUMENT: ${error.message}`);
  }
}

function inColumns(value: Json, infos: Infos): HostTensors {
  const names = Object.keys(infos);
  if (isElementObject(value))
    return Object.fromEntries(
      names.map((name) => {
        const item = value.get(name);
        if (item === undefined)
          throw new InvalidArgumentError(`Missing named input: ${name} in 'inputs' object.`);
        return [name, tensorFrom(item, infos[name].dtype)];
      }),
    );
  if (names.length > 1)
    throw new InvalidArgumentError(
      'inputs is a plain value/list, but expecting an object as multiple input tensors required as per tensorinfo_map',
    );
  return { [names[0]]: tensorFrom(value, infos[names[0]].dtype) };
}

/** An object that is not bytes. */
function isElementObject(value: Json): value is JsonObject {
  return isObject(value) && !isBase64(value);
}

/** Whether a value is `{ "b64": "…" }`. */
export function isBase64(value: Json): value is JsonObject {
  return isObject(value) && value.size === 1 && typeof value.get('b64') === 'string';
}

/** The bytes of `{ "b64": "…" }`. @throws InvalidArgumentError for what is something else, and for a string that is no base64 */
export function bytesOf(value: JsonObject): Uint8Array {
  if (!isBase64(value))
    throw new InvalidArgumentError(
      `JSON Value: ${describeJson(value)} not formatted correctly for base64 data`,
    );
  const text = value.get('b64') as string;
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1)
    throw new InvalidArgumentError('Unable to base64 decode');
  return Buffer.from(text, 'base64');
}

type Value = number | bigint | boolean | string | Uint8Array;

/** The first sizes tell the shape; `fill` finds out whether the others agree. */
function shapeOf(value: Json): number[] {
  const shape: number[] = [];
  for (let at: Json | undefined = value; isArray(at); at = at[0]) shape.push(at.length);
  return shape;
}

function tensorFrom(value: Json, dtype: DType): HostTensor {
  const shape = shapeOf(value);
  const values: Value[] = [];
  fill(value, 0, dtype, shape, values);
  return { dtype, shape, values: packed(values, dtype) };
}

/** A tensor of rows, which all have the first one's shape. */
class Rows {
  readonly #dtype: DType;
  readonly #values: Value[] = [];
  #shape: readonly number[] | undefined;
  #rows = 0;

  constructor(dtype: DType) {
    this.#dtype = dtype;
  }

  add(row: Json): void {
    const before = this.#values.length;
    const shape = shapeOf(row);
    fill(row, 0, this.#dtype, shape, this.#values);
    this.#shape ??= shape;
    const size = this.#values.length - before;
    const expected = this.#rows === 0 ? size : before / this.#rows;
    if (size !== expected)
      throw new InvalidArgumentError(`Expecting tensor size: ${expected} but got: ${size}`);
    if (shape.length !== this.#shape.length || shape.some((d, i) => d !== this.#shape?.[i]))
      throw new InvalidArgumentError(`Expecting shape [${this.#shape}] but got: [${shape}]`);
    this.#rows++;
  }

  finish(): HostTensor {
    const shape = [this.#rows, ...(this.#shape ?? [])];
    return { dtype: this.#dtype, shape, values: packed(this.#values, this.#dtype) };
  }
}

function fill(value: Json, level: number, dtype: DType, shape: readonly number[], out: Value[]): void {
  const rank = shape.length;
  if (!isArray(value)) {
    if (level !== rank)
      throw new InvalidArgumentError(
        `JSON Value: ${describeJson(value)} found at incorrect level: ${level + 1} in the JSON DOM. Expected at level: ${rank}`,
      );
    out.push(elementOf(value, dtype));
    return;
  }
  if (level >= rank)
    throw new InvalidArgumentError(`Encountered list at unexpected level: ${level} expected < ${rank}`);
  if (value.length !== shape[level])
    throw new InvalidArgumentError(
      `Encountered list at unexpected size: ${value.length} at level: ${level} expected size: ${shape[level]}`,
    );
  for (const element of value) fill(element, level + 1, dtype, shape, out);
}

/** One value of a tensor. @throws InvalidArgumentError for a value of another type; UnimplementedError for a dtype that JSON has no values for */
function elementOf(value: Exclude<Json, readonly Json[]>, dtype: DType): Value {
  const { floating, integer } = dtypeTraits[dtype];
  if (isObject(value)) {
    if (dtype !== 'string') throw typeError(value, dtype);
    return bytesOf(value);
  }
  if (floating) {
    if (!isNumber(value)) throw typeError(value, dtype);
    return toDouble(value);
  }
  if (integer) {
    const number = integerOf(value, dtype);
    if (number === undefined) throw typeError(value, dtype);
    return number;
  }
  if (dtype === 'bool' && typeof value === 'boolean') return value;
  if (dtype === 'string' && typeof value === 'string') return value;
  if (dtype === 'bool' || dtype === 'string') throw typeError(value, dtype);
  throw new UnimplementedError(
    `Conversion of JSON Value: ${describeJson(value)} to type: ${nameOfDType(dtype)}`,
  );
}

/** The value of an integer, undefined for what is none or beyond the dtype's range. */
function integerOf(value: Json, dtype: DType): number | bigint | undefined {
  const number = toInteger(value);
  if (number === undefined) return undefined;
  const { bytes, low, high } = dtypeTraits[dtype];
  if (bytes < 8) return number >= low && number <= high ? Number(number) : undefined;
  const wide = BigInt(number);
  const fits = dtype === 'uint64' ? BigInt.asUintN(64, wide) === wide : BigInt.asIntN(64, wide) === wide;
  return fits ? wide : undefined;
}

function typeError(value: Json, dtype: DType): InvalidArgumentError {
  return new InvalidArgumentError(
    `JSON Value: ${describeJson(value)} Type: ${typeName(value)} is not of expected type: ${nameOfDType(dtype)}`,
  );
}

function packed(values: readonly Value[], dtype: DType): HostTensor['values'] {
  if (dtype === 'string') return values as readonly (string | Uint8Array)[];
  const array = arrayFor(dtype, values.length);
  for (let i = 0; i < values.length; i++)
    array[i] = (dtype === 'bool' ? Number(values[i]) : values[i]) as never;
  return array;
}
