import '@eagre/backend-js';
import '@eagre/backend-native';
import './remote.ts';
import { listBackends } from '@eagre/backend';
import { expect, it } from 'vitest';
import { floatsSuite, halvesSuite } from './conformance-suite.ts';

const others = listBackends().filter((b) => b.name !== 'js');

it('runs against the native backend', () => {
  expect(others.map((b) => b.name)).toContain('native');
});

for (const { name } of others) {
  // conformance.test.ts has the native backend's.
  if (name !== 'native') floatsSuite(name);
  halvesSuite(name);
}
