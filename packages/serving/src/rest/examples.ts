// The bodies of classify and regress requests, which hold examples: features by name.
import { dtypeTraits, InvalidArgumentError } from '@eagre/backend';
import { encodeExample } from '@eagre/formats';
import { Decimal, isArray, isObject, type Json, type JsonObject, toDouble, typeName } from '../json/json.ts';
import { arrayFor, checkShapeOf } from '../servable/host-tensors.ts';
import type { HostTensor, HostTensors, ServableSignature, TensorInfo } from '../servable/servable.ts';
import { nameOfDType } from './dtype-names.ts';
import { bytesOf, formatError, isBase64 } from './predict-request.ts';

/** The values of one feature, of one kind as in `tf.train.Feature`. */
interface Feature {
  kind: 'bytes' | 'float' | 'int64' | undefined;
  readonly values: (string | Uint8Array | number | bigint)[];
}
type Example = ReadonlyMap<string, Feature>;

/** The examples of a request, each with the features that all have in common. @throws InvalidArgumentError for other bodies */
export function examplesOf(document: JsonObject): readonly Example[] {
  const given = document.get('context');
  const context = given === undefined ? undefined : exampleOf(given);
  const examples = document.get('examples');
  if (examples === undefined)
    throw formatError(document, "When method is classify, key 'examples' is expected and was not found");
  if (!isArray(examples)) throw formatError(document, "Expecting 'examples' value to be an list/array");
  if (examples.length === 0) throw formatError(document, "'examples' value is an empty array");
  return examples.map((value) => {
    const example = exampleOf(value);
    if (context === undefined) return example;
    for (const name of example.keys())
      if (context.has(name))
        throw new InvalidArgumentError(`Feature: ${name} is in the context, and in an example`);
    return new Map([...context, ...example]);
  });
}

function exampleOf(value: Json): Example {
  if (!isObject(value))
    throw new InvalidArgumentError(`Example must be JSON object but got JSON ${typeName(value)}`);
  const example = new Map<string, Feature>();
  for (const [name, content] of value) {
    const feature: Feature = { kind: undefined, values: [] };
    for (const element of isArray(content) ? content : [content]) add(element, name, feature);
    example.set(name, feature);
  }
  return example;
}

function add(value: Json, name: string, feature: Feature): void {
  const as = (kind: NonNullable<Feature['kind']>, converted: Feature['values'][number]): void => {
    if (feature.kind !== undefined && feature.kind !== kind)
      throw new InvalidArgumentError(
        `Unexpected element type in feature: ${name} expecting type: ${feature.kind}`,
      );
    feature.kind = kind;
    feature.values.push(converted);
  };
  if (value === null || isArray(value) || (isObject(value) && !isBase64(value)))
    throw new InvalidArgumentError(
      `Feature: ${name} has element with unexpected JSON type: ${typeName(value)}`,
    );
  if (typeof value === 'boolean') as('int64', value ? 1n : 0n);
  else if (isObject(value)) as('bytes', bytesOf(value));
  else if (typeof value === 'string') as('bytes', value);
  else if (value instanceof Decimal || (typeof value === 'number' && !Number.isInteger(value)))
    as('float', toDouble(value));
  else if (BigInt(value) >= 2n ** 63n)
    throw new InvalidArgumentError(`Feature: ${name} has uint64_t element. Only int64_t is supported.`);
  else as('int64', BigInt(value));
}

/**
 * What a signature gets for examples: the serialized ones, where its only input is a string tensor `inputs`, as in TensorFlow Serving. Functions of our own
 * may take the features themselves, each as the input of its name.
 */
export function exampleInputs(
  examples: readonly Example[],
  inputs: ServableSignature['inputs'],
): HostTensors {
  const names = Object.keys(inputs);
  if (names.length === 1 && names[0] === 'inputs' && inputs['inputs'].dtype === 'string') {
    const values = examples.map((example) =>
      encodeExample(new Map([...example].map(([name, { values }]) => [name, values as never]))),
    );
    return { inputs: { dtype: 'string', shape: [values.length], values } };
  }
  return Object.fromEntries(names.map((name) => [name, column(examples, name, inputs[name])]));
}

function column(examples: readonly Example[], name: string, info: TensorInfo): HostTensor {
  const rows = examples.map((example, i) => {
    const feature = example.get(name);
    if (feature === undefined)
      throw new InvalidArgumentError(
        `Feature: ${name} (data type: ${nameOfDType(info.dtype)}) is required but could not be found in example ${i}.`,
      );
    return feature.values.map((value) => elementOf(value, name, info));
  });
  const sizes = sizesOf(rows[0].length, name, info);
  const odd = rows.find((row) => row.length !== rows[0].length);
  if (odd !== undefined)
    throw new InvalidArgumentError(
      `Feature: ${name} has ${odd.length} values in one example, and ${rows[0].length} in another`,
    );
  const shape = [rows.length, ...sizes];
  checkShapeOf(name, shape, info);
  const flat = rows.flat();
  const { dtype } = info;
  if (dtype === 'string') return { dtype, shape, values: flat as (string | Uint8Array)[] };
  const values = arrayFor(dtype, flat.length);
  for (let i = 0; i < flat.length; i++) values[i] = flat[i] as never;
  return { dtype, shape, values };
}

/** The sizes of one example's values. */
function sizesOf(count: number, name: string, { shape }: TensorInfo): number[] {
  if (shape === null) return count === 1 ? [] : [count];
  const inner = shape.slice(1);
  const known = inner.reduce<number>((size, d) => size * (d ?? 1), 1);
  const open = inner.filter((d) => d === null).length;
  const rest = open === 1 && known > 0 ? count / known : 1;
  if (open > 1 || !Number.isInteger(rest) || known * rest !== count)
    throw new InvalidArgumentError(
      `Feature: ${name} has ${count} values, which is not what the signature takes: [${inner.map((d) => d ?? '?')}]`,
    );
  return inner.map((d) => d ?? rest);
}

function elementOf(value: Feature['values'][number], name: string, { dtype }: TensorInfo): unknown {
  const { floating, integer, bytes, low, high } = dtypeTraits[dtype];
  const isBytes = typeof value === 'string' || value instanceof Uint8Array;
  if (dtype === 'string' && isBytes) return value;
  if (floating && !isBytes) return Number(value);
  if (typeof value === 'bigint') {
    if (integer && bytes === 8 && (dtype === 'int64' || value >= 0n)) return value;
    if (integer && bytes < 8 && value >= low && value <= high) return Number(value);
    if (dtype === 'bool' && (value === 0n || value === 1n)) return Number(value);
  }
  throw new InvalidArgumentError(`Feature: ${name} has a value that is no ${nameOfDType(dtype)}`);
}

/** @throws InvalidArgumentError for a signature that is not one of classification or regression, with TensorFlow Serving's messages */
export function checkExampleSignature(
  { inputs, outputs }: ServableSignature,
  method: 'classify' | 'regress',
): void {
  const names = Object.keys(outputs);
  if (Object.keys(inputs).length === 0) throw new InvalidArgumentError('Expected one input Tensor.');
  if (method === 'regress') {
    if (names.length !== 1) throw new InvalidArgumentError('Expected one output Tensor.');
    if (names[0] !== 'outputs')
      throw new InvalidArgumentError(
        `No regression outputs found in SignatureDef: its output is "${names[0]}"`,
      );
    return;
  }
  if (names.length !== 1 && names.length !== 2)
    throw new InvalidArgumentError(`Expected one or two output Tensors, found ${names.length}`);
  if (!names.includes('classes') && !names.includes('scores'))
    throw new InvalidArgumentError(
      `Expected classification signature outputs to contain at least one of "classes" or "scores". Its outputs: ${names.join(',')}`,
    );
}

/** @returns labels with scores for each example. @throws InvalidArgumentError for outputs of other dtypes and shapes */
export function classificationsOf(
  outputs: HostTensors,
  count: number,
): readonly (readonly (readonly [label: string, score: number])[])[] {
  const { classes, scores } = outputs as { readonly classes?: HostTensor; readonly scores?: HostTensor };
  if (classes !== undefined) checkMatrix(classes, 'classes', 'string', count);
  if (scores !== undefined) checkMatrix(scores, 'scores', 'float32', count);
  if (classes !== undefined && scores !== undefined && classes.shape[1] !== scores.shape[1])
    throw new InvalidArgumentError(
      `Tensors class and score should match in dim_size(1). Got ${classes.shape[1]} vs. ${scores.shape[1]}`,
    );
  const width = (classes ?? scores)?.shape[1] ?? 0;
  return Array.from({ length: count }, (_, row) =>
    Array.from({ length: width }, (_, i) => {
      const label = (classes?.values[row * width + i] ?? '') as string | Uint8Array;
      return [
        typeof label === 'string' ? label : new TextDecoder().decode(label),
        Number(scores?.values[row * width + i] ?? 0),
      ] as const;
    }),
  );
}

function checkMatrix(
  { dtype, shape }: HostTensor,
  name: string,
  wanted: HostTensor['dtype'],
  count: number,
): void {
  if (shape.length !== 2)
    throw new InvalidArgumentError(`Expected Tensor shape: [batch_size num_classes] but got [${shape}]`);
  if (dtype !== wanted)
    throw new InvalidArgumentError(
      `Expected ${name} Tensor of DT_${nameOfDType(wanted).toUpperCase()}. Got: DT_${nameOfDType(dtype).toUpperCase()}`,
    );
  if (shape[0] !== count)
    throw new InvalidArgumentError(`Expected ${name} output batch size of ${count}. Got: ${shape[0]}`);
}

/** @returns a value for each example. @throws InvalidArgumentError for outputs of other dtypes and shapes */
export function regressionsOf(outputs: HostTensors, count: number): readonly number[] {
  const { dtype, shape, values } = outputs['outputs'];
  if (shape.length !== 1 && (shape.length !== 2 || shape[1] !== 1))
    throw new InvalidArgumentError(
      `Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got [${shape}]`,
    );
  if (shape[0] !== count)
    throw new InvalidArgumentError(
      `Input batch size did not match output batch size: ${count} vs. ${shape[0]}`,
    );
  if (dtype !== 'float32')
    throw new InvalidArgumentError(
      `Expected output Tensor of DT_FLOAT.  Got: DT_${nameOfDType(dtype).toUpperCase()}`,
    );
  return Array.from(values as Float32Array);
}
