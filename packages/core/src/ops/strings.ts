// Strings in traced functions. Nothing here is public.
import { UnimplementedError } from '@eagre/backend';
import { knownTensor } from '../dispatch/symbolic.ts';
import type { Tensor } from '../tensor/tensor.ts';

/**
 * A tensor of strings, or one of their places, with values.
 * @throws UnimplementedError where it differs from run to run of a traced function.
 */
export function knownStrings(x: Tensor, op: string): Tensor {
  const known = knownTensor(x);
  if (known !== null) return known;
  throw new UnimplementedError(
    'a traced function cannot compute with strings, unless everything they depend on is known while tracing: compute an index, and look up the string outside the function',
    op,
  );
}
