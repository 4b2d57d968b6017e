// Where elements are made: outside of what is current for the code that asks for them, in memory of the host.
import { hostOf } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { copyTo, eagerBackend, inContext, outsideScopes, standingAlone } from '@eagre/core/internal';

/** Runs code that makes elements. It computes on the CPU, as in TensorFlow, while another device trains. */
export function preparing<T>(fn: () => T): T {
  const backend = eagerBackend();
  if (backend.allocator.isHost) return standingAlone(fn);
  return standingAlone(() => inContext({ backend: hostOf(backend) }, fn));
}

/** A tensor whose values lie in memory of the host. */
export function onHost(x: Tensor): Tensor {
  if (x.dtype === 'string' || x.storage.allocator.isHost) return x;
  return outsideScopes(() => copyTo(x, hostOf(x.backend)));
}
