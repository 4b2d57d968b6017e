/** For tests: the models that `tools/golden/saved_models.py` made, and what TensorFlow computes with them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import * as tf from '@eagre/core';
import { expect } from 'vitest';

/** A structure of tensors as the file has it. */
export type Stored =
  | { readonly dict: Readonly<Record<string, Stored>> }
  | { readonly list: readonly Stored[] }
  | { readonly value: unknown }
  /** The parts of composite tensors, in TensorFlow's order. */
  | { readonly ragged: readonly Stored[] }
  | { readonly sparse: readonly Stored[] }
  | { readonly slices: readonly Stored[] }
  | {
      readonly dtype: tf.DType;
      readonly shape: readonly number[];
      readonly data: readonly (number | string | boolean)[];
    };

/** A call and its result. */
export interface Case {
  readonly call: string;
  readonly args: readonly Stored[];
  readonly kwargs: Readonly<Record<string, Stored>>;
  readonly result: Stored;
}

/** A model with its files in base64. */
export interface StoredModel {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly cases: readonly Case[];
  readonly gradients?: {
    readonly loss: Stored;
    readonly input: Stored;
    readonly variables: readonly { readonly name: string; readonly gradient: Stored }[];
  };
}

/** The golden file. */
export interface Golden {
  readonly models: readonly StoredModel[];
  readonly frozen: { readonly graph: string; readonly cases: readonly Readonly<Record<string, Stored>>[] };
}

/** The contents of a golden file. */
export function goldenFile<T>(name: string): T {
  const path = fileURLToPath(new URL(`../../golden/${name}.json.gz`, import.meta.url));
  return JSON.parse(gunzipSync(readFileSync(path)).toString()) as T;
}
/** The models of TensorFlow and Keras. */
export const golden: Golden = goldenFile<Golden>('models');

/** The model with a name. */
export function modelOf(name: string): StoredModel {
  const model = golden.models.find((m) => m.name === name);
  if (model === undefined) throw new Error(`no golden model '${name}'`);
  return model;
}

/** A folder for tests, and its removal. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'eagre-saved-model-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Writes a model's files. @returns their folder. */
export function unpack(model: StoredModel, folder: string, name: string = model.name): string {
  const target = join(folder, name);
  for (const [file, content] of Object.entries(model.files)) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    writeFileSync(join(target, file), Buffer.from(content, 'base64'));
  }
  return target;
}

/** A stored structure as tensors and values. */
export function toValue(stored: Stored): unknown {
  if ('dict' in stored)
    return Object.fromEntries(Object.entries(stored.dict).map(([key, item]) => [key, toValue(item)]));
  if ('list' in stored) return stored.list.map(toValue);
  if ('value' in stored) return stored.value;
  if ('ragged' in stored) {
    const [flat, ...splits] = stored.ragged.map(toValue) as tf.Tensor[];
    return tf.RaggedTensor.fromNestedRowSplits(flat as tf.Tensor, splits);
  }
  if ('sparse' in stored)
    return new tf.SparseTensor(...(stored.sparse.map(toValue) as [tf.Tensor, tf.Tensor, tf.Tensor]));
  if ('slices' in stored)
    return new tf.IndexedSlices(...(stored.slices.map(toValue) as [tf.Tensor, tf.Tensor, tf.Tensor]));
  const wide = stored.dtype === 'int64' || stored.dtype === 'uint64';
  const data = wide ? stored.data.map((n) => BigInt(n as number)) : [...stored.data];
  return tf.constant(data as number[], stored.dtype, { shape: stored.shape });
}

/** Expects a structure to have the dtypes, shapes and values of a stored one. */
export function expectSame(actual: unknown, stored: Stored, where: string, tolerance = 2e-5): void {
  if ('dict' in stored) {
    expect(Object.keys(actual as object).sort(), where).toEqual(Object.keys(stored.dict).sort());
    for (const [key, item] of Object.entries(stored.dict))
      expectSame((actual as Record<string, unknown>)[key], item, `${where}.${key}`, tolerance);
    return;
  }
  if ('list' in stored) {
    expect((actual as unknown[]).length, where).toBe(stored.list.length);
    stored.list.forEach((item, i) => {
      expectSame((actual as unknown[])[i], item, `${where}[${i}]`, tolerance);
    });
    return;
  }
  if ('value' in stored) {
    if (stored.value === null) expect(actual ?? null, where).toBe(null);
    else if (actual instanceof tf.Tensor) expect(actual.item(), where).toBe(stored.value);
    else expect(actual, where).toBe(stored.value);
    return;
  }
  if ('ragged' in stored || 'sparse' in stored || 'slices' in stored) {
    const [kind, parts] = (Object.entries(stored) as [string, readonly Stored[]][])[0] as [string, Stored[]];
    const class_ = { ragged: tf.RaggedTensor, sparse: tf.SparseTensor, slices: tf.IndexedSlices }[
      kind
    ] as never;
    expect(actual, where).toBeInstanceOf(class_);
    expectSame((actual as tf.CompositeTensor).parts, { list: parts }, where, tolerance);
    return;
  }
  expect(actual, where).toBeInstanceOf(tf.Tensor);
  const tensor = actual as tf.Tensor;
  expect(tensor.dtype, where).toBe(stored.dtype);
  expect([...tensor.shape], where).toEqual([...stored.shape]);
  if (stored.dtype === 'string') {
    expect(tensor.strings(), where).toEqual(stored.data);
    return;
  }
  const values = Array.from(tensor.data() as ArrayLike<number | bigint>, Number);
  const wanted = stored.data.map(Number);
  const scale = Math.max(1, ...wanted.map(Math.abs));
  values.forEach((v, i) => {
    if (!(Math.abs(v - (wanted[i] as number)) <= tolerance * scale) && !Object.is(v, wanted[i]))
      expect(v, `${where}, element ${i}`).toBeCloseTo(wanted[i] as number, 5);
  });
}
