import {
  dtypeTraits,
  FailedPreconditionError,
  fileError,
  InvalidArgumentError,
  ResourceExhaustedError,
} from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { shown } from '@eagre/core/internal';
import { FormatError, onnx, writeFilesAtomic } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import type { Signature } from '@eagre/graph';
import { reading } from '../tensors.ts';
import { writeGraph, writeNodes } from './exporter.ts';
import { dataToRemove, externalDataOf } from './external-data.ts';
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
  /**
   * Whether large weights are in a file beside the model, `<file>.<digits of its content>.data`; they are where the file would have 2 GiB. That
   * of a model which is replaced is removed.
   */
  readonly externalData?: boolean;
}

const OP = 'tf.onnx.save';
const IR_VERSIONS: Readonly<Record<number, number>> = { 17: 8, 18: 8, 19: 9, 20: 9, 21: 10 };
const DEFAULT_OPSET = 21;
// Protocol buffers hold less than 2 GiB; the nodes need some of it.
const MOST_BYTES = 2 ** 31 - 2 ** 24;

/** Writes a model, a function or one of its traces as an ONNX file: see `tf.onnx.save`. */
export async function save(target: SaveTarget, file: string, options: SaveOptions): Promise<void> {
  checkOptions(file, options);
  const { opset = DEFAULT_OPSET, externalData = false } = options;
  const written = encode(target, opset, options);
  const total = written.tensors.reduce((sum, [, t]) => sum + bytesOf(t), 0);
  const external = externalData || total > MOST_BYTES;
  const data = external ? externalDataOf(written.tensors, file, tensorProto) : null;
  const initializer = data?.initializer ?? written.tensors.map(([name, t]) => tensorProto(name, t));
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
  const before = await dataToRemove(file);
  const beside = data === null || data.parts.length === 0 ? [] : [[data.path, data.parts] as const];
  try {
    await writeFilesAtomic([...beside, [file, bytes]]);
  } catch (cause) {
    if (cause instanceof FormatError) throw new FailedPreconditionError(cause.message, OP, { cause });
    throw fileError(cause, file, OP);
  }
  const { rm } = nodeBuiltin('node:fs').promises;
  // The new model is there: whether these can be removed does not matter.
  for (const path of before) if (path !== data?.path) await rm(path, { force: true }).catch(() => undefined);
}

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
