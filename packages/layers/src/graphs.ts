// What models use of graphs.
import { functionsRunEagerly, specOfComposite, TensorSpec, tfFunction } from '@eagre/graph';

export interface Tracer {
  readonly functionsRunEagerly: typeof functionsRunEagerly;
  readonly specOfComposite: typeof specOfComposite;
  readonly TensorSpec: typeof TensorSpec;
  readonly tfFunction: typeof tfFunction;
}

const all: Tracer = { functionsRunEagerly, specOfComposite, TensorSpec, tfFunction };
/** What traces; null while it is not loaded, as it may be in pages (`late-elsewhere.ts`). */
export const tracer = (): Tracer | null => all;
/** Loads it. */
export const loadTracer = async (): Promise<void> => undefined;
