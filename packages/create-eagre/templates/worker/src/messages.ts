/** What the page tells the worker. */
export interface Train {
  readonly type: 'train';
  readonly epochs: number;
}

/** What the worker tells the page. */
export type Told =
  | {
      readonly type: 'ready';
      readonly backend: string;
      readonly points: number[][];
      readonly labels: number[];
    }
  | {
      readonly type: 'epoch';
      readonly epoch: number;
      readonly epochs: number;
      readonly loss: number;
      readonly accuracy: number;
      /** For each place of the grid, how likely each arm is. */
      readonly likely: number[][];
    }
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly message: string };
