// What the pack for GPUs does, on this machine and with this Node: `node tools/gpu/run.mjs all`, and whatever else run.sh takes.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { pack } from './pack.mjs';

const folder = fileURLToPath(new URL('../../native/build/gpu', import.meta.url));
await pack(folder);
const { status } = spawnSync(`${folder}/run.sh`, process.argv.slice(2), {
  stdio: 'inherit',
  env: { ...process.env, EAGRE_NODE: process.execPath },
});
process.exit(status ?? 1);
