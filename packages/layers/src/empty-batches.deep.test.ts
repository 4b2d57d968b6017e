// A batch without examples, as a device may get of a last batch: every layer and every loss gives none, and gradients of 0.
import { GradientTape } from '@eagre/autodiff';
import { ones, Tensor, zeros } from '@eagre/core';
import { tree } from '@eagre/core/internal';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { losses } from '@eagre/metrics';
import { expect, test } from 'vitest';
import type * as layers from './layers/index.ts';
import { inputSizes, layerClasses, requiredArguments, type Sizes } from './testing/layer-arguments.ts';

type Call = (inputs: readonly Tensor[]) => unknown;
const ways: readonly ((layer: layers.Layer) => Call)[] = [
  (layer) => (inputs) =>
    (layer as unknown as (x: unknown, o: object) => unknown)(inputs.length === 1 ? inputs[0] : inputs, {
      training: true,
    }),
  (layer) => (inputs) =>
    (layer as unknown as (x: unknown) => unknown)(inputs.length === 1 ? inputs[0] : inputs),
  (layer) => (inputs) => (layer as unknown as (...x: unknown[]) => unknown)(...inputs, { training: true }),
  (layer) => (inputs) => (layer as unknown as (...x: unknown[]) => unknown)(...inputs),
  // Cells, with their states.
  (layer) =>
    ([x]) =>
      (
        layer as unknown as { call(x: Tensor, s: unknown): unknown; getInitialState(b: unknown): unknown }
      ).call(x, (layer as never as { getInitialState(b: unknown): unknown }).getInitialState(x.shape[0])),
];
const tensorsOf = (y: unknown): Tensor[] =>
  tree.leavesOf(y, 'y', tree.wholeComposites).filter((t): t is Tensor => t instanceof Tensor);

/** A layer that has been called, and how. */
function usable(
  make: () => layers.Layer,
  images: boolean,
): { layer: layers.Layer; call: Call; sizes: readonly Sizes[] } | null {
  for (const sizes of images ? [[[6, 6, 3]]] : inputSizes)
    for (const way of ways) {
      const layer = make();
      const call = way(layer);
      try {
        if (tensorsOf(call(sizes.map((size) => ones([2, ...size])))).some(({ rank }) => rank > 0))
          return { layer, call, sizes };
      } catch {
        // It takes other inputs, or is called in another way.
      }
    }
  return null;
}

// What takes strings, and what cannot be called.
const others = ['InputLayer', 'Wrapper', 'HashedCrossing', 'StringLookup', 'TextVectorization'];
const vocabularies: Readonly<Record<string, object>> = { IntegerLookup: { vocabulary: [1, 2] } };
test.each(layerClasses.filter(([name]) => !others.includes(name)))('%s', (name, Class) => {
  const found = usable(
    () => new Class(...requiredArguments(name), ...(name in vocabularies ? [vocabularies[name]] : [])),
    /^(Random|Resizing|CenterCrop)/.test(name),
  );
  if (found === null) throw new Error(`${name} takes none of the inputs`);
  const { layer, call, sizes } = found;
  const step = (...inputs: Tensor[]): Tensor[] => {
    const tape = new GradientTape();
    tape.watch(inputs);
    const y = tensorsOf(call(inputs)).filter(({ dtype }) => dtype === 'float32');
    const sources = [...inputs, ...layer.trainableVariables];
    const gradients = y.length === 0 ? [] : (tape.gradient(y, sources as never) as (Tensor | null)[]);
    return [...y, ...gradients.filter((g) => g !== null)];
  };
  const specs = sizes.map((size) => new TensorSpec([null, ...size]));
  const none = sizes.map((size) => zeros([0, ...size]));
  for (const fn of [step, tfFunction(step, { inputSignature: specs } as never) as unknown as typeof step])
    for (const t of fn(...none))
      expect(
        [...t.data()].every((v) => Number(v) === 0),
        `${t}`,
      ).toBe(true);
  for (const w of layer.weights)
    if (w.dtype === 'float32') expect([...w.data()].every(Number.isFinite), w.name).toBe(true);
});

const lossClasses = Object.entries(losses).filter(
  ([name, c]) =>
    typeof c === 'function' && c.prototype instanceof losses.Loss && name !== 'LossFunctionWrapper',
) as unknown as [string, new (options: object) => losses.Loss][];
test.each(lossClasses)('losses.%s', (name, Class) => {
  const integers = /Sparse|Generalized|Circle/.test(name);
  const sizes = name === 'CTC' ? [3, 4] : [4];
  const labels = name === 'CTC' ? zeros([0, 2], 'int32') : integers ? zeros([0], 'int32') : zeros([0, 4]);
  for (const reduction of ['sumOverBatchSize', 'sum', 'mean', 'none'] as const) {
    const loss = new Class({ reduction });
    const step = (p: Tensor): Tensor[] => {
      const tape = new GradientTape();
      tape.watch(p);
      const y = loss(labels, p);
      return [y, tape.gradient(y, p) as Tensor];
    };
    for (const fn of [
      step,
      tfFunction(step, {
        inputSignature: [new TensorSpec([null, ...sizes])],
      } as never) as unknown as typeof step,
    ]) {
      const [y, dp] = fn(zeros([0, ...sizes]));
      expect([...y.data()].every(Number.isFinite), `${reduction}: ${y}`).toBe(true);
      expect(dp.shape).toEqual([0, ...sizes]);
    }
  }
});
