// Paths that are no files: each is an error in one line, and nothing waits for a pipe or reads a device to its end.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundledProgram } from '../../testing/src/bundled.ts';

const program = await bundledProgram(
  "import { run } from '@eagre/cli'; process.exitCode = await run(process.argv.slice(2), '0');",
  'eagre/tests',
);
const folder = mkdtempSync(join(tmpdir(), 'eagre-odd-paths-'));
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

/** Whether anybody may go through a folder and those around it. */
const isOpen = (path: string): boolean =>
  (statSync(path).mode & 1) === 1 && (dirname(path) === path || isOpen(dirname(path)));
/** What one user without rights gets, where the tests may become one who sees the modules. */
const nobody: { uid?: number; gid?: number } =
  process.getuid?.() === 0 && isOpen(import.meta.dirname) ? { uid: 65534, gid: 65534 } : {};
function run(...args: string[]): { code: number | null; text: string } {
  const { status, stderr, stdout } = spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    timeout: 900_000,
    killSignal: 'SIGKILL',
    cwd: folder,
    ...nobody,
  });
  const lines = `${stdout}${stderr}`.replaceAll(folder, '').split('\n');
  // Without the warning that the kernels of the bundle are in JavaScript.
  return { code: status, text: lines.filter((line) => !WARNING.test(line)).join('\n') };
}

const WARNING = /EAGRE_NO_NATIVE|@eagre\/native|run instead|--trace-warnings/;

/** Makes what is no regular file at a path. */
const odd: Readonly<Record<string, (path: string) => unknown>> = {
  pipe: (path) => execFileSync('mkfifo', [path]),
  device: (path) => symlinkSync('/dev/zero', path),
  folder: (path) => mkdirSync(path),
  socket: (path) =>
    new Promise((done) => {
      servers.push(createServer().listen(path, () => done(undefined)));
    }),
};

const unix = test.skipIf(process.platform === 'win32');
beforeAll(async () => {
  if (process.platform === 'win32') return;
  for (const path of [folder, dirname(program)]) chmodSync(path, 0o755);
  for (const file of readdirSync(dirname(program))) chmodSync(join(dirname(program), file), 0o644);
  for (const [kind, make] of Object.entries(odd)) {
    mkdirSync(join(folder, kind, 'model'), { recursive: true });
    await make(join(folder, kind, 'model', 'saved_model.pb'));
    for (const ending of ENDINGS) await make(join(folder, kind, `x${ending}`));
  }
});
const ENDINGS = ['.npz', '.npy', '.keras', '.h5', '.onnx', '.safetensors', '.index', '.tfevents.1', '.json'];

unix.each(Object.keys(odd))('a %s instead of a file', (kind) => {
  const refused = /regular|folder|socket|directory|is damaged|not an event file|no model|there are neither/;
  const calls = [
    ...ENDINGS.map((ending) => ['inspect', join(folder, kind, `x${ending}`)]),
    ['inspect', join(folder, kind, 'model')],
    ['saved-model', 'show', join(folder, kind, 'model')],
    ['convert', join(folder, kind, 'x.npz'), join(folder, 'out.safetensors')],
    ['convert', join(folder, kind, 'x.json'), join(folder, 'out.onnx')],
  ];
  for (const call of calls) {
    const { code, text } = run(...call);
    expect(code, `${call.join(' ')}: ${text}`).toBe(1);
    expect(text, call.join(' ')).toMatch(refused);
    expect(text.trim().split('\n'), call.join(' ')).toHaveLength(1);
  }
});

unix('an empty model, a loop of links, folders and files without rights', () => {
  mkdirSync(join(folder, 'empty'));
  writeFileSync(join(folder, 'empty', 'saved_model.pb'), '');
  expect(run('inspect', 'empty').text).toMatch(/empty\/saved_model.pb: no graph: got an empty model/);
  expect(run('saved-model', 'show', 'empty').code).toBe(1);
  symlinkSync('loop.npz', join(folder, 'loop.npz'));
  expect(run('inspect', 'loop.npz').text).toMatch(/there is no loop.npz/);
  if (nobody.uid === undefined) return;
  mkdirSync(join(folder, 'closed', 'inside'), { recursive: true });
  chmodSync(join(folder, 'closed', 'inside'), 0);
  writeFileSync(join(folder, 'closed.npz'), '', { mode: 0 });
  // A folder below that may not be read is left out.
  expect(run('inspect', 'closed')).toEqual({
    code: 1,
    text: 'eagre: there are neither a SavedModel nor a model of TensorFlow.js, checkpoints, event files or safetensors in closed\n',
  });
  expect(run('inspect', 'closed.npz').text).toMatch(/closed.npz: permission denied: change the rights/);
  expect(run('inspect', join('closed', 'inside')).text).toMatch(/permission denied: change the rights/);
});
