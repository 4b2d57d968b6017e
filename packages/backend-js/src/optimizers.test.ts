import type { KernelAttrs, KernelName } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { kernels } from './optimizers.ts';
import { tensor, values } from './testing/kernels.ts';

/**
 * Takes steps with gradient 0.5 from variable 1 and slots 0, as two variables at once, the second being 10; gives the
 * first variable and its slots, and the second variable.
 */
function steps(
  name: KernelName,
  slots: number,
  { lr, alpha, ...attrs }: KernelAttrs & { readonly lr: number; readonly alpha?: number },
  count = 1,
): number[] {
  const make = (start: number) => [
    tensor('float64', [1], [start]),
    ...Array.from({ length: slots }, () => tensor('float64', [1], [0])),
    tensor('float64', [1], [0.5]),
  ];
  const [first, second] = [make(1), make(10)];
  const scalars = [...(alpha === undefined ? [] : [alpha]), lr].map((v) => tensor('float64', [], [v]));
  const inputs = [...first, ...second, ...scalars];
  const outputs = [...first.slice(0, -1), ...second.slice(0, -1)];
  for (let i = 0; i < count; i++) kernels[name]!(inputs, outputs, { count: 2, ...attrs });
  return [...first.slice(0, -1), second[0]].map((t) => values(t)[0] as number);
}

function expectClose(actual: number[], expected: number[]): void {
  expect(actual.length).toBe(expected.length);
  actual.forEach((value, i) => {
    expect(value).toBeCloseTo(expected[i], 13);
  });
}

describe('optimizers', () => {
  it('descend the gradient', () => {
    expectClose(steps('ApplyGradientDescent', 0, { lr: 0.1 }, 2), [0.9, 9.9]);
    const variable = tensor('float32', [2], [1, 2]);
    const grad = tensor('float32', [2], [1, -1]);
    kernels.ApplyGradientDescent!([variable, grad, tensor('float64', [], [0.1])], [variable], { count: 1 });
    expect(values(variable)).toEqual([Math.fround(0.9), Math.fround(2.1)]);
  });

  it('gather momentum', () => {
    const attrs = { lr: 0.1, momentum: 0.9, nesterov: false };
    // m: -0.05, then -0.095
    expectClose(steps('ApplyMomentum', 1, attrs, 2), [0.855, -0.095, 9.855]);
    // 0.9 · m − 0.05: -0.095, then -0.1355
    expectClose(steps('ApplyMomentum', 1, { ...attrs, nesterov: true }, 2), [0.7695, -0.095, 9.7695]);
  });

  it('apply RMSProp in its four forms', () => {
    const attrs = { lr: 0.1, rho: 0.9, momentum: 0, epsilon: 1e-7, centered: false };
    const rms = 0.025;
    const step = 0.05 / Math.sqrt(rms + 1e-7);
    expectClose(steps('ApplyRMSProp', 1, attrs), [1 - step, rms, 10 - step]);
    const centred = 0.05 / Math.sqrt(rms - 0.05 ** 2 + 1e-7);
    expectClose(steps('ApplyRMSProp', 2, { ...attrs, centered: true }), [
      1 - centred,
      rms,
      0.05,
      10 - centred,
    ]);
    const rms2 = 0.0475;
    const mom = 0.5 * step + 0.05 / Math.sqrt(rms2 + 1e-7);
    const both = step + mom;
    expectClose(steps('ApplyRMSProp', 2, { ...attrs, momentum: 0.5 }, 2), [1 - both, rms2, mom, 10 - both]);
    const all = { ...attrs, momentum: 0.5, centered: true };
    expectClose(steps('ApplyRMSProp', 3, all), [1 - centred, rms, 0.05, centred, 10 - centred]);
  });

  it('apply Adam, AdamW and AMSGrad', () => {
    const attrs = {
      alpha: 0.03,
      lr: 0.1,
      beta1: 0.9,
      beta2: 0.99,
      epsilon: 1e-7,
      weightDecay: 0,
      amsgrad: false,
    };
    const step = (0.03 * 0.05) / (0.05 + 1e-7);
    expectClose(steps('ApplyAdam', 2, attrs), [1 - step, 0.05, 0.0025, 10 - step]);
    const decayed = { ...attrs, weightDecay: 0.2 };
    expectClose(steps('ApplyAdam', 2, decayed), [0.98 - step, 0.05, 0.0025, 9.8 - step]);
    const ams = { ...attrs, amsgrad: true };
    expectClose(steps('ApplyAdam', 3, ams), [1 - step, 0.05, 0.0025, 0.0025, 10 - step]);
  });

  it('keep the largest second moment in AMSGrad', () => {
    const t = [1, 0, 0, 4, 0].map((v) => tensor('float64', [1], [v]));
    const one = tensor('float64', [], [1]);
    const attrs = { beta1: 0.5, beta2: 0.5, epsilon: 0, weightDecay: 0, amsgrad: true };
    t[1] = tensor('float64', [1], [8]);
    kernels.ApplyAdam!([...t, one, one], t.slice(0, -1), { count: 1, ...attrs });
    // m halves to 4, v stays 0, vhat 4: the step is 4 / √4
    expect(t.map((v) => values(v)[0])).toEqual([-1, 4, 0, 4, 0]);
  });
});
