// What the packed tests have in the place of vitest, which cannot be bundled: its own parts that describe, run and compare.
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
} from '@vitest/expect';
import { startTests } from '@vitest/runner';

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from '@vitest/runner';

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);
export const expect = Object.assign(
  (value, message) => chai.expect(value, message),
  chai.expect,
  globalThis[ASYMMETRIC_MATCHERS_OBJECT],
);

/**
 * Runs the tests that a module makes when it is loaded, and prints what fails.
 * @param name a regular expression of the tests that run
 * @returns whether any ran, and all that ran passed
 */
export async function runTests(load, name) {
  const counts = { pass: 0, fail: 0, skip: 0 };
  const done = (test) => {
    const { state = 'skip', errors = [], duration = 0 } = test.result ?? {};
    counts[state in counts ? state : 'skip']++;
    if (state === 'pass' && duration > 5000)
      console.log(`slow ${(duration / 1000).toFixed(1)} s: ${test.fullTestName}`);
    if (state !== 'fail') return;
    console.log(`FAIL ${test.fullTestName}`);
    for (const { message, stack = '' } of errors)
      console.log(`  ${String(message).slice(0, 600)}\n${stack.split('\n').slice(0, 4).join('\n')}`);
  };
  const failed = [];
  await startTests([{ filepath: import.meta.url, testLocations: undefined }], {
    config: {
      root: '/',
      setupFiles: [],
      name: '',
      passWithNoTests: false,
      testNamePattern: name === undefined ? undefined : new RegExp(name),
      allowOnly: false,
      sequence: { shuffle: false, concurrent: false, seed: 1, hooks: 'stack', setupFiles: 'list' },
      maxConcurrency: 1,
      testTimeout: 120_000,
      hookTimeout: 120_000,
      retry: 0,
      includeTaskLocation: false,
      tags: [],
      strictTags: false,
    },
    importFile: load,
    onAfterRunTask: done,
    onAfterRunSuite: ({ name: suite, result }) => {
      // What a hook or the module itself throws.
      for (const { message } of result?.errors ?? []) failed.push(`${suite}: ${message}`);
    },
  });
  for (const line of failed) console.log(`FAIL ${line}`);
  console.log(`${counts.pass} passed, ${counts.fail} failed, ${counts.skip} skipped`);
  return counts.fail === 0 && failed.length === 0 && counts.pass > 0;
}
