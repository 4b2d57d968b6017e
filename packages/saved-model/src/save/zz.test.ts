import '@eagre/backend-js';
import '@eagre/backend-native';
import { writeFileSync } from 'node:fs';
import { constant, Module, type Tensor, Variable } from '@eagre/core';
import { execute, listOps } from '@eagre/core/internal';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { test } from 'vitest';
import { materialize } from '../../../testing/src/values.ts';
import { save } from './save.ts';
import { savedModelOf } from './saved-model.ts';

const host = (t: any) => ({ dtype: t.dtype, shape: t.shape, values: Array.from(t.data() as any, Number) });
test('module', async () => {
  const m: any = new Module();
  m.w = new Variable(
    constant([
      [1, 2],
      [3, 4],
      [5, 6],
    ]),
    { name: 'w' },
  );
  m.n = new Variable(0, { name: 'n', trainable: false });
  m.list = [new Variable(1), { a: new Variable(2) }];
  m.f = tfFunction((x: Tensor) => ({ y: x.matmul(m.w), n: m.n.assignAdd(1).read() }), {
    inputSignature: [new TensorSpec([null, 3])],
  });
  await save(m, '/tmp/sms/out/m', { signatures: m.f });
});
test('all ops', async () => {
  const m: any = new Module();
  const calls: any = {};
  const bad: string[] = [];
  for (const op of listOps().values()) {
    for (const [index, sample] of op.samples().entries()) {
      const inputs = materialize(sample, 'float32', index + 1);
      if (inputs.some((i) => i.dtype === 'string')) continue;
      const name = `${op.name}_${index}`;
      try {
        const f = tfFunction((...xs: any[]) => execute(op, xs, sample.attrs ?? {}) as any);
        const out = f(...(inputs as any)) as any;
        const one = { f };
        await save(one, '/tmp/sms/out/ops/' + name);
        m[name.replace(/^_/, 'x')] = f;
        calls[name] = { args: inputs.map(host), results: out.map(host) };
      } catch (e) {
        bad.push(`${name}: ${(e as Error).message.slice(0, 200)}`);
      }
    }
  }

  writeFileSync('/tmp/sms/out/ops.json', JSON.stringify(calls));
  console.log(bad.join('\n'), Object.keys(calls).length);
}, 200000);
