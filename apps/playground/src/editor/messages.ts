// What the page and the worker of a program tell each other.

export type BackendName = 'wasm' | 'webgpu' | 'js';

/** To the worker. */
export interface Ask {
  /** Loads Eagre with this backend, if it is the first; runs the program, if there is one. */
  readonly backend: BackendName;
  readonly program?: string;
}

export interface Picture {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  /** RGBA. */
  readonly pixels: Uint8ClampedArray<ArrayBuffer>;
}

export interface Lines {
  readonly title: string;
  readonly lines: Readonly<Record<string, readonly number[]>>;
}

/** A mistake, and the line of the program where it was made, from 1. */
export interface Mistake {
  readonly text: string;
  readonly line?: number | undefined;
}

/** From the worker. */
export type Tell =
  /** Eagre is loaded; `what` says what computes. */
  | { readonly kind: 'ready'; readonly what: string }
  | { readonly kind: 'print'; readonly text: string; readonly isError: boolean }
  | ({ readonly kind: 'image' } & Picture)
  | ({ readonly kind: 'plot' } & Lines)
  | { readonly kind: 'done'; readonly milliseconds: number; readonly mistake?: Mistake };
