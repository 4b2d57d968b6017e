// Examples in JSON, as protobuf writes them.
import { InvalidArgumentError } from '@eagre/backend';
import type { NamedFunction } from '@eagre/core';
import { byteTensor, defineFunction, isPlain, kind, onKnown, toStrings } from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';

/** A string tensor of `tf.train.Example` messages in JSON as one of their bytes, for `tf.io.parseExample`. */
export const decodeJsonExample: NamedFunction<
  [jsonExamples: Parameters<typeof toStrings>[0]],
  ['jsonExamples']
> = /* @__PURE__ */ defineFunction(
  'io.decodeJsonExample',
  { jsonExamples: kind.tensor },
  {},
  (jsonExamples) =>
    onKnown('DecodeJSONExample', [toStrings(jsonExamples, 'jsonExamples', 'DecodeJSONExample')], (x) =>
      byteTensor(
        x.strings().map((text, i) => tensorflow.Example.encode(exampleOf(text, i))),
        x.shape,
      ),
    ),
);

type Json = Readonly<Record<string, unknown>>;

/** A field under its name in JSON, or in the message; null counts as absent. */
const field = (of: Json, camel: string, snake: string): unknown => of[camel] ?? of[snake] ?? undefined;

function exampleOf(text: string, index: number): tensorflow.Example {
  const fail = (why: string): InvalidArgumentError =>
    new InvalidArgumentError(`example ${index}: ${why}`, 'DecodeJSONExample');
  const object = (value: unknown, what: string, known: readonly string[] | null): Json => {
    if (!isPlain(value)) throw fail(`${what} must be an object`);
    const wrong = known === null ? undefined : Object.keys(value).find((key) => !known.includes(key));
    if (wrong !== undefined) throw fail(`${what} has no field '${wrong}'`);
    return value as Json;
  };
  const list = (value: unknown, what: string): readonly unknown[] => {
    const own = object(value, what, ['value'])['value'] ?? [];
    if (!Array.isArray(own)) throw fail(`${what}.value must be a list`);
    return own as unknown[];
  };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw fail(`it is no JSON (${(cause as Error).message})`);
  }
  const { features } = object(json, 'the example', ['features']);
  if (features === undefined || features === null) return {};
  const byName = object(features, 'features', ['feature'])['feature'] ?? {};
  const feature = new Map<string, tensorflow.Feature>();
  for (const [name, value] of Object.entries(object(byName, 'feature', null))) {
    const own = object(value, `'${name}'`, NAMES);
    const bytes = field(own, 'bytesList', 'bytes_list');
    const floats = field(own, 'floatList', 'float_list');
    const integers = field(own, 'int64List', 'int64_list');
    if ([bytes, floats, integers].filter((given) => given !== undefined).length > 1)
      throw fail(`'${name}' has more than one list`);
    if (bytes !== undefined)
      feature.set(name, {
        bytes_list: { value: list(bytes, name).map((v) => fromBase64(v) ?? refuse(fail, name, v)) },
      });
    else if (floats !== undefined)
      feature.set(name, {
        float_list: {
          value: Float32Array.from(list(floats, name), (v) => floatOf(v) ?? refuse(fail, name, v)),
        },
      });
    else if (integers !== undefined)
      feature.set(name, {
        int64_list: {
          value: BigInt64Array.from(list(integers, name), (v) => integerOf(v) ?? refuse(fail, name, v)),
        },
      });
    else feature.set(name, {});
  }
  return { features: { feature } };
}

const NAMES = ['bytesList', 'bytes_list', 'floatList', 'float_list', 'int64List', 'int64_list'];

function refuse(fail: (why: string) => Error, name: string, value: unknown): never {
  throw fail(`'${name}' has a value that is none of its list: ${JSON.stringify(value)}`);
}

function floatOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value);
  return typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)
    ? Number(value)
    : undefined;
}

function integerOf(value: unknown): bigint | undefined {
  const isInteger = Number.isSafeInteger(value) || (typeof value === 'string' && /^-?\d+$/.test(value));
  if (!isInteger) return undefined;
  const integer = BigInt(value as string);
  return integer >= -(2n ** 63n) && integer < 2n ** 63n ? integer : undefined;
}

/** Bytes in base 64, with either pair of last digits. */
function fromBase64(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'string' || !/^[\w+/-]*={0,2}$/.test(value)) return undefined;
  const text = value.replace(/=+$/, '').replace(/-/g, '+').replace(/_/g, '/');
  if (text.length % 4 === 1) return undefined;
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
