// What pages have in place of `late.ts`: what traces steps would be a quarter of what they load first, and `fit` can wait for it. Steps that
// cannot wait are plain code until it is there.
import type { Tracer } from './graphs.ts';

let loading: Promise<typeof import('./graphs.ts')> | undefined;
let found: Tracer | null = null;

const load = async (): Promise<void> => {
  loading ??= import('./graphs.ts');
  try {
    found = (await loading).tracer();
  } catch (error) {
    // The next step asks again.
    loading = undefined;
    throw error;
  }
};

/** What `late.ts` has. */
export const graphs: { tracer(): Tracer | null; loadTracer(): Promise<void> } = {
  tracer() {
    // A step that has to wait for nobody is plain code if it fails.
    if (loading === undefined) load().catch(() => undefined);
    return found;
  },
  loadTracer: load,
};
