// For programs of tests: meets the other processes of `TF_CONFIG`, or of `mpiexec`.
import { placeOf, resolverOfEnvironment } from '../cluster/cluster-resolver.ts';
import { type Meeting, type RendezvousOptions, rendezvous } from '../cluster/rendezvous.ts';

export function meet(more: Partial<RendezvousOptions> = {}): Promise<Meeting> {
  const resolver = resolverOfEnvironment();
  return rendezvous({
    ...placeOf(resolver),
    clusterKey: resolver.clusterSpec().key,
    token: 'secret',
    generation: 0,
    timeoutSeconds: 240,
    heartbeatSeconds: 60,
    deterministic: false,
    implementation: 'AUTO',
    ...more,
  });
}
