// For programs of tests: meets the other processes of `TF_CONFIG`.
import { type Meeting, type RendezvousOptions, rendezvous } from '../cluster/rendezvous.ts';
import { parseTFConfig } from '../cluster/tf-config.ts';

export function meet(more: Partial<RendezvousOptions> = {}): Promise<Meeting> {
  const { cluster, type, index } = parseTFConfig(process.env['TF_CONFIG'] ?? '');
  const { members, key } = cluster;
  const rank = members.findIndex((m) => m.type === type && m.index === index);
  return rendezvous({
    members,
    rank,
    clusterKey: key,
    token: 'secret',
    generation: 0,
    timeoutSeconds: 20,
    heartbeatSeconds: 10,
    deterministic: false,
    ...more,
  });
}
