import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { opNames } from './ops.ts';

test('the list of ops, from which the golden script picks the tests of onnx', async () => {
  const domains = ['', 'ai.onnx.ml', 'com.microsoft'];
  const text = `${JSON.stringify(Object.fromEntries(domains.map((d) => [d, opNames(d)])), null, 1)}\n`;
  await expect(text).toMatchFileSnapshot('../../golden/ops.json');
  expect(readFileSync(new URL('../../golden/ops.json', import.meta.url), 'utf8')).toBe(text);
});
