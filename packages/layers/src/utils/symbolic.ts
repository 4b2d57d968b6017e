import { InvalidArgumentError } from '@eagre/core';
import { defineFunction, isPlain, type NamedFunction, shown } from '@eagre/core/internal';
import { KerasTensor } from '../models/keras-tensor.ts';

const isSymbolic = (x: unknown): x is KerasTensor => !isPlain(x) && x instanceof KerasTensor;

/** Whether it is a symbolic tensor, as `tf.Input` and layers give them. */
export const isKerasTensor: {
  (x: unknown): x is KerasTensor;
  (options: {
    /** Anything. */
    readonly x: unknown;
  }): boolean;
} = /* @__PURE__ */ defineFunction<NamedFunction<[x: unknown], ['x'], unknown, boolean>>(
  'keras.utils.isKerasTensor',
  { x: true },
  {},
  isSymbolic,
) as never;

/** The inputs of a functional model that a symbolic tensor is computed of, each once. */
export const getSourceInputs: NamedFunction<[tensor: KerasTensor], ['tensor'], unknown, KerasTensor[]> =
  /* @__PURE__ */ defineFunction('keras.utils.getSourceInputs', { tensor: true }, {}, (tensor: unknown) => {
    if (!isSymbolic(tensor))
      throw new InvalidArgumentError(
        `expected a symbolic tensor, got ${shown(tensor)}`,
        'keras.utils.getSourceInputs',
      );
    const seen = new Set<KerasTensor>();
    const visit = (t: KerasTensor): void => {
      if (seen.has(t)) return;
      seen.add(t);
      for (const input of t.producer?.inputs ?? []) visit(input);
    };
    visit(tensor);
    return [...seen].filter((t) => t.producer === null);
  });
