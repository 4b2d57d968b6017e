/** What the page has found, for its test. */
export interface Outcome {
  readonly accuracy: number;
  /** Steps from 27 to 1. */
  readonly collatz: number;
  /** Of 1 to 6. */
  readonly sumEven: number;
}
