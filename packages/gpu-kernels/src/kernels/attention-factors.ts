// What the products of attention and its gradients are of.

export type Side = 'queries' | 'keys';

/** A tensor that is a factor: its buffer, how many rows it has, and how wide they are. */
export interface Factor {
  readonly buffer: string;
  readonly side: Side;
  readonly width: 'width' | 'values';
}
export const query: Factor = { buffer: 'query', side: 'queries', width: 'width' };
export const key: Factor = { buffer: 'key', side: 'keys', width: 'width' };
export const value: Factor = { buffer: 'value', side: 'keys', width: 'values' };
export const dy: Factor = { buffer: 'dy', side: 'queries', width: 'values' };
