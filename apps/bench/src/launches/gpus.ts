// What GPUs can do, from their makers' data sheets, for dense products.

export interface Gpu {
  readonly title: string;
  /** 90 for 9.0. */
  readonly capability: number;
  readonly processors: number;
  /** Bytes a second from memory. */
  readonly bandwidth: number;
  /** Floating-point operations a second of products of 16 bits, on tensor cores. */
  readonly narrow: number;
  /** The same with TensorFloat-32. */
  readonly tensorFloat: number;
  /** The same of float32 without tensor cores. */
  readonly float: number;
}

export const gpus: Readonly<Record<string, Gpu>> = {
  h100: {
    title: 'H100 SXM',
    capability: 90,
    processors: 132,
    bandwidth: 3.35e12,
    narrow: 989e12,
    tensorFloat: 494e12,
    float: 67e12,
  },
  a100: {
    title: 'A100 80 GB',
    capability: 80,
    processors: 108,
    bandwidth: 2.04e12,
    narrow: 312e12,
    tensorFloat: 156e12,
    float: 19.5e12,
  },
  b200: {
    title: 'B200',
    capability: 100,
    processors: 148,
    bandwidth: 8e12,
    narrow: 2250e12,
    tensorFloat: 1125e12,
    float: 75e12,
  },
  l4: {
    title: 'L4',
    capability: 89,
    processors: 58,
    bandwidth: 0.3e12,
    narrow: 121e12,
    tensorFloat: 60e12,
    float: 30e12,
  },
  rtx4090: {
    title: 'GeForce RTX 4090',
    capability: 89,
    processors: 128,
    bandwidth: 1.01e12,
    narrow: 165e12,
    tensorFloat: 83e12,
    float: 83e12,
  },
};

/** Of what data sheets say, kernels reach this share: memory as well as tensor cores, which are slower when all are busy. */
export const REACHED = 0.7;
/** Seconds from the end of one kernel of a graph to the start of the next. */
export const GAP = 1.3e-6;
