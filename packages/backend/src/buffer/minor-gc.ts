type Collect = (options?: { readonly type: 'minor' }) => void;

let known: Collect | undefined | null;

/** What other platforms than Node have. */
const { Bun: bun, Deno: deno } = globalThis as { Bun?: { gc(wait: boolean): void }; Deno?: object };

/** Whether young objects can be collected alone. Bun and Deno collect all objects, always: tens of milliseconds. */
export const collectsYoung: boolean = bun === undefined && deno === undefined;

/**
 * A collection of young objects, where the platform lets one (Node): a fraction of a millisecond. Dropped tensors are young
 * nearly always, and V8 by itself waits for its own heap to fill, which a few small objects over large buffers never do.
 */
export function collectYoung(): void {
  collect()?.({ type: 'minor' });
}

/** A collection of all objects, where the platform lets one: tens of milliseconds, longer for large heaps. */
export function collectAll(): void {
  // Node 20 takes any options for those of a young collection.
  collect()?.();
}

function collect(): Collect | null {
  if (known === undefined) known = find() ?? null;
  return known;
}

function find(): Collect | undefined {
  if (bun !== undefined) return () => bun.gc(true);
  const given = (globalThis as { gc?: Collect }).gc;
  if (typeof given === 'function') return given;
  if (typeof process !== 'object' || typeof process.getBuiltinModule !== 'function') return undefined;
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  const { runInNewContext } = process.getBuiltinModule('node:vm');
  // The function exists in contexts that are made while the flag is set; ours keeps it, others never see it.
  setFlagsFromString('--expose-gc');
  try {
    const gc: unknown = runInNewContext('gc');
    return typeof gc === 'function' ? (gc as Collect) : undefined;
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}
