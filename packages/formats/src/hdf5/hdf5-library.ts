// The reference library of HDF5, compiled to WebAssembly.
import type { Module as LibraryModule } from 'h5wasm';
import { errorsFor } from '../errors.ts';

/** What of the library is used. */
export type Library = typeof LibraryModule & { readonly h5wasm: typeof import('h5wasm').h5wasm };

/** The library, and what makes it anew after a file at which it stopped. */
export interface LoadedLibrary {
  readonly module: Library;
  /** How many bytes the library may take beyond its own: damaged files tell it of texts without end, and its memory never gets smaller. */
  room: number;
  /**
   * Brings the library back to where it was before the first file. It trusts what it reads: at some damaged files it stops in the middle of
   * something, and nothing of it would work from then on.
   */
  reset(): void;
}

let loading: Promise<LoadedLibrary> | undefined;

/**
 * The library, once in a process. It has files of its own in memory, and no others.
 * @throws FormatError when a damaged file has stopped it, and it cannot be made anew.
 */
export function library(): Promise<LoadedLibrary> {
  loading ??= load();
  return loading;
}

async function load(): Promise<LoadedLibrary> {
  const limits = { most: Number.POSITIVE_INFINITY };
  const { h5wasm, stack } = await watched(limits, async () => {
    const { h5wasm } = await import('h5wasm');
    await h5wasm.ready;
    return h5wasm;
  });
  const module: Library = Object.assign(await h5wasm.ready, { h5wasm });
  const own = module.HEAPU8.length;
  for (const device of ['/dev/stdin', '/dev/tty']) {
    try {
      // A file may say that its elements are in another one.
      module.FS.unlink(device);
    } catch {
      // There is none.
    }
  }
  const memory = module.HEAPU8.slice(0, usedBytes(module.HEAPU8));
  const top: unknown = stack?.value;
  const reset = (): void => {
    if (stack === undefined) {
      loading = Promise.reject(
        errorsFor('HDF5', undefined)(
          'the library',
          'one that was loaded here, and can be made anew',
          'one that stopped at a damaged file: start the program again',
        ),
      );
      // Whoever reads the next file is told.
      loading.catch(() => undefined);
      return;
    }
    // It may have grown.
    const { HEAPU8: now, FS } = module;
    const end = usedBytes(now);
    now.set(memory);
    // What was never written to takes no memory of the machine, as long as nobody does.
    if (end > memory.length) now.fill(0, memory.length, end);
    stack.value = top;
    const { streams } = FS as unknown as { streams: readonly ({ readonly fd: number } | null | undefined)[] };
    for (const stream of streams) if (stream && stream.fd > 2) FS.close(stream as never);
  };
  return {
    module,
    reset,
    get room() {
      return limits.most - own;
    },
    set room(bytes) {
      limits.most = own + bytes;
    },
  };
}

/** Up to the last byte that is not 0, or a few more. */
function usedBytes({ buffer, byteLength }: Uint8Array): number {
  const words = new Int32Array(buffer, 0, Math.floor(byteLength / 4));
  let end = words.length;
  while (end > 0 && words[end - 1] === 0) end--;
  return 4 * end;
}

/** A number of WebAssembly code outside of its memory. */
interface Register {
  value: unknown;
}
/** What the types of Node leave out. */
interface Assembler {
  instantiate(
    code: unknown,
    imports?: object,
    ...rest: unknown[]
  ): Promise<{ readonly instance?: { readonly exports: Exports } }>;
}
type Exports = Readonly<Record<string, unknown>>;

/**
 * Runs what makes the library. It gives neither away, so its code is watched where it comes to be: the one number that it has outside of its
 * memory, which is where its stack ends, and what it asks for more memory.
 */
async function watched<T>(
  limits: { readonly most: number },
  make: () => Promise<T>,
): Promise<{ readonly h5wasm: T; readonly stack: Register | undefined }> {
  const { WebAssembly: assembler } = globalThis as unknown as { readonly WebAssembly: Assembler };
  const original = assembler.instantiate;
  let stack: Register | undefined;
  const grow = (env: object): object =>
    new Proxy(env, {
      get: (_, name) => {
        const value: unknown = Reflect.get(env, name);
        if (name !== 'emscripten_resize_heap' || typeof value !== 'function') return value;
        return (bytes: number): unknown => (bytes >>> 0 > limits.most ? 0 : value(bytes));
      },
    });
  assembler.instantiate = async (code, imports, ...rest) => {
    const { env } = (imports ?? {}) as { readonly env?: object };
    const isLibrary = env !== undefined && 'emscripten_resize_heap' in env;
    const made = await original(code, isLibrary ? { ...imports, env: grow(env) } : imports, ...rest);
    const exports: Exports = made.instance?.exports ?? {};
    if ('H5Fopen' in exports) stack = exports['__stack_pointer'] as Register | undefined;
    return made;
  };
  try {
    return { h5wasm: await make(), stack };
  } finally {
    assembler.instantiate = original;
  }
}
