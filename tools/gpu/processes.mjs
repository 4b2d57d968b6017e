// Runs the packed tests in several processes: kernels are compiled side by side, and a test that ends its process or the GPU's context does not end the others.
import { fork } from 'node:child_process';
import { tell } from './vitest.mjs';

/** After so long a test does not end any more, in milliseconds. */
const LONGEST = 180_000;

/**
 * @param isAlone whether a test, by its name, runs when no other does.
 * @returns what `runTests` of vitest.mjs gives.
 */
export async function runInProcesses(pattern, jobs, isAlone) {
  const program = process.argv[1];
  const told = [];
  const add = (each) => {
    told.push(each);
    tell(each);
  };
  let names;
  /** A process that runs tests of these numbers, the last one first; without any it tells their names. */
  const run = (numbers) =>
    new Promise((resolve, reject) => {
      const left = new Set(numbers);
      let now;
      let timer;
      let why;
      const child = fork(program, [JSON.stringify({ pattern, numbers })]);
      child.on('message', (message) => {
        if (message.names !== undefined) names ??= message.names;
        if (message.number !== undefined) {
          now = message.number;
          timer = setTimeout(() => {
            why = `did not end within ${LONGEST / 1000} s`;
            child.kill('SIGKILL');
          }, LONGEST);
        }
        if (message.told !== undefined) {
          clearTimeout(timer);
          left.delete(now);
          now = undefined;
          add(message.told);
          if (message.isLost) why = 'lost';
        }
      });
      child.on('error', reject);
      child.on('exit', (code, signal) => {
        clearTimeout(timer);
        if (now !== undefined) {
          why ??= `ended its process (${signal ?? code})`;
          add({
            name: names?.[now] ?? 'a test',
            state: 'fail',
            errors: [{ message: why }],
            duration: 0,
          });
          left.delete(now);
        } else if (why === undefined && left.size > 0) {
          add({
            name: 'the tests',
            state: 'fail',
            errors: [{ message: `a process ended (${signal ?? code}) before it ran all` }],
            duration: 0,
          });
          left.clear();
        }
        // The others, in a new process.
        if (why !== undefined && left.size > 0) run([...left]).then(resolve, reject);
        else resolve();
      });
    });
  await run([]);
  const all = (names ?? []).flatMap((name, number) => (name === null ? [] : [number]));
  const together = all.filter((number) => !isAlone(names[number]));
  await Promise.all(
    Array.from({ length: jobs }, (_, job) => together.filter((_number, i) => i % jobs === job))
      .filter((numbers) => numbers.length > 0)
      .map(run),
  );
  const alone = all.filter((number) => isAlone(names[number]));
  if (alone.length > 0) await run(alone);
  return told;
}
