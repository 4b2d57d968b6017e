// How long a training step takes on several processes: a plan past this machine.
import { bucketsOf } from '@eagre/distribute/internal';

/** What connects the processes, each to the next in a ring. */
export interface Link {
  /** Seconds that a message takes, however small. */
  readonly latency: number;
  /** Bytes a second, in each direction. */
  readonly bandwidth: number;
}

/** A variable, in the order of the forward pass. */
export interface LayerCost {
  /** Bytes of its gradient. */
  readonly bytes: number;
  /** Seconds of the backward pass until its gradient is there, since that of the variable behind it was. */
  readonly backward: number;
}

/** What one process computes in a step. */
export interface StepProfile {
  /** Seconds of the forward pass and of everything else before the first gradient. */
  readonly forward: number;
  readonly layers: readonly LayerCost[];
  /** Seconds of the update, behind all sums. */
  readonly update: number;
}

/** How gradients travel. */
export interface Layout {
  /** Bytes of every bucket; 0 for 1 MB in the first and 25 MB in the others. */
  readonly bytesPerPack: number;
  /** Whether sums go on while the backward pass does. */
  readonly overlap: boolean;
  /** What of the bytes travels: 0.5 for 16-bit floats. */
  readonly compression: number;
}

/** A step as it was simulated, in seconds. */
export interface StepTime {
  readonly step: number;
  /** What one process takes alone. */
  readonly alone: number;
  /** Share of the step in which a process does what it would do alone. */
  readonly efficiency: number;
  /** When each bucket is ready, when its sum starts, and when it ends. */
  readonly buckets: readonly { readonly ready: number; readonly start: number; readonly end: number }[];
}

/** Seconds of a sum over n processes by a ring: 2 (n - 1) messages of 1/n of the bytes, one behind the other. */
export function allReduceTime(bytes: number, n: number, { latency, bandwidth }: Link): number {
  return n === 1 ? 0 : 2 * (n - 1) * (latency + bytes / (n * bandwidth));
}

/** Goes through a step: buckets are summed in their order, one at a time, from when their last gradient is there. */
export function simulateStep(profile: StepProfile, n: number, link: Link, layout: Layout): StepTime {
  const { layers, forward, update } = profile;
  const floats = layers.map(({ bytes }) => ({ dtype: 'float32', shape: [bytes / 4] }) as const);
  const readyAt: number[] = [];
  let now = forward;
  for (let i = layers.length - 1; i >= 0; i--) readyAt[i] = now += (layers[i] as LayerCost).backward;
  const computed = now;
  let free = 0;
  const buckets = bucketsOf(floats, layout.bytesPerPack).map((at) => {
    const ready = layout.overlap ? Math.max(...at.map((i) => readyAt[i] as number)) : computed;
    const bytes = at.reduce((sum, i) => sum + (layers[i] as LayerCost).bytes, 0) * layout.compression;
    const start = Math.max(ready, free);
    free = start + allReduceTime(bytes, n, link);
    return { ready, start, end: free };
  });
  const alone = computed + update;
  const step = Math.max(computed, free) + update;
  return { step, alone, efficiency: alone / step, buckets };
}

/** A model of equal layers. */
export function evenProfile(
  layers: number,
  bytes: number,
  seconds: { readonly forward: number; readonly backward: number },
): StepProfile {
  const layer = { bytes: bytes / layers, backward: seconds.backward / layers };
  return { forward: seconds.forward, layers: Array.from({ length: layers }, () => layer), update: 0 };
}
