import type { Tensor } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { expectSame, golden, toValue } from '../testing/golden.ts';
import { loadGraphDef } from './graph-def-file.ts';

describe('control flow of TensorFlow 1', async () => {
  const graph = await loadGraphDef(Buffer.from(golden.frozen.graph, 'base64'));
  for (const [i, stored] of golden.frozen.cases.entries())
    for (const name of ['total', 'chosen', 'squares'])
      test(`${name}, case ${i}`, () => {
        const run = graph.prune(['x:0', 'n:0'], `${name}:0`);
        const [result] = run(toValue(stored['x'] as never), stored['n']) as [Tensor];
        expectSame(result, stored[name] as never, name);
        expect(graph.placeholders).toEqual(['x', 'n']);
      });
});
