// String tensors in traced functions. They stay on the host: what is known while tracing counts as a host value does.
import { UnimplementedError } from '@eagre/backend';
import { Tensor } from '@eagre/core';
import { symbolic } from '@eagre/core/internal';

/** A tensor of strings that are known. */
export function isStrings(value: unknown): value is Tensor {
  return value instanceof Tensor && value.dtype === 'string' && value.backend !== symbolic;
}

/** The error of what would need strings that differ from run to run. */
export function noStrings(op?: string): UnimplementedError {
  return new UnimplementedError(
    'a traced function cannot compute with strings, unless they are known while tracing: compute an index, and look up the string outside the function',
    op,
  );
}

/** @throws UnimplementedError where a branch or loop would give strings. */
export function refuseStrings(values: readonly { readonly dtype: string }[], op: string): void {
  if (values.some(({ dtype }) => dtype === 'string')) throw noStrings(op);
}
