// `layer.call(x)` without options, as programs call it that walk through layers: what a mask, states and training are is then not said.
import { constant, ones, Tensor } from '@eagre/core';
import { tree } from '@eagre/core/internal';
import { expect, test } from 'vitest';
import type * as layers from './layers/index.ts';
import { inputSizes, layerClasses, requiredArguments } from './testing/layer-arguments.ts';

const leaves = (y: unknown): [string, readonly number[]][] =>
  tree
    .leavesOf(y, 'y', tree.wholeComposites)
    .filter((t): t is Tensor => t instanceof Tensor)
    .map((t) => [t.dtype, t.shape]);

type Plain = (inputs: unknown) => unknown;

/** Inputs that a layer takes as it is called by itself, and the layer that has taken them. */
function taken(make: () => layers.Layer): readonly [layer: layers.Layer, inputs: unknown] | null {
  for (const sizes of [[[6, 6, 3]], ...inputSizes]) {
    const list = sizes.map((size) => ones([2, ...size]));
    for (const inputs of [
      list.length === 1 ? list[0] : list,
      ...(list.length === 2 ? [constant([['a'], ['b']])] : []),
    ]) {
      const layer = make();
      try {
        if (leaves((layer as unknown as Plain)(inputs)).length > 0) return [layer, inputs];
      } catch {
        // It takes others.
      }
    }
  }
  return null;
}

// Cells are given their states, and these hold or cross what others make.
const others = /Cell|^(InputLayer|Wrapper|HashedCrossing|StackedRNNCells)$/;
const options: Readonly<Record<string, object>> = {
  IntegerLookup: { vocabulary: [1, 2] },
  StringLookup: { vocabulary: ['a', 'b'] },
  TextVectorization: { vocabulary: ['a', 'b'] },
};

test.each(layerClasses.filter(([name]) => !others.test(name)))('%s', (name, Class) => {
  const found = taken(
    () => new Class(...requiredArguments(name), ...(name in options ? [options[name]] : [])),
  );
  if (found === null) throw new Error(`${name} takes none of the inputs`);
  const [layer, inputs] = found;
  const expected = leaves((layer as unknown as Plain)(inputs));
  expect(leaves((layer.call as Plain).call(layer, inputs))).toEqual(expected);
});
