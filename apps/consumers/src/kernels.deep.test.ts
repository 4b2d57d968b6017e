// A page has the kernels in JavaScript that its ops bring: those that they need, and no others.
import { kernelsOfOps } from '@eagre/testing';
import { expect, test } from 'vitest';
import { kernelsOfPages } from './testing/ops-alone.ts';
import { consumer } from './testing/packed.ts';

test('each op, alone in a page, brings the kernels that it and its gradients need', async () => {
  const needed = kernelsOfOps();
  const names = [...new Set([...needed.values()].flatMap((kernels) => [...kernels]))].sort();
  const brought = await kernelsOfPages(await consumer('npm', 'kernels', ['eagre']), names);
  expect([...brought.keys()].sort()).toEqual([...needed.keys()].sort());
  const missing = [...needed].flatMap(([op, kernels]) =>
    [...kernels].filter((name) => !brought.get(op)?.includes(name)).map((name) => `${op}: ${name}`),
  );
  expect(missing).toEqual([]);
  // What only some ops need is not in the pages of others.
  expect(names.length).toBeGreaterThan(70);
  const inAll = names.filter((name) => [...brought.values()].every((kernels) => kernels.includes(name)));
  for (const seldom of ['Eig', 'LSTM', 'Conv2D', 'FFT', 'ScaledDotProductAttention', 'RandomNormal'])
    expect(inAll).not.toContain(seldom);
}, 900_000);
