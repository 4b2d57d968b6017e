import { connect, type WorkerStart } from './instance.ts';

/** A script without imports: it can be started from a string. */
const script = (): string => `
const connect = ${connect};
function serve({ modules, memory, stack, locals }) {
  const exports = connect(modules, memory);
  exports.__stack_pointer.value = stack;
  exports.__wasm_init_tls(locals);
  exports.serve();
}
`;

/** Starts a worker that does chunks of the kernels' jobs until the process, or the page, ends. */
export function startWorker(start: WorkerStart): void {
  const builtin = globalThis.process?.getBuiltinModule;
  if (builtin !== undefined) {
    const { Worker } = builtin('node:worker_threads');
    const worker = new Worker(`${script()}; serve(require('node:worker_threads').workerData);`, {
      eval: true,
      workerData: start,
      execArgv: [],
    });
    worker.unref();
    return;
  }
  const url = URL.createObjectURL(
    new Blob([`${script()}; onmessage = ({ data }) => serve(data);`], { type: 'text/javascript' }),
  );
  const worker = new Worker(url);
  worker.postMessage(start);
}
