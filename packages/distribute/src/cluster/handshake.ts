// How two processes find that they belong together: a challenge, and what answers it.

import { FailedPreconditionError, PermissionDeniedError } from '@eagre/backend';
import { shown } from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';

/** Changes with the messages, and with what the addon sends. */
export const protocol = 1;

/** What a process shows of itself to rank 0. */
export interface Hello {
  readonly rank: number;
  /** The last generation that it was in; 0 for none. */
  readonly generation: number;
  /** Where each of the others connects to, in base64. */
  readonly addresses: readonly string[];
  /** Where it listens for heartbeats. */
  readonly host: string;
  readonly port: number;
}

/** A proof that somebody knows the token, for these two nonces only. */
export function proofOf(token: string, role: 'member' | 'coordinator', nonces: readonly string[]): string {
  return nodeBuiltin('node:crypto')
    .createHmac('sha256', token)
    .update(JSON.stringify([role, ...nonces]))
    .digest('hex');
}

/** Whether a proof is the expected one. */
export function isProof(given: unknown, expected: string): boolean {
  return (
    typeof given === 'string' &&
    given.length === expected.length &&
    nodeBuiltin('node:crypto').timingSafeEqual(Buffer.from(given), Buffer.from(expected))
  );
}

/** What is compared of clusters. */
export function clusterHash(key: string): string {
  return nodeBuiltin('node:crypto').createHash('sha256').update(key).digest('hex').slice(0, 16);
}

/**
 * The hello in a message to rank 0.
 * @throws PermissionDeniedError for a wrong token, FailedPreconditionError for another protocol or cluster
 */
export function checkHello(
  message: Readonly<Record<string, unknown>>,
  expected: { readonly proof: string; readonly cluster: string; readonly size: number },
): Hello {
  if (message['protocol'] !== protocol)
    throw new FailedPreconditionError(
      `the processes run different versions of Eagre: protocol ${shown(message['protocol'])} and ${protocol}`,
    );
  if (!isProof(message['proof'], expected.proof))
    throw new PermissionDeniedError('the token of the cluster is wrong (EAGRE_CLUSTER_TOKEN)');
  if (message['cluster'] !== expected.cluster)
    throw new FailedPreconditionError('the processes were given different clusters (TF_CONFIG)');
  const { rank, generation, addresses, host, port } = message as Partial<Hello>;
  const whole = (n: unknown, below: number): boolean =>
    typeof n === 'number' && Number.isInteger(n) && n >= 0 && n < below;
  if (
    !whole(rank, expected.size) ||
    rank === 0 ||
    !whole(generation, 2 ** 31) ||
    !Array.isArray(addresses) ||
    addresses.length !== expected.size ||
    addresses.some((address) => typeof address !== 'string' || address.length > 1000) ||
    typeof host !== 'string' ||
    !whole(port, 65536)
  )
    throw new FailedPreconditionError('a process introduced itself by something else');
  return { rank, generation, addresses, host, port } as Hello;
}
