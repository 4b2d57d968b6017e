// The bodies of responses, as TensorFlow Serving lays them out.
import { dtypeTraits, InvalidArgumentError, type TypedArray } from '@eagre/backend';
import { bytesOf, textOf } from '@eagre/core/internal';
import { JsonWriter } from '../json/json-writer.ts';
import { doubleText, floatText } from '../json/numbers.ts';
import type { HostTensor, HostTensors } from '../servable/servable.ts';
import { nameOfDType } from './dtype-names.ts';
import type { PredictFormat } from './predict-request.ts';

/** The body of the response to a predict request. @throws InvalidArgumentError for outputs that the format cannot hold */
export function predictResponse(outputs: HostTensors, format: PredictFormat): string {
  const named = Object.entries(outputs).map(([name, tensor]) => new Values(name, tensor));
  if (named.length === 0) throw new InvalidArgumentError('Cannot convert empty tensor map to JSON');
  return format === 'row' ? inRows(named) : inColumns(named);
}

function inRows(named: readonly Values[]): string {
  const rows = rowCount(named);
  const writer = new JsonWriter();
  writer.startObject();
  writer.key('predictions');
  writer.startArray();
  const objects = named.length > 1;
  for (let row = 0; row < rows; row++) {
    if (objects) writer.startObject();
    writer.singleLineArrays = true;
    for (const values of named) {
      if (objects) writer.key(values.name);
      values.write(writer, 1);
    }
    writer.singleLineArrays = false;
    if (objects) writer.endObject();
  }
  writer.endArray();
  writer.endObject();
  return writer.text;
}

function rowCount(named: readonly Values[]): number {
  const [first] = named;
  for (const { name, shape } of named) {
    if (shape.length === 0) throw new InvalidArgumentError(`Tensor name: ${name} has no shape information `);
    if (shape[0] !== first.shape[0])
      throw new InvalidArgumentError(
        `Tensor name: ${name} has inconsistent batch size: ${shape[0]} expecting: ${first.shape[0]}`,
      );
  }
  return first.shape[0];
}

function inColumns(named: readonly Values[]): string {
  const writer = new JsonWriter();
  writer.startObject();
  writer.key('outputs');
  const objects = named.length > 1;
  if (objects) writer.startObject();
  for (const values of named) {
    if (objects) writer.key(values.name);
    values.write(writer, 0);
  }
  if (objects) writer.endObject();
  writer.endObject();
  return writer.text;
}

/** The values of a tensor, which are written one after the other. */
class Values {
  readonly name: string;
  readonly shape: readonly number[];
  readonly #values: HostTensor['values'];
  readonly #write: (writer: JsonWriter, value: never) => void;
  #next = 0;

  constructor(name: string, { dtype, shape, values }: HostTensor) {
    this.name = name;
    this.shape = shape;
    this.#values = values;
    this.#write = writerOf(name, dtype);
  }

  /** Writes the next values, those of the axes from `axis` on. */
  write(writer: JsonWriter, axis: number): void {
    if (axis >= this.shape.length) {
      this.#write(writer, (this.#values as TypedArray)[this.#next++] as never);
      return;
    }
    writer.startArray();
    for (let i = 0; i < this.shape[axis]; i++) this.write(writer, axis + 1);
    writer.endArray();
  }
}

/** What writes one value. @throws InvalidArgumentError for a dtype that JSON has no values for */
function writerOf(name: string, dtype: HostTensor['dtype']): (writer: JsonWriter, value: never) => void {
  const { floating, integer } = dtypeTraits[dtype];
  if (dtype === 'float64') return (writer, value) => writer.raw(doubleText(value));
  if (floating) return (writer, value) => writer.raw(floatText(value));
  if (integer) return (writer, value) => writer.raw(String(value));
  if (dtype === 'bool') return (writer, value) => writer.raw(value === 0 ? 'false' : 'true');
  if (dtype === 'string')
    return name.endsWith('_bytes') ? writeBytes : (writer, value) => writeText(writer, value, name);
  throw new InvalidArgumentError(`Failed to write JSON value for tensor type: ${nameOfDType(dtype)}`);
}

function writeBytes(writer: JsonWriter, value: string | Uint8Array): void {
  writer.startObject();
  writer.key('b64');
  writer.string(Buffer.from(typeof value === 'string' ? bytesOf(value) : value).toString('base64'));
  writer.endObject();
}

function writeText(writer: JsonWriter, value: string | Uint8Array, name: string): void {
  const text = typeof value === 'string' ? value : textOf(value);
  // Bytes that are no UTF-8 are halves of surrogate pairs there.
  if (/[\ud800-\udfff]/u.test(text))
    throw new InvalidArgumentError(
      `output "${name}" holds bytes that are no UTF-8: an output whose name ends in _bytes is written in base64`,
    );
  writer.string(text);
}

/** The body of an error. */
export function errorBody(message: string): string {
  const writer = new JsonWriter();
  writer.startObject();
  writer.key('error');
  writer.string(message);
  writer.endObject();
  return writer.text;
}

/** The body of the response to a classify request: labels with scores for each example. */
export function classifyResponse(
  results: readonly (readonly (readonly [label: string, score: number])[])[],
): string {
  const writer = new JsonWriter();
  writer.startObject();
  writer.key('results');
  writer.startArray();
  for (const classes of results) {
    writer.singleLineArrays = true;
    writer.startArray();
    for (const [label, score] of classes) {
      writer.startArray();
      writer.string(label);
      writer.raw(floatText(score));
      writer.endArray();
    }
    writer.endArray();
    writer.singleLineArrays = false;
  }
  writer.endArray();
  writer.endObject();
  return writer.text;
}

/** The body of the response to a regress request: a value for each example. */
export function regressResponse(values: readonly number[]): string {
  const writer = new JsonWriter();
  writer.startObject();
  writer.key('results');
  writer.singleLineArrays = true;
  writer.startArray();
  for (const value of values) writer.raw(floatText(value));
  writer.endArray();
  writer.endObject();
  return writer.text;
}
