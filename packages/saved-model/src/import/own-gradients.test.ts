import { customGradient, GradientTape } from '@eagre/autodiff';
import { clipByNorm, constant, Module, type Tensor, type Variable } from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { afterAll, expect, test } from 'vitest';
import { load } from '../load/load.ts';
import { SaveOptions } from '../options.ts';
import { save } from '../save/save.ts';
import { goldenFile, type StoredModel, temporaryFolder, unpack } from '../testing/golden.ts';

const golden = goldenFile<{
  readonly model: StoredModel;
  readonly calls: readonly {
    readonly call: string;
    readonly args: readonly (readonly number[])[];
    readonly value: readonly number[];
    readonly gradients: readonly (readonly number[])[];
  }[];
}>('own-gradients');
const folder = temporaryFolder();
afterAll(() => folder.remove());

type Call = (...args: Tensor[]) => Tensor;

test.each(['eager', 'traced'])(
  '%s functions have the gradients that TensorFlow saved with them',
  async (how) => {
    const model = (await load(unpack(golden.model, folder.path))) as unknown as Readonly<
      Record<string, Call>
    >;
    const w = model['w'] as unknown as Variable;
    for (const { call, args, value, gradients } of golden.calls) {
      const tensors = args.map((row) => constant(row));
      const run = (...xs: Tensor[]): Tensor[] => {
        const tape = new GradientTape();
        const y = tape.record(() => {
          for (const x of xs) tape.watch(x);
          return (model[call] as Call)(...xs);
        });
        return [y, ...tape.gradient(y, [...xs, w], { unconnectedGradients: 'zero' })];
      };
      const inputSignature = args.map(() => new TensorSpec([null]));
      const traced = tfFunction(run, { inputSignature } as never) as unknown as typeof run;
      const results = (how === 'eager' ? run : traced)(...tensors);
      for (const [i, wanted] of [value, ...gradients].entries()) {
        const found = [...((results[i] as Tensor).data() as Float32Array)];
        expect(found).toHaveLength(wanted.length);
        found.forEach((v, k) => {
          expect(v, `${call}, result ${i}`).toBeCloseTo(wanted[k] as number, 4);
        });
      }
    }
  },
);

test('a gradient that is not in the file is refused where one asks for it', async () => {
  const clipped = customGradient((x: Tensor) => [x, (dy: Tensor) => clipByNorm(dy, 0.5)]);
  class Clipped extends Module {
    readonly f = tfFunction((x: Tensor) => clipped(x).mul(2), { inputSignature: [new TensorSpec([null])] });
  }
  const options = new SaveOptions({ experimentalCustomGradients: false });
  await save(new Clipped(), `${folder.path}/clipped`, { options });
  const { f } = (await load(`${folder.path}/clipped`)) as unknown as { readonly f: Call };
  const x = constant([1, 2]);
  expect([...(f(x).data() as Float32Array)]).toEqual([2, 4]);
  const tape = new GradientTape();
  const y = tape.record(() => {
    tape.watch(x);
    return f(x);
  });
  expect([...(y.data() as Float32Array)]).toEqual([2, 4]);
  const asked = (): unknown => tape.gradient(y, x)?.data();
  expect(asked).toThrow('has a gradient of its own');
});
