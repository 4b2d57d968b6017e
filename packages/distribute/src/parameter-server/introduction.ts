// How processes of a parameter server cluster get to know each other, before they ask anything.
import type { Socket } from 'node:net';
import { EagreError, FailedPreconditionError, PermissionDeniedError, UnavailableError } from '@eagre/backend';
import { nodeBuiltin } from '@eagre/formats/internal';
import { parseAddress } from '../cluster/cluster-spec.ts';
import { clusterHash, isProof, proofOf } from '../cluster/handshake.ts';
import { nextLine, sendLine } from '../cluster/lines.ts';
import {
  Connection,
  type Credentials,
  errorOfFields,
  fieldsOfError,
  parameterProtocol,
} from './connection.ts';

/** How long a caller may take to introduce itself. */
const introductionMs = 10_000;

/** What a caller says of itself. */
export interface Caller {
  readonly role: 'coordinator' | 'worker';
  /** Which coordinator's cluster it belongs to: another number for each. */
  readonly session: string;
}

/**
 * Introduces this process to a server.
 * @throws UnavailableError where nobody answers; PermissionDeniedError for a wrong token; FailedPreconditionError for another version or cluster
 */
export async function callServer(
  name: string,
  address: string,
  caller: Caller,
  { token, clusterKey }: Credentials,
  deadline: number,
): Promise<{ readonly connection: Connection; readonly answer: Readonly<Record<string, unknown>> }> {
  const socket = await opened(name, address, deadline);
  try {
    const greeting = await nextLine(socket, Math.min(deadline, Date.now() + introductionMs));
    const { nonce } = greeting;
    if (typeof nonce !== 'string') throw new Error('what came is no message of Eagre');
    const own = nodeBuiltin('node:crypto').randomBytes(16).toString('hex');
    const proof = proofOf(token, 'member', [nonce, own]);
    const cluster = clusterHash(clusterKey);
    sendLine(socket, { ...caller, protocol: parameterProtocol, nonce: own, proof, cluster });
    const answer = await nextLine(socket, Math.min(deadline, Date.now() + introductionMs));
    const refusal = answer['error'] as Readonly<Record<string, unknown>> | undefined;
    if (typeof refusal === 'object' && refusal !== null) throw errorOfFields(refusal);
    if (!isProof(answer['proof'], proofOf(token, 'coordinator', [nonce, own])))
      throw new PermissionDeniedError(`${name} does not know the token of the cluster (EAGRE_CLUSTER_TOKEN)`);
    return { connection: new Connection(socket, name, false), answer };
  } catch (error) {
    socket.destroy();
    if (error instanceof EagreError) throw error;
    throw new UnavailableError(`${name} does not answer: ${(error as Error).message}`, undefined, {
      cause: error,
    });
  }
}

/** Checks a caller, as the server that it has called. @throws as `callServer`, which is told the error */
export async function receiveCaller(
  socket: Socket,
  { token, clusterKey }: Credentials,
  more: Readonly<Record<string, unknown>>,
): Promise<Caller> {
  const nonce = nodeBuiltin('node:crypto').randomBytes(16).toString('hex');
  sendLine(socket, { eagre: parameterProtocol, nonce });
  const message = await nextLine(socket, Date.now() + introductionMs);
  const own = String(message['nonce']);
  try {
    if (message['protocol'] !== parameterProtocol)
      throw new FailedPreconditionError(
        `the processes run different versions of Eagre, or different strategies: ${JSON.stringify(message['protocol'] ?? null)} and '${parameterProtocol}'`,
      );
    if (!isProof(message['proof'], proofOf(token, 'member', [nonce, own])))
      throw new PermissionDeniedError('the token of the cluster is wrong (EAGRE_CLUSTER_TOKEN)');
    if (message['cluster'] !== clusterHash(clusterKey))
      throw new FailedPreconditionError('the processes were given different clusters (TF_CONFIG)');
    const { role, session } = message;
    if ((role !== 'coordinator' && role !== 'worker') || typeof session !== 'string' || session.length > 100)
      throw new FailedPreconditionError('a process introduced itself by something else');
    sendLine(socket, { ...more, proof: proofOf(token, 'coordinator', [nonce, own]) });
    return { role, session };
  } catch (error) {
    sendLine(socket, { error: fieldsOfError(error) });
    socket.end();
    throw error;
  }
}

function opened(name: string, address: string, deadline: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = nodeBuiltin('node:net').connect({ ...parseAddress(address) });
    const fail = (why: string): void => {
      socket.destroy();
      reject(new UnavailableError(`${name} cannot be reached: ${why}`));
    };
    const timer = setTimeout(
      () => fail('there is no answer'),
      Math.max(1, Math.min(5000, deadline - Date.now())),
    );
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error').on('error', () => {});
      resolve(socket.pause());
    });
    socket.once('error', (error) => {
      clearTimeout(timer);
      fail(error.message);
    });
  });
}
