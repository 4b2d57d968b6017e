// Runs the tests that draw at random with another seed than 1: `pnpm fuzz [--seed=n] [--rounds=n] [--seconds=n] [--runs=n] [path…]`.
// `--seconds` is for tests that draw until a time is over, `--runs` for those that draw so many times.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '30' },
    runs: { type: 'string' },
  },
});

// Those that draw at random: by properties, by damaged files, by the seed itself.
const random =
  /fast-check|EAGRE_FUZZ|from '\.\/(?:fuzz|mutate)\.ts'|\b(?:fuzz|fuzzAsync|fuzzCalls|SEED)\b.*@eagre\/testing/s;
const folders = ['packages', 'apps'].flatMap((group) =>
  readdirSync(`${root}${group}`).flatMap((member) => [`${group}/${member}/src`, `${group}/${member}/tests`]),
);
const tests = folders
  .filter((folder) => existsSync(`${root}${folder}`))
  .flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true }).map((name) => `${folder}/${name}`),
  )
  .filter((file) => file.endsWith('.test.ts'));
const files = tests.filter(
  (file) =>
    (positionals.length === 0 || positionals.some((part) => file.includes(part))) &&
    random.test(readFileSync(`${root}${file}`, 'utf8')),
);
if (files.length === 0) {
  console.error(`no test below ${positionals.join(', ')} draws at random`);
  process.exit(1);
}

const again = [...(values.runs === undefined ? [] : [`--runs=${values.runs}`]), ...positionals].join(' ');
const rounds = values.seed === undefined ? Number(values.rounds) : 1;
for (let round = 0; round < rounds; round++) {
  const seed = Number(values.seed ?? randomInt(2 ** 31));
  console.info(`seed ${seed}, ${files.length} files`);
  const runs = values.runs === undefined ? {} : { EAGRE_FUZZ_RUNS: values.runs };
  const { status } = spawnSync('pnpm', ['-s', 'vitest', 'run', '--testTimeout=7200000', ...files], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, EAGRE_FUZZ_SEED: String(seed), EAGRE_FUZZ_SECONDS: values.seconds, ...runs },
  });
  if (status === 0) continue;
  console.error(`failed with seed ${seed}; again: pnpm fuzz --seed=${seed} ${again}`);
  process.exit(status ?? 1);
}
