// What programs in the editor may import, besides `eagre`.
declare module 'playground' {
  import type { Tensor } from 'eagre';

  /** Where a figure stands: one of the same title takes its place. */
  export interface FigureOptions {
    readonly title?: string;
  }

  /** Shows a picture beside what is printed: [height, width], or 1, 3 or 4 channels, as `tf.browser.toPixels` takes it. */
  export function image(pixels: Tensor, options?: FigureOptions): Promise<void>;

  /** Draws lines of numbers, by their names. */
  export function plot(lines: Readonly<Record<string, readonly number[]>>, options?: FigureOptions): void;

  /** Lets the page come to what it has to do. */
  export function pause(): Promise<void>;
}
