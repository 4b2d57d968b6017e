// The functions of `tf.onnx`. What they do is loaded by the first call.
import { defineFunction, kind, type NamedFunction } from '@eagre/core/internal';
import type { LoadOptions } from './load/load.ts';
import type { OnnxModel } from './load/model.ts';
import type { SaveOptions } from './save/save.ts';
import type { SaveTarget } from './save/target.ts';

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
export const save: NamedFunction<
  [target: SaveTarget, file: string],
  ['target', 'file'],
  SaveOptions,
  Promise<void>
> = /* @__PURE__ */ defineFunction(
  'onnx.save',
  { target: kind.structure, file: kind.asIs },
  {
    opset: kind.asIs,
    inputSignature: kind.structure,
    inputNames: kind.asIs,
    outputNames: kind.asIs,
    externalData: kind.asIs,
  },
  async (target, file, options) => (await import('./save/save.ts')).save(target, file, options),
);

/**
 * Reads an ONNX file, or its bytes. The model is a function: `model(x, y)` gives the output, or a list of the outputs, and
 * `model({ x, y })` gives the outputs by name. Its weights are variables, so a tape or an optimizer can train them.
 *
 *     const model = await tf.onnx.load('model.onnx');
 *     const y = model(tf.zeros([2, 4]));
 *
 * @throws (the promise) NotFoundError without a file; DataLossError for bytes that are no model; InvalidArgumentError for a graph that makes no
 * sense; UnimplementedError for an op or a type that Eagre does not have, with the node and its opset; PermissionDeniedError for weights
 * outside of the file's folder.
 */
export const load: NamedFunction<
  [source: string | Uint8Array],
  ['source'],
  LoadOptions,
  Promise<OnnxModel>
> = /* @__PURE__ */ defineFunction(
  'onnx.load',
  { source: kind.asIs },
  { trainable: kind.asIs, folder: kind.asIs, name: kind.asIs },
  async (source, options) => (await import('./load/load.ts')).load(source, options),
);
