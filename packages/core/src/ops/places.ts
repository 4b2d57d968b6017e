// Places along axes whose sizes need not be known. Nothing here is public.
import type { Dim } from '../shapes/dim.ts';
import { sizeValue } from '../sizes.ts';
import type { Tensor } from '../tensor.ts';
import { range } from './creation.ts';

/** The places along an axis of a size: 0, 1, …, int32. */
export const placesOf = (size: Dim): Tensor => range(sizeValue(size, 'int32'), { dtype: 'int32' });
