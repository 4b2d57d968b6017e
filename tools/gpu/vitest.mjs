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
 * Runs the tests that a module makes when it is loaded.
 * @param name a regular expression of the tests that run
 * @param options `numbers` of the tests that run, all unless given; `onCollected` gets the names of all, with null for those that `name` leaves out;
 *   `onStart` gets the number of each that begins, `onEnd` what came of it, and is awaited
 * @returns what came of each: its name, whether it passed, errors, milliseconds
 */
export async function runTests(load, name, { numbers, onCollected, onStart, onEnd }) {
  const told = [];
  const add = async (each) => {
    told.push(each);
    await onEnd(each);
  };
  const order = new Map();
  const collect = (task) => {
    if (task.type === 'suite') task.tasks.forEach(collect);
    else {
      const number = order.size;
      order.set(task, number);
      if (numbers !== undefined && !numbers.has(number)) task.mode = 'skip';
    }
  };
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
    onCollected: (files) => {
      const isOut = new Set();
      const look = (task) => {
        if (task.type === 'suite') task.tasks.forEach(look);
        else if (task.mode === 'skip') isOut.add(task);
      };
      files.forEach(look);
      files.forEach(collect);
      onCollected?.(
        [...order.keys()].map((test) => (isOut.has(test) ? null : test.fullTestName.replaceAll(' > ', ' '))),
      );
    },
    onBeforeRunTask: (test) => {
      if (test.mode !== 'skip') onStart?.(order.get(test));
    },
    onAfterRunTask: async ({ fullTestName, mode, result: { state, errors = [], duration = 0 } = {} }) => {
      if (mode !== 'skip' && mode !== 'todo')
        await add({
          name: fullTestName,
          state,
          errors: errors.map(({ message, stack = '' }) => ({ message: String(message), stack })),
          duration,
        });
    },
    onAfterRunSuite: async ({ name: suite, result }) => {
      // What a hook or the module itself throws.
      for (const { message, stack = '' } of result?.errors ?? [])
        await add({ name: suite, state: 'fail', errors: [{ message: String(message), stack }], duration: 0 });
    },
  });
  return told;
}

/** Prints a test that failed, or was slow. */
export function tell({ name, state, errors, duration }) {
  if (state === 'pass' && duration > 5000) console.log(`slow ${(duration / 1000).toFixed(1)} s: ${name}`);
  if (state !== 'fail') return;
  console.log(`FAIL ${name}`);
  for (const { message, stack = '' } of errors)
    console.log(`  ${message.slice(0, 600)}\n${stack.split('\n').slice(0, 4).join('\n')}`);
}

/** Prints how many passed and failed. @returns whether any ran, and all that ran passed */
export function report(told) {
  const count = (state) => told.filter((each) => each.state === state).length;
  console.log(`${count('pass')} passed, ${count('fail')} failed`);
  return count('fail') === 0 && count('pass') > 0;
}
