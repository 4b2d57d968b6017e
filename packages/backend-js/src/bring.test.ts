import { join } from 'node:path';
import { type KernelName, kernelAttrs, UnimplementedError } from '@eagre/backend';
import { expect, it } from 'vitest';
import { bring, broughtKernel } from './bring.ts';
import * as groups from './groups.ts';
import { tensor, values } from './testing/kernels.ts';

it('knows the kernels of a group once one of them is brought, and refuses others', () => {
  const missing = (): unknown => broughtKernel('Reverse');
  expect(missing).toThrow(UnimplementedError);
  expect(missing).toThrow('this page has no kernel Reverse in JavaScript');
  expect(bring('Tile', groups.moves)).toBe('Tile');
  const [x, y] = [tensor('float32', [2], [1, 2]), tensor('float32', [2])];
  broughtKernel('Reverse')([x], [y], { axes: [0] });
  expect(values(y)).toEqual([2, 1]);
  expect(() => broughtKernel('MatMul')).toThrow(UnimplementedError);
});

const { groupsOfKernels, withKernels } = (await import(
  join(import.meta.dirname, '../../../tools/page-kernels.mjs')
)) as {
  groupsOfKernels(folder: string): ReadonlyMap<string, string>;
  withKernels(code: string, groups: ReadonlyMap<string, string>): string | undefined;
};
const found = groupsOfKernels(import.meta.dirname);

it('finds the group of each kernel', () => {
  expect([...found.keys()].sort()).toEqual(Object.keys(kernelAttrs).sort());
  const byName = new Map(Object.entries(groups));
  for (const [name, group] of found) expect(byName.get(group)?.[name as KernelName], name).toBeDefined();
});

it('brings kernels where sources name them', () => {
  const source = `
    const op: Op = defineOp({ name: 'MatMul', kernel: 'MatMul' });
    type Of = { kernel: 'Sum' };
    const run = (x, one) => kernelFor(x.backend, 'Tile', [x]);
    const row = (one) => ({ kernel: one ? 'SetRow' : 'ScatterNd' });
    if (call.kernel === 'Softmax') call.name = 'Softmax';`;
  const brought = withKernels(source, found) as string;
  expect(brought.split('\n').slice(0, 5)).toEqual([
    `import { bring as bringKernel, matmul as matmulKernels, moves as movesKernels, gather as gatherKernels } from '@eagre/backend-js/kernels';`,
    `const kernel$MatMul = bringKernel('MatMul', matmulKernels);`,
    `const kernel$Tile = bringKernel('Tile', movesKernels);`,
    `const kernel$SetRow = bringKernel('SetRow', gatherKernels);`,
    `const kernel$ScatterNd = bringKernel('ScatterNd', gatherKernels);`,
  ]);
  expect(brought).toContain(`defineOp({ name: 'MatMul', kernel: kernel$MatMul })`);
  expect(brought).toContain(`type Of = { kernel: 'Sum' };`);
  expect(brought).toContain(`kernelFor(x.backend, kernel$Tile, [x])`);
  expect(brought).toContain(`kernel: one ? kernel$SetRow : kernel$ScatterNd`);
  expect(brought).toContain(`if (call.kernel === 'Softmax') call.name = 'Softmax';`);
  expect(withKernels(`const name = 'MatMul';`, found)).toBeUndefined();
});
