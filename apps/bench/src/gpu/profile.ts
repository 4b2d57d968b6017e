// Where the time of a workload goes on the GPU: `--profile`.
import type { Backend } from '@eagre/backend';
import type { CudaDispatch, Dispatch, LibraryCall, Operand } from '@eagre/gpu-kernels';

/** What a backend that dispatches kernels has, seen from inside. */
interface Dispatches {
  dispatch(name: string, dispatch: Dispatch | CudaDispatch | LibraryCall, given: readonly Operand[]): void;
}

interface Row {
  readonly name: string;
  count: number;
  seconds: number;
}

function nameOf(
  name: string,
  made: Dispatch | CudaDispatch | LibraryCall,
  given: readonly Operand[],
): string {
  if ('product' in made) {
    const shapes = given.flatMap((operand) => ('dtype' in operand ? [`[${operand.shape.join(' ')}]`] : []));
    return `${name} (cuBLASLt) ${shapes.join(' ')}`;
  }
  const isBrought = 'maps' in made && made.maps !== undefined;
  const cores = 'print' in made.program ? ` (tensor cores${isBrought ? ', TMA' : ''})` : '';
  return `${name}${cores} [${made.workgroups.join(' ')}] ${made.params.slice(0, 12).join(' ')}`;
}

/** How much of a call's time is waiting for the GPU, not the kernel's: told, not taken off. */
function timeOfNothing(backend: Backend): number {
  const samples = Array.from({ length: 50 }, () => {
    const before = performance.now();
    backend.allocator.synchronize();
    return performance.now() - before;
  });
  return samples.sort((a, b) => a - b)[25] / 1000;
}

/**
 * Runs a workload with a wait behind each kernel.
 * @returns a table: kernels with the same name, workgroups and sizes are a row, the longest first.
 */
export function profileOf(backend: Backend, run: () => unknown, times = 3): string {
  const rows = new Map<string, Row>();
  const inner = backend as unknown as Dispatches;
  const { dispatch } = inner;
  const wait = (): void => backend.allocator.synchronize();
  inner.dispatch = function (name, made, given) {
    const key = nameOf(name, made, given);
    wait();
    const before = performance.now();
    dispatch.call(this, name, made, given);
    wait();
    const row = rows.get(key) ?? { name: key, count: 0, seconds: 0 };
    row.count++;
    row.seconds += (performance.now() - before) / 1000;
    rows.set(key, row);
  };
  try {
    for (let i = 0; i < times; i++) run();
    wait();
  } finally {
    inner.dispatch = dispatch;
  }
  const all = [...rows.values()].sort((a, b) => b.seconds - a.seconds);
  const total = all.reduce((sum, { seconds }) => sum + seconds, 0);
  const micros = (seconds: number): string => (seconds * 1e6).toFixed(1).padStart(10);
  return [
    `${micros(total / times)} µs a call in ${all.reduce((sum, { count }) => sum + count, 0) / times} kernels; a wait alone takes ${micros(timeOfNothing(backend)).trim()} µs`,
    `${'µs a call'.padStart(10)} ${'times'.padStart(7)} ${'µs each'.padStart(10)}  kernel [workgroups] sizes`,
    ...all.map(
      ({ name, count, seconds }) =>
        `${micros(seconds / times)} ${String(count / times).padStart(7)} ${micros(seconds / count)}  ${name}`,
    ),
  ].join('\n');
}
