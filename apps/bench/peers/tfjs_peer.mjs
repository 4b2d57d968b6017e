// TensorFlow.js's side: `tfjs_peer.mjs --backend wasm|cpu --threads n`, found in the folder that EAGRE_BENCH_TFJS names.
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { answering } from '../src/requests.ts';
import { serve } from '../src/serve.ts';
import { workloadsOf } from './tfjs_workloads.mjs';

const option = (name) => process.argv[process.argv.indexOf(name) + 1];
const backend = option('--backend');

// It greets with console.log; stdout belongs to the protocol.
console.log = console.error;
console.warn = console.error;

const folder = process.env.EAGRE_BENCH_TFJS;
if (!folder) absent('EAGRE_BENCH_TFJS names no folder');
if (option('--threads') !== '1') absent('one thread only: in Node its WebAssembly has no others');
const require = createRequire(join(resolve(folder), 'package.json'));
let tf;
try {
  tf = require('@tensorflow/tfjs');
  if (backend === 'wasm') {
    const wasm = require('@tensorflow/tfjs-backend-wasm');
    wasm.setWasmPaths(`${dirname(require.resolve('@tensorflow/tfjs-backend-wasm'))}/`);
  }
  if (!(await tf.setBackend(backend))) absent(`the backend ${backend} did not start`);
} catch (error) {
  absent(String(error.message).split('\n')[0]);
}

function absent(why) {
  process.stdout.write(`${JSON.stringify({ absent: why })}\n`);
  process.exit(0);
}

const workloads = workloadsOf(tf);
const { version } = require('@tensorflow/tfjs/package.json');
await serve(
  { ready: true, version },
  answering((name) => (workloads[name] ? [workloads[name]()] : undefined)),
);
