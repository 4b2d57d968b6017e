// TensorFlow.js in a page, on its WebAssembly with SIMD and, where the page is isolated, threads.
import * as tf from '@tensorflow/tfjs';
import * as wasm from '@tensorflow/tfjs-backend-wasm';
import { workloadsOf } from '../../peers/tfjs_workloads.mjs';
import { answering } from '../requests.ts';

const threads = Number(new URLSearchParams(location.search).get('threads'));
wasm.setWasmPaths('/wasm/');
wasm.setThreadsCount(threads);
const ready = await tf.setBackend('wasm');
const workloads = workloadsOf(tf);
globalThis.peer = {
  hello: ready
    ? {
        ready: true,
        version: tf.version.tfjs,
        notes: wasm.getThreadsCount() === threads ? [] : [`it used ${wasm.getThreadsCount()} threads`],
      }
    : { absent: 'the backend wasm did not start' },
  answer: answering((name) => (workloads[name] ? [workloads[name]()] : undefined)),
};
