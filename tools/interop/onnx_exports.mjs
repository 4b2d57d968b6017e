// Writes the models of packages/eagre/tests/testing/onnx-models.ts as ONNX files into the folder that is given, with inputs and outputs; run by
// onnx_exports.py. The files come from the test that reads them again, on sources, so that nothing has to be built.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { status } = spawnSync('npx', ['vitest', 'run', 'packages/eagre/tests/onnx-models.test.ts'], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, EAGRE_ONNX_OUT: process.argv[2] },
});
process.exit(status ?? 1);
