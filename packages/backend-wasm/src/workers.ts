import type { WorkerStart } from './instance.ts';

// What `instance.ts` does, as a script without imports: it can be started from a string.
const SCRIPT = `
function serve({ module, memory, stack, locals }) {
  const nothing = () => 52;
  const instance = new WebAssembly.Instance(module, {
    wasi_snapshot_preview1: {
      clock_time_get(_clock, _precision, at) {
        new DataView(memory.buffer).setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
      },
      environ_sizes_get: nothing, environ_get: nothing, fd_close: nothing, fd_seek: nothing, fd_write: nothing, proc_exit: nothing,
    },
    env: { memory },
  });
  instance.exports.__stack_pointer.value = stack;
  instance.exports.__wasm_init_tls(locals);
  instance.exports.serve();
}
`;

/** Starts a worker that does chunks of the kernels' jobs until the process, or the page, ends. */
export function startWorker(start: WorkerStart): void {
  const builtin = globalThis.process?.getBuiltinModule;
  if (builtin !== undefined) {
    const { Worker } = builtin('node:worker_threads');
    const worker = new Worker(`${SCRIPT}; serve(require('node:worker_threads').workerData);`, {
      eval: true,
      workerData: start,
      execArgv: [],
    });
    worker.unref();
    return;
  }
  const url = URL.createObjectURL(
    new Blob([`${SCRIPT}; onmessage = ({ data }) => serve(data);`], { type: 'text/javascript' }),
  );
  const worker = new Worker(url);
  worker.postMessage(start);
}
