import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { opNames } from './ops.ts';

test('the list of ops, from which the golden script picks the tests of onnx', async () => {
  const text = `${JSON.stringify({ '': opNames(''), 'ai.onnx.ml': opNames('ai.onnx.ml') }, null, 1)}\n`;
  await expect(text).toMatchFileSnapshot('../../golden/ops.json');
  expect(readFileSync(new URL('../../golden/ops.json', import.meta.url), 'utf8')).toBe(text);
});
