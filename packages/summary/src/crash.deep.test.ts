import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundledProgram } from '../../testing/src/bundled.ts';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import { readEvents } from './index.ts';

// `pnpm fuzz --runs=200` kills more.
const KILLS = Number(process.env['EAGRE_FUZZ_RUNS'] ?? 60);
const AT_ONCE = 2;

const program = await bundledProgram(
  `
  import { EventFile } from './event-file.ts';
  import { tensorflow } from '@eagre/formats';
  const [, , folder, maxQueue] = process.argv;
  const file = new EventFile(folder, { maxQueue: Number(maxQueue) }, 'test');
  process.stdout.write('ready');
  // It writes no more than this, and ends with its parent: a run of tests may be killed too.
  for (let step = 0; step < 4000; step++) {
    const text = new Uint8Array(step % 7 === 0 ? 100_000 : step % 50).fill(step);
    const tensor = { dtype: 7, tensor_shape: {}, string_val: [text] };
    const metadata = { plugin_data: { plugin_name: 'text' } };
    file.append(tensorflow.Event.encode({ step, summary: { value: [{ tag: 'a', tensor, metadata }] } }));
  }
  process.stdin.resume();
`,
  'summary/src',
);

it('a writer that is killed leaves a file that can be read up to its last whole record', {
  timeout: 900_000,
}, async () => {
  const folder = temporaryFolder('summary');
  const runs = Array.from({ length: KILLS }, (_, i) => i);
  const worker = async (): Promise<void> => {
    for (let i = runs.pop(); i !== undefined; i = runs.pop())
      await killed(program, join(folder, String(i)), i);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  let written = 0;
  for (const run of readdirSync(folder)) {
    // The first event is the version of the file; then come all steps up to some.
    const events = [...readEvents(join(folder, run))];
    expect(events[0]).toMatchObject({ kind: 'other', event: { file_version: 'brain.Event:2' } });
    expect(events.slice(1).every((e, step) => e.kind === 'text' && e.step === step)).toBe(true);
    written += events.length - 1;
  }
  expect(readdirSync(folder)).toHaveLength(KILLS);
  expect(written).toBeGreaterThan(KILLS);
});

/** Starts a writer, and kills it while it writes. */
function killed(program: string, folder: string, i: number): Promise<void> {
  mkdirSync(folder);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, folder, String(i % 20)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), i % 13));
    child.on('error', reject);
    child.on('close', (_, signal) =>
      signal === 'SIGKILL' ? resolve() : reject(new Error(`the writer ended by ${signal}`)),
    );
  });
}
