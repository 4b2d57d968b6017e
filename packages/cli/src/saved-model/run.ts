// A call of a signature with values from files and from the command.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { constant, type DType, type NestedArray, type Tensor } from '@eagre/core';
import { textOf } from '@eagre/core/internal';
import {
  decodeNpyOrTexts,
  decodeNpz,
  decodeNpzOrTexts,
  encodeExample,
  encodeNpy,
  type FeatureInput,
  type NDArray,
  type TextArray,
  tensorflow,
  writeFileAtomic,
} from '@eagre/formats';
import { readRegularSync } from '@eagre/formats/internal';
import { load } from '@eagre/saved-model';
import { type Literal, readLiteral } from './literal.ts';
import { metaGraphOf, readSavedModel, signatureOf } from './read.ts';

export interface RunOptions {
  readonly tagSet: string;
  readonly signatureDef: string;
  readonly inputs?: string;
  readonly inputExprs?: string;
  readonly inputExamples?: string;
  readonly outdir?: string;
  readonly overwrite?: boolean;
}

/**
 * Calls a signature of a SavedModel, prints what it gives, and writes that as `.npy` files if asked.
 * @throws Error for inputs that cannot be read or that the signature does not have, and for files that are there already.
 */
export async function runSavedModel(
  dir: string,
  options: RunOptions,
  print: (line: string) => void,
): Promise<void> {
  const { tagSet, signatureDef, outdir, overwrite = false } = options;
  const { inputs = new Map(), outputs = new Map() } = signatureOf(
    metaGraphOf(readSavedModel(dir), tagSet),
    signatureDef,
  );
  const values = inputValues(options);
  checkKeys([...values.keys()], inputs);
  if (outdir !== undefined && statSync(outdir, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new Error(`${outdir} is a file, expected a folder`);
  const keys = [...outputs.keys()].sort();
  const paths = new Map(keys.map((key) => [key, outdir === undefined ? '' : outputPath(outdir, key)]));
  if (outdir !== undefined && !overwrite)
    for (const path of paths.values())
      if (existsSync(path)) throw new Error(`${path} exists already; add --overwrite to replace it`);
  const model = await load(dir, { tags: tagSet.split(',').map((tag) => tag.trim()) });
  const call = model.signatures[signatureDef];
  if (call === undefined) throw new Error(`the signature '${signatureDef}' cannot be called`);
  const tensors = [...values].map(([key, value]) => [key, tensorOf(value, key, inputs.get(key)?.dtype ?? 0)]);
  const results = call(Object.fromEntries(tensors));
  for (const key of keys) {
    const result = results[key] as Tensor;
    print(`Result for output key ${key}:\n${String(result)}`);
    if (outdir === undefined) continue;
    mkdirSync(outdir, { recursive: true });
    const path = paths.get(key) as string;
    await writeFileAtomic(path, encodeNpy(result.ndarray()));
    print(`Output ${key} is saved to ${path}`);
  }
}

/** A file for an output, inside of the folder whatever the key is. */
function outputPath(folder: string, key: string): string {
  return join(folder, `${key.replace(/[^\w.-]/g, '_').replace(/^\.+/, '_')}.npy`);
}

function checkKeys(keys: readonly string[], inputs: ReadonlyMap<string, tensorflow.TensorInfo>): void {
  const names = [...inputs.keys()].map((key) => `'${key}'`).join(', ') || 'none';
  const unknown = keys.find((key) => !inputs.has(key));
  if (unknown !== undefined)
    throw new Error(`'${unknown}' is no input of the signature; its inputs are ${names}`);
  const missing = [...inputs.keys()].find((key) => !keys.includes(key));
  if (missing !== undefined)
    throw new Error(
      `the input '${missing}' is missing: give --inputs, --input-exprs or --input-examples; the inputs are ${names}`,
    );
}

/** Inputs by key: an array of a file, or what was written in the command, of which the last counts where several are given. */
function inputValues({
  inputs = '',
  inputExprs = '',
  inputExamples = '',
}: RunOptions): ReadonlyMap<string, InputValue> {
  const values = new Map<string, InputValue>();
  for (const [key, text] of pairsOf(inputs, '--inputs')) values.set(key, arrayOf(text));
  for (const [key, text] of pairsOf(inputExprs, '--input-exprs'))
    values.set(key, { literal: readLiteral(text) });
  for (const [key, text] of pairsOf(inputExamples, '--input-examples'))
    values.set(key, { examples: examplesOf(key, readLiteral(text, { bigints: true })) });
  return values;
}

type InputValue =
  | NDArray
  | TextArray
  | { readonly literal: Literal }
  | { readonly examples: readonly Uint8Array[] };

/** Serialized examples from dictionaries of lists: floats, integers or texts. */
function examplesOf(key: string, literal: Literal): Uint8Array[] {
  const isList = (value: unknown): value is readonly Literal[] => Array.isArray(value);
  if (!isList(literal) || !literal.every((item) => item instanceof Map))
    throw new Error(
      `--input-examples: '${key}' must be a list of dictionaries, such as [{'age': [22], 'name': ['x']}]`,
    );
  return (literal as readonly ReadonlyMap<string, Literal>[]).map((example) => {
    const features = [...example].map(([name, values]): readonly [string, FeatureInput] => {
      const of = (type: string): boolean => isList(values) && values.every((value) => typeof value === type);
      // An integer among floats is one of them.
      if (
        isList(values) &&
        values.length > 0 &&
        values.some((v) => typeof v === 'number') &&
        values.every((v) => typeof v === 'number' || typeof v === 'bigint')
      )
        return [name, values.map(Number)];
      if (isList(values) && (of('bigint') || of('string'))) return [name, values as string[]];
      throw new Error(`--input-examples: the feature '${name}' must be a list of numbers, or one of texts`);
    });
    return encodeExample(new Map(features));
  });
}

/** `x=a.npy;y=b.npz[name]` */
function pairsOf(text: string, option: string): [key: string, value: string][] {
  return text
    .split(';')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const at = part.indexOf('=');
      if (at <= 0) throw new Error(`${option}: '${part}' is not of the form key=value`);
      return [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    });
}

function arrayOf(text: string): NDArray | TextArray {
  const [, path = text, name] = /^(.*)\[([^[\]]+)\]$/.exec(text) ?? [];
  if (!existsSync(path)) throw new Error(`there is no ${path}`);
  const bytes = readRegularSync(path, 'array');
  if (path.endsWith('.npy')) return decodeNpyOrTexts(bytes, { file: path });
  if (!path.endsWith('.npz')) throw new Error(`${path} is neither a .npy nor a .npz file`);
  const filter = name === undefined ? undefined : (own: string): boolean => own === name;
  const arrays = decodeNpzOrTexts(bytes, { file: path, filter });
  const [only, ...others] = arrays.keys();
  if (name === undefined && others.length > 0)
    throw new Error(`${path} holds ${arrays.size} arrays: say which, as in ${path}[${only}]`);
  const found = arrays.get(name ?? only ?? '');
  if (found === undefined)
    throw new Error(
      `${path} has no array '${name ?? ''}', only ${namesIn(bytes, path).join(', ') || 'none'}`,
    );
  return found;
}

/** The names of all arrays. */
function namesIn(bytes: Uint8Array, file: string): string[] {
  const names: string[] = [];
  const filter = (name: string): boolean => names.push(name) === 0;
  decodeNpz(bytes, { file, filter });
  return names;
}

/** A value in the dtype of the input. */
function tensorOf(value: InputValue, key: string, dataType: number): Tensor {
  const dtype = dtypeOf(dataType);
  if ('examples' in value) {
    if (dtype !== 'string') throw new Error(`the input '${key}' takes ${dtype}, not examples`);
    return constant(value.examples.map(textOf), 'string');
  }
  if ('texts' in value) {
    if (dtype !== 'string') throw new Error(`the input '${key}' takes ${dtype}, not texts`);
    return constant(
      value.texts.map((text) => (typeof text === 'string' ? text : textOf(text))),
      'string',
      { shape: value.shape },
    );
  }
  if (!('literal' in value)) {
    if (dtype === 'string') throw new Error(`the input '${key}' takes texts, not ${value.dtype}`);
    return constant(value as never).cast(dtype);
  }
  if (value.literal instanceof Map)
    throw new Error(`the input '${key}' is a dictionary, expected a number or a list`);
  try {
    return constant(exact(value.literal, dtype) as NestedArray<number>, dtype);
  } catch (cause) {
    throw new Error(`the input '${key}' is no ${dtype} tensor: ${(cause as Error).message}`, { cause });
  }
}

/** Integers of 64 bits are bigints. */
function exact(value: Literal, dtype: DType): Literal {
  if (Array.isArray(value)) return value.map((item: Literal) => exact(item, dtype));
  const isBig = dtype === 'int64' || dtype === 'uint64';
  return isBig && typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
}

function dtypeOf(dataType: number): DType {
  const name = Object.entries(tensorflow.DataType).find(([, number]) => number === dataType)?.[0] ?? '';
  const known: Readonly<Record<string, DType>> = {
    DT_FLOAT: 'float32',
    DT_DOUBLE: 'float64',
    DT_HALF: 'float16',
  };
  return known[name] ?? (name.slice('DT_'.length).toLowerCase() as DType);
}
