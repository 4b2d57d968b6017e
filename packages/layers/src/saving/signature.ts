// What models are called with, for those who save them.
import { FailedPreconditionError, type PartialShape } from '@eagre/core';
import { tree } from '@eagre/core/internal';
import type { Signature } from '@eagre/graph';
import type { Tracer } from '../graphs.ts';
import { isShapes } from '../layer/specs.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import type { Model } from '../models/model.ts';

type Fn = (...args: never[]) => unknown;

/** The function that serves a model that is saved as any other object, made by what saves it; null while nobody knows its inputs. */
export function defaultSaveSignature(
  model: Model,
  { tfFunction, TensorSpec }: Pick<Tracer, 'tfFunction' | 'TensorSpec'>,
): unknown {
  if (!model.built) return null;
  const serving = { serving_default: (inputs: unknown) => model(inputs as never) };
  return tfFunction(serving.serving_default as Fn, {
    inputSignature: inputSignatureOf(model, TensorSpec, false),
    name: 'serving_default',
  });
}

/** What a model is called with. @param TensorSpec the class of graphs. @param named whether specs have the names of the inputs. */
export function inputSignatureOf(
  model: Model,
  TensorSpec: Tracer['TensorSpec'],
  named: boolean,
): Signature[] {
  const inputs = model.symbolicInputs;
  if (inputs !== null)
    return [
      tree.mapLeaves(inputs, 'Model.export', (t) => {
        const { shape, dtype, name } = t as KerasTensor;
        return new TensorSpec({ shape, dtype, ...(named ? { name } : {}) });
      }) as Signature,
    ];
  const shapes = model._layer.shape;
  if (!model.built || shapes === undefined)
    throw new FailedPreconditionError(
      'nobody knows yet what the model is called with: call it or build it, or give inputSignature',
      'Model.export',
    );
  const spec = (shape: PartialShape, name: string): Signature =>
    // Built for a batch of some size, for all of them.
    new TensorSpec({
      shape: [null, ...shape.slice(1)],
      dtype: model.computeDtype as 'float32',
      ...(named ? { name } : {}),
    });
  if (!Array.isArray(shapes))
    return [Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, spec(shape, name)]))];
  const list = shapes as PartialShape | readonly PartialShape[];
  return [isShapes(list) ? list.map((shape, i) => spec(shape, `args_0_${i}`)) : spec(list, 'args_0')];
}
