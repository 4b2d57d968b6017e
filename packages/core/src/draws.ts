/** Key and counter of one draw. A type and not an interface, so that it can be attributes of an op. */
export type Draw = {
  readonly k0: number;
  readonly k1: number;
  readonly counter0: number;
  readonly counter1: number;
};

/** Hands out keys and counters, never the same twice. */
export interface DrawSource {
  draw(): Draw;
  /** What `draw` will give. */
  peek?(): Draw;
}

/** Key and counter of the next draw from the source that an op's attribute `source` is; null for another thing. */
export function nextDraw(source: unknown): Draw | null {
  return (source as Partial<DrawSource> | undefined)?.peek?.() ?? null;
}
