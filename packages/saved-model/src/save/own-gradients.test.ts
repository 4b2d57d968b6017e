import { existsSync } from 'node:fs';
import { customGradient, GradientTape } from '@eagre/autodiff';
import {
  clipByNorm,
  constant,
  exp,
  hostFunction,
  log,
  Module,
  random,
  shapeOf,
  size,
  type Tensor,
  Variable,
} from '@eagre/core';
import { cond, TensorSpec, tfFunction, whileLoop } from '@eagre/graph';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { load } from '../load/load.ts';
import { SaveOptions } from '../options.ts';
import { temporaryFolder } from '../testing/golden.ts';
import { save } from './save.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

type Call = (...args: Tensor[]) => Tensor;
type Loaded = Readonly<Record<string, Call>>;

// Gradients that are not those of what is computed, so that one can tell them apart.
const log1pexp = customGradient((x: Tensor) => {
  const e = exp(x);
  return [log(e.add(1)), (dy: Tensor) => dy.mul(e.add(1).reciprocal().mul(-1).add(1)).mul(3)];
});
const product = customGradient((x: Tensor, y: Tensor) => [
  x.mul(y),
  (dy: Tensor) => [dy.mul(y).mul(2), dy.mul(x).mul(5)],
]);
const clipped = customGradient((x: Tensor) => [x, (dy: Tensor) => clipByNorm(dy, 0.5)]);
const first = customGradient((x: Tensor, _: Tensor) => [x.mul(2), (dy: Tensor) => [dy.mul(7), null]]);
const sized = customGradient((x: Tensor) => [
  x.sum(),
  (dy: Tensor) => dy.mul(size(x).cast('float32')).broadcastTo(shapeOf(x)),
]);
const twice = customGradient((x: Tensor) => [x.mul(x), (dy: Tensor) => product(dy, x.mul(4))]);

const both = customGradient((x: Tensor, y: Tensor) => [
  [x.mul(2), y.add(1), x.mul(y)],
  (da: Tensor, db: Tensor, dc: Tensor) => [da.mul(7).add(dc.mul(y)), db.mul(x)],
]);

const ROW = new TensorSpec([null]);
const one = { inputSignature: [ROW] };
const two = { inputSignature: [ROW, ROW] };

class Own extends Module {
  readonly w = new Variable([1.5, -2]);
  readonly big = constant(new Float32Array(400).fill(0.01));
  readonly alone = tfFunction((x: Tensor) => log1pexp(x.mul(this.w)), one);
  readonly pair = tfFunction((x: Tensor, y: Tensor) => product(x, y), two);
  readonly chain = tfFunction((x: Tensor) => log1pexp(clipped(x.mul(this.w))), one);
  readonly missing = tfFunction((x: Tensor, y: Tensor) => first(x, y).mul(y), two);
  readonly size = tfFunction((x: Tensor) => sized(x).mul(x), one);
  readonly nested = tfFunction((x: Tensor) => twice(x), one);
  readonly outside = tfFunction((x: Tensor) => {
    const factor = this.big.sum().mul(x.max());
    return customGradient((v: Tensor) => [v.add(1), (dy: Tensor) => dy.mul(factor).mul(this.big.sum())])(x);
  }, one);
  readonly several = tfFunction((x: Tensor, y: Tensor) => {
    const [a, , c] = both(x, y) as Tensor[];
    return (a as Tensor).mul(c as Tensor);
  }, two);
  readonly branch = tfFunction(
    (x: Tensor) =>
      cond(
        x.sum().greater(0),
        () => product(x, x.add(1)),
        () => x.neg(),
      ),
    one,
  );
  readonly loop = tfFunction(
    (x: Tensor) =>
      (
        whileLoop(
          (i: Tensor) => i.less(3),
          (i: Tensor, v: Tensor) => [i.add(1), product(v, x)],
          [constant(0, { dtype: 'int32' }), x],
        ) as Tensor[]
      )[1] as Tensor,
    one,
  );
}

function gradients(model: Loaded, name: string, args: readonly Tensor[]): number[][] {
  const w = model['w'] as unknown as Variable;
  const tape = new GradientTape();
  const y = tape.record(() => {
    for (const x of args) tape.watch(x);
    return (model[name] as Call)(...args);
  });
  const found = tape.gradient(y, [...args, w], { unconnectedGradients: 'zero' }) as Tensor[];
  return [y, ...found].map((t) => [...(t.data() as Float32Array)]);
}

const CALLS: readonly (readonly [string, number])[] = [
  ['alone', 1],
  ['pair', 2],
  ['chain', 1],
  ['missing', 2],
  ['size', 1],
  ['nested', 1],
  ['outside', 1],
  ['several', 2],
  ['branch', 1],
  ['loop', 1],
];
const ARGS = [constant([1, 2]), constant([3, -1])];

describe('gradients of tf.customGradient are in the file', () => {
  const own = new Own();
  let model: Loaded;
  let again: Loaded;
  beforeAll(async () => {
    await save(own, `${folder.path}/own`);
    model = (await load(`${folder.path}/own`)) as unknown as Loaded;
    // What was loaded is written as it was, and what calls it anew.
    await save(model, `${folder.path}/again`);
    again = (await load(`${folder.path}/again`)) as unknown as Loaded;
  });

  test.each(CALLS)('%s', async (name, count) => {
    const args = ARGS.slice(0, count);
    const wanted = gradients(own as unknown as Loaded, name, args);
    expect(gradients(model, name, args)).toEqual(wanted);
    expect(gradients(again, name, args)).toEqual(wanted);
    const inputSignature = args.map(() => ROW);
    const around = tfFunction((...xs: Tensor[]) => (model[name] as Call)(...xs), { inputSignature } as never);
    const traced = { w: model['w'], [name]: around } as unknown as Loaded;
    expect(gradients(traced, name, args)).toEqual(wanted);
    await save(traced, `${folder.path}/${name}`);
    const loaded = (await load(`${folder.path}/${name}`)) as unknown as Loaded;
    expect(gradients(loaded, name, args)).toEqual(wanted);
  });

  test('a gradient that draws random numbers does so after loading', async () => {
    const noisy = customGradient((x: Tensor) => [
      x.mul(1),
      (dy: Tensor) => dy.mul(random.uniform([2], { minval: 4, maxval: 5 })),
    ]);
    const object = { w: new Variable([0, 0]), noisy: tfFunction((x: Tensor) => noisy(x), one) };
    await save(object, `${folder.path}/noisy`);
    const loaded = (await load(`${folder.path}/noisy`)) as unknown as Loaded;
    const draws = [1, 2].map(() => gradients(loaded, 'noisy', ARGS.slice(0, 1))[1] as number[]);
    for (const draw of draws.flat()) expect(draw > 4 && draw < 5).toBe(true);
    expect(draws[0]).not.toEqual(draws[1]);
  });

  test('the option leaves them out', async () => {
    const object = { w: own.w, pair: tfFunction((x: Tensor, y: Tensor) => product(x, y), two) };
    const options = new SaveOptions({ experimentalCustomGradients: false });
    await save(object, `${folder.path}/without`, { options });
    const loaded = (await load(`${folder.path}/without`)) as unknown as Loaded;
    expect([...((loaded['pair'] as Call)(...ARGS).data() as Float32Array)]).toEqual([3, -2]);
    expect(() => gradients(loaded, 'pair', ARGS)).toThrow('has a gradient of its own');
  });

  test('one that is code of this process is refused with the way out', async () => {
    const shown = customGradient((x: Tensor) => [
      x.mul(1),
      (dy: Tensor) => hostFunction((g: Tensor) => g.mul(2), [dy], { dtype: 'float32', shape: [2] }) as Tensor,
    ]);
    const object = { f: tfFunction((x: Tensor) => shown(x), { inputSignature: [new TensorSpec([2])] }) };
    const saving = save(object, `${folder.path}/host`);
    await expect(saving).rejects.toThrow('experimentalCustomGradients: false');
    expect(existsSync(`${folder.path}/host`)).toBe(false);
    const options = new SaveOptions({ experimentalCustomGradients: false });
    await save(object, `${folder.path}/host`, { options });
  });
});
