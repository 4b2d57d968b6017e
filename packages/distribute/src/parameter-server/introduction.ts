// How processes of a parameter server cluster get to know each other, before they ask anything.
import type { Socket } from 'node:net';
import { DeadlineExceededError, EagreError, FailedPreconditionError, UnavailableError } from '@eagre/backend';
import { type Member, memberName } from '../cluster/cluster-spec.ts';
import type { Credentials } from '../cluster/connect-options.ts';
import { fieldsOfError } from '../cluster/errors.ts';
import {
  checkIntroduction,
  clusterHash,
  introduce,
  introductionMs,
  newNonce,
  proofOf,
} from '../cluster/handshake.ts';
import { nextLine, sendLine } from '../cluster/lines.ts';
import { openSocket } from '../cluster/sockets.ts';
import { type Beat, Connection, parameterProtocol } from './connection.ts';

/** What a caller says of itself. */
export interface Caller {
  readonly role: 'coordinator' | 'worker';
  /** Which coordinator's cluster it belongs to: another number for each. */
  readonly session: string;
}

/** Calls a server until it answers. @throws what it refuses with, DeadlineExceededError */
export async function reach(
  task: Member,
  session: string,
  credentials: Credentials,
  deadline: number,
  isWanted: () => boolean = () => true,
): Promise<{ readonly connection: Connection; readonly beat: Beat }> {
  const caller = { role: 'coordinator', session } as const;
  for (;;) {
    try {
      const { connection, answer } = await callServer(task, caller, credentials, deadline);
      return { connection, beat: answer['beat'] as Beat };
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      if (Date.now() >= deadline || !isWanted())
        throw new DeadlineExceededError(
          `${memberName(task)} did not come in time: ${error.message}`,
          'strategy.connect',
          { cause: error },
        );
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/**
 * Introduces this process to a server.
 * @throws UnavailableError where nobody answers; PermissionDeniedError for a wrong token; FailedPreconditionError for another version or cluster
 */
export async function callServer(
  task: Member,
  caller: Caller,
  credentials: Credentials,
  deadline: number,
): Promise<{ readonly connection: Connection; readonly answer: Readonly<Record<string, unknown>> }> {
  const name = memberName(task);
  const unavailable = (what: string, cause: unknown): UnavailableError =>
    new UnavailableError(`${name} ${what}: ${(cause as Error).message}`, undefined, { cause });
  const socket = await openSocket(task.address, deadline).catch((cause: unknown) => {
    throw unavailable('cannot be reached', cause);
  });
  const soon = (): number => Math.min(deadline, Date.now() + introductionMs);
  const own = (): object => ({ ...caller, protocol: parameterProtocol });
  try {
    const answer = await introduce(socket, name, credentials, own, { greeting: soon(), answer: soon });
    return { connection: new Connection(socket, name, false), answer };
  } catch (error) {
    socket.destroy();
    throw error instanceof EagreError ? error : unavailable('does not answer', error);
  }
}

/** Checks a caller, as the server that it has called. @throws as `callServer`, which is told the error */
export async function receiveCaller(
  socket: Socket,
  { token, clusterKey }: Credentials,
  more: Readonly<Record<string, unknown>>,
): Promise<Caller> {
  const nonce = newNonce();
  sendLine(socket, { eagre: parameterProtocol, nonce });
  const message = await nextLine(socket, Date.now() + introductionMs);
  const nonces = [nonce, String(message['nonce'])];
  try {
    checkIntroduction(message, {
      protocol: parameterProtocol,
      proof: proofOf(token, 'member', nonces),
      cluster: clusterHash(clusterKey),
    });
    const { role, session } = message;
    if ((role !== 'coordinator' && role !== 'worker') || typeof session !== 'string' || session.length > 100)
      throw new FailedPreconditionError('a process introduced itself by something else');
    sendLine(socket, { ...more, proof: proofOf(token, 'coordinator', nonces) });
    return { role, session };
  } catch (error) {
    sendLine(socket, { error: fieldsOfError(error) });
    socket.end();
    throw error;
  }
}
