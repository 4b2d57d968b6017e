import { type Backend, type Executable, interpretPlan, readStorage, type Storage } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { nativeBackend } from '@eagre/backend-native';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { randomPlan, runPlainly } from './random-plans.ts';
import { remotes } from './remote.ts';

// Random plans of branches, loops and stacks, packed into one arena with values written over others, give what they give when every
// value has memory of its own in every turn.

const lists = fc.array(fc.nat({ max: 1 << 16 }), { maxLength: 300, size: 'max' });
const read = (storage: Storage, bytes: number): number[] =>
  Array.from(readStorage(storage, 'float32', bytes / 4) as Float32Array);

const backends: [
  name: string,
  backend: Backend,
  prepare: (plan: Parameters<Backend['prepare']>[0]) => Executable,
][] = [['js', jsBackend, (plan) => interpretPlan(jsBackend, plan)]];
const remote = remotes[0] as Backend;
backends.push(['remote', remote, (plan) => remote.prepare(plan)]);
const native = nativeBackend;
if (native !== undefined) {
  backends.push(['native', native, (plan) => native.prepare(plan)]);
  backends.push(['native kernels one by one', native, (plan) => interpretPlan(native, plan)]);
}

it.each(backends)(
  'plans in one arena give the same as with memory for each value: %s',
  async (_, backend, prepare) => {
    await fc.assert(
      fc.asyncProperty(lists, async (list) => {
        const { plan, inputs, states, stateBytes, reset } = randomPlan(backend, list);
        const sizes = plan.outputs.map((value) => plan.bytes[value]);
        const outputs = (): Storage[] => sizes.map((bytes) => backend.allocator.allocate(bytes));
        const look = (results: readonly Storage[]): number[][] => [
          ...results.map((storage, i) => read(storage, sizes[i])),
          ...states.map((storage, i) => read(storage, stateBytes[i])),
        ];
        reset();
        const expected = [1, 2].map(() => look(runPlainly(backend, plan, inputs)));
        const executable = prepare(plan);
        reset();
        for (const wanted of expected) {
          const results = outputs();
          executable.run(inputs, results);
          expect(look(results)).toEqual(wanted);
        }
        reset();
        const results = outputs();
        await executable.runAsync(inputs, results);
        expect(look(results)).toEqual(expected[0]);
        executable.dispose();
      }),
      { numRuns: 500 },
    );
  },
);
