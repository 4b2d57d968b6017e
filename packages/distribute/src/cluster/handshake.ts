// How two processes find that they belong together: a challenge, and what answers it.

import type { Socket } from 'node:net';
import { FailedPreconditionError, PermissionDeniedError } from '@eagre/backend';
import { shown } from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import type { Credentials } from './connect-options.ts';
import { errorOfFields } from './errors.ts';
import { nextLine, sendLine } from './lines.ts';

/** How long a process may take to introduce itself. */
export const introductionMs = 10_000;

/** Changes with the messages, and with what the addon sends. */
export const protocol = 4;

/** What a process shows of itself to rank 0. */
export interface Hello {
  readonly rank: number;
  /** A number of this process, or of its strategy, that no other one has. */
  readonly instance: string;
  /** The last generation that it was in; 0 for none. */
  readonly generation: number;
  /** What the library has for each of the others, in base64. */
  readonly addresses: readonly string[];
  /** Where it listens for the others. */
  readonly host: string;
  readonly port: number;
  /** What is to carry operations out. */
  readonly implementation: string;
  /** The same text on all processes that can have memory in common; empty where that is not known. */
  readonly machine: string;
  /** This start of the system: the same text on all processes of the machine. */
  readonly system: string;
  /** The GPUs that it may use, by their places on the bus of the machine; none where none are needed. */
  readonly gpus: readonly string[];
  /** Why it cannot use the implementation; empty where it can. */
  readonly missing: string;
}

/** A number that nobody can guess, to be used once. */
export function newNonce(): string {
  return nodeBuiltin('node:crypto').randomBytes(16).toString('hex');
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
  if (typeof given !== 'string') return false;
  const [one, two] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === two.length && nodeBuiltin('node:crypto').timingSafeEqual(one, two);
}

/** What is compared of clusters. */
export function clusterHash(key: string): string {
  return nodeBuiltin('node:crypto').createHash('sha256').update(key).digest('hex').slice(0, 16);
}

/**
 * Introduces this process to the one at the other end of a socket.
 * @param name how errors name the other
 * @param own what this process shows of itself beside the proof, with its `protocol`; asked for when the other has greeted
 * @param until when the greeting and the answer must have come (of `Date.now()`)
 * @returns the answer, of one that knows the token
 * @throws what the other refuses with; PermissionDeniedError where it does not know the token; Error where something else comes
 */
export async function introduce(
  socket: Socket,
  name: string,
  { token, clusterKey }: Credentials,
  own: () => object,
  until: { readonly greeting: number; readonly answer: () => number },
): Promise<Readonly<Record<string, unknown>>> {
  const { nonce: theirs } = await nextLine(socket, until.greeting);
  if (typeof theirs !== 'string') throw new Error('what came is no message of Eagre');
  const nonce = newNonce();
  const proof = proofOf(token, 'member', [theirs, nonce]);
  sendLine(socket, { ...own(), nonce, proof, cluster: clusterHash(clusterKey) });
  const answer = await nextLine(socket, until.answer());
  const refusal = answer['error'] as Readonly<Record<string, unknown>> | undefined;
  if (typeof refusal === 'object' && refusal !== null) throw errorOfFields(refusal);
  if (!isProof(answer['proof'], proofOf(token, 'coordinator', [theirs, nonce])))
    throw new PermissionDeniedError(`${name} does not know the token of the cluster (EAGRE_CLUSTER_TOKEN)`);
  return answer;
}

/**
 * Checks the introduction of another process.
 * @throws PermissionDeniedError for a wrong token, FailedPreconditionError for another protocol or cluster
 */
export function checkIntroduction(
  message: Readonly<Record<string, unknown>>,
  expected: { readonly protocol: number | string; readonly proof: string; readonly cluster: string },
): void {
  if (message['protocol'] !== expected.protocol)
    throw new FailedPreconditionError(
      `the processes run different versions of Eagre, or different strategies: protocol ${shown(message['protocol'])} and ${shown(expected.protocol)}`,
    );
  if (!isProof(message['proof'], expected.proof))
    throw new PermissionDeniedError('the token of the cluster is wrong (EAGRE_CLUSTER_TOKEN)');
  if (message['cluster'] !== expected.cluster)
    throw new FailedPreconditionError('the processes were given different clusters (TF_CONFIG)');
}

/** The hello in a message to rank 0. @throws as `checkIntroduction`; FailedPreconditionError for what is no hello */
export function checkHello(
  message: Readonly<Record<string, unknown>>,
  expected: { readonly proof: string; readonly cluster: string; readonly size: number },
): Hello {
  checkIntroduction(message, { protocol, ...expected });
  const {
    rank,
    instance,
    generation,
    addresses,
    host,
    port,
    implementation,
    machine,
    system,
    gpus,
    missing,
  } = message as Partial<Hello>;
  const isTextList = (list: unknown): list is string[] =>
    Array.isArray(list) && list.every((text) => typeof text === 'string' && text.length <= 1000);
  const whole = (n: unknown, below: number): boolean =>
    typeof n === 'number' && Number.isInteger(n) && n >= 0 && n < below;
  if (
    !whole(rank, expected.size) ||
    rank === 0 ||
    typeof instance !== 'string' ||
    !whole(generation, 2 ** 31) ||
    !isTextList(addresses) ||
    addresses.length !== expected.size ||
    typeof host !== 'string' ||
    !whole(port, 65536) ||
    typeof implementation !== 'string' ||
    typeof machine !== 'string' ||
    typeof system !== 'string' ||
    !isTextList(gpus) ||
    typeof missing !== 'string'
  )
    throw new FailedPreconditionError('a process introduced itself by something else');
  return {
    rank,
    instance,
    generation,
    addresses,
    host,
    port,
    implementation,
    machine,
    system,
    gpus,
    missing,
  } as Hello;
}
