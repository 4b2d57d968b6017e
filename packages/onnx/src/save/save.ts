import { dtypeTraits, InvalidArgumentError, ResourceExhaustedError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { defineFunction, kind, type NamedFunction, shown } from '@eagre/core/internal';
import { onnx, writeFileAtomic } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import type { Signature } from '@eagre/graph';
import { fileError } from '../file-error.ts';
import { reading } from '../tensors.ts';
import { writeGraph, writeNodes } from './exporter.ts';
import { graphOf, type SaveTarget } from './target.ts';
import { File } from './writer.ts';

/** Options of `tf.onnx.save`. */
export interface SaveOptions {
  /** The version of ONNX's ops, 17 to 21; 21 by default. */
  readonly opset?: number;
  /** What the function takes; for a functional model its own inputs unless given. Null stands for a size that may be any. */
  readonly inputSignature?: readonly Signature[];
  /** Names of the inputs, in their order. */
  readonly inputNames?: readonly string[];
  /** Names of the outputs, in their order. */
  readonly outputNames?: readonly string[];
  /** Whether large weights are in a file beside the model, `<file>.data`; they are where the file would have 2 GiB. */
  readonly externalData?: boolean;
}

const OP = 'tf.onnx.save';
const IR_VERSIONS: Readonly<Record<number, number>> = { 17: 8, 18: 8, 19: 9, 20: 9, 21: 10 };
const DEFAULT_OPSET = 21;
// Protocol buffers hold less than 2 GiB; the nodes need some of it.
const MOST_BYTES = 2 ** 31 - 2 ** 24;
// Smaller tensors stay in the model.
const LEAST_EXTERNAL = 1024;
const ALIGNMENT = 64;

type Save = NamedFunction<[target: SaveTarget, file: string], ['target', 'file'], SaveOptions, Promise<void>>;

/**
 * Writes a model, a function or one of its traces as an ONNX file, whole or not at all. Weights are initializers. A model is exported as it
 * predicts, without training.
 *
 *     await tf.onnx.save(model, 'model.onnx');
 *     await tf.onnx.save((x) => x.matmul(w), 'product.onnx', { inputSignature: [new tf.TensorSpec([null, 3])] });
 *
 * @throws (the promise) NotFoundError without the folder; InvalidArgumentError for other targets and options; UnimplementedError for what ONNX cannot express, with the node:
 * assignments to variables, strings, code of the host.
 */
export const save: Save = /* @__PURE__ */ defineFunction<Save>(
  'onnx.save',
  { target: kind.structure, file: kind.asIs },
  {
    opset: kind.asIs,
    inputSignature: kind.structure,
    inputNames: kind.asIs,
    outputNames: kind.asIs,
    externalData: kind.asIs,
  },
  async (target, file, options) => {
    checkOptions(file, options);
    const { opset = DEFAULT_OPSET, externalData = false } = options;
    const written = encode(target, opset, options);
    const total = written.tensors.reduce((sum, [, t]) => sum + bytesOf(t), 0);
    const external = externalData || total > MOST_BYTES;
    const { initializer, data } = external
      ? externalTensors(written.tensors, file)
      : { initializer: written.tensors.map(([name, t]) => tensorProto(name, t)), data: null };
    const bytes = reading(() =>
      onnx.ModelProto.encode({
        ir_version: IR_VERSIONS[opset] as number,
        producer_name: 'eagre',
        graph: { ...written.graph, initializer },
        opset_import: [{ domain: '', version: opset }],
        ...(written.conditions.length === 0
          ? {}
          : { metadata_props: [{ key: 'sizes', value: written.conditions.join(', ') }] }),
      }),
    );
    if (bytes.length > 2 ** 31 - 1)
      throw new ResourceExhaustedError(`the model without its large weights has ${bytes.length} bytes`, OP);
    try {
      if (data !== null) await writeFileAtomic(`${file}.data`, data);
      await writeFileAtomic(file, bytes);
    } catch (cause) {
      throw fileError(file, cause, OP);
    }
  },
);

function checkOptions(file: unknown, options: SaveOptions): void {
  if (typeof file !== 'string' || file === '')
    throw new InvalidArgumentError(`file must be a path, got ${shown(file)}`, OP);
  const { opset, inputSignature, inputNames, outputNames, externalData } = options;
  if (opset !== undefined && !Object.hasOwn(IR_VERSIONS, opset))
    throw new InvalidArgumentError(`opset must be 17 to 21, got ${shown(opset)}`, OP);
  if (externalData !== undefined && typeof externalData !== 'boolean')
    throw new InvalidArgumentError(`externalData must be true or false, got ${shown(externalData)}`, OP);
  if (inputSignature !== undefined && !Array.isArray(inputSignature))
    throw new InvalidArgumentError(
      `inputSignature must be an array of specs, got ${shown(inputSignature)}`,
      OP,
    );
  for (const [key, names] of Object.entries({ inputNames, outputNames }))
    if (
      names !== undefined &&
      !(Array.isArray(names) && names.every((n) => typeof n === 'string' && n !== ''))
    )
      throw new InvalidArgumentError(`${key} must be an array of names, got ${shown(names)}`, OP);
}

interface Written {
  readonly graph: onnx.GraphProto;
  /** What has to hold for sizes that may be any. */
  readonly conditions: readonly string[];
  /** The initializers that nodes use. */
  readonly tensors: readonly (readonly [string, Tensor])[];
}

function encode(target: unknown, opset: number, options: SaveOptions): Written {
  const { graph, names } = graphOf(target, options);
  const file = new File(opset, writeNodes);
  const { graph: written, conditions } = writeGraph(file, graph, names);
  const used = new Set<string>();
  const visit = ({ node = [] }: onnx.GraphProto): void => {
    for (const { input = [], attribute = [] } of node) {
      for (const name of input) used.add(name);
      for (const { g } of attribute) if (g !== undefined) visit(g);
    }
  };
  visit(written);
  return { graph: written, conditions, tensors: [...file.initializers].filter(([name]) => used.has(name)) };
}

// Floats of 16 bits come as float32, and are written with 16.
const tensorProto = (name: string, t: Tensor): onnx.TensorProto =>
  onnx.encodeOnnxTensor(name, { ...t.ndarray(), dtype: t.dtype } as onnx.OnnxValue);

const bytesOf = (t: Tensor): number => t.size * dtypeTraits[t.dtype].bytes;

/** Large tensors one after another, and messages that say where they are. */
function externalTensors(
  tensors: Written['tensors'],
  file: string,
): { initializer: readonly onnx.TensorProto[]; data: Uint8Array } {
  const { basename } = nodeBuiltin('node:path');
  const location = `${basename(file)}.data`;
  const parts: { at: number; bytes: Uint8Array }[] = [];
  let end = 0;
  const initializer = tensors.map(([name, t]) => {
    const { raw_data, ...proto } = tensorProto(name, t);
    if (raw_data === undefined || raw_data.length < LEAST_EXTERNAL)
      return { ...proto, ...(raw_data === undefined ? {} : { raw_data }) };
    const at = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
    parts.push({ at, bytes: raw_data });
    end = at + raw_data.length;
    const entries = { location, offset: String(at), length: String(raw_data.length) };
    return {
      ...proto,
      external_data: Object.entries(entries).map(([key, value]) => ({ key, value })),
      data_location: 1,
    };
  });
  const data = new Uint8Array(end);
  for (const { at, bytes } of parts) data.set(bytes, at);
  return { initializer, data };
}
