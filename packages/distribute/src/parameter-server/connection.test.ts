import { DataLossError, InternalError, UnavailableError } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { errorOfFields } from '../cluster/errors.ts';
import { Connection, MessageReader, type Wire } from './connection.ts';
import { decodeMessage, encodeMessage, longestMessage, type Message } from './messages.ts';

/** Longer than any message, without its memory. */
const tooLong = { byteLength: longestMessage } as Uint8Array;

/** A connection whose other end is the test. */
function connected(): {
  readonly connection: Connection;
  readonly sent: Message[];
  /** Whether the socket keeps the process alive. */
  readonly isHeld: () => boolean;
  readonly come: (message: Partial<Message>) => void;
  readonly close: () => void;
} {
  const sent: Message[] = [];
  const listeners: { data?: (bytes: Uint8Array) => void; close?: () => void } = {};
  let held = true;
  const wire: Wire = {
    ref: () => (held = true),
    unref: () => (held = false),
    setNoDelay: () => {},
    setKeepAlive: () => {},
    on: (event: string, listener: unknown) => Object.assign(listeners, { [event]: listener }),
    resume: () => {},
    write: (bytes) => sent.push(decodeMessage(bytes.subarray(4))),
    destroy: () => {},
  };
  const connection = new Connection(wire, 'ps 0', false);
  return {
    connection,
    sent,
    isHeld: () => held,
    come: (message) =>
      listeners.data?.(encodeMessage({ kind: 'ok', id: 1, fields: {}, tensors: [], blobs: [], ...message })),
    close: () => listeners.close?.(),
  };
}

/** Until what was begun before has gone as far as it can. */
const settled = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

describe('a connection', () => {
  it('asks and answers', async () => {
    const { connection, sent, come, isHeld } = connected();
    connection.onRequest = ({ fields }) => ({ fields: { twice: Number(fields['n']) * 2 } });
    come({ kind: 'double', id: 5, fields: { n: 4 } });
    await settled();
    expect(sent).toEqual([{ kind: 'ok', id: 5, fields: { twice: 8 }, tensors: [], blobs: [] }]);
    const answer = connection.ask({ kind: 'read' });
    expect(isHeld()).toBe(true);
    come({ fields: { a: 1 } });
    expect((await answer).fields).toEqual({ a: 1 });
    expect(isHeld()).toBe(false);
  });

  it('says that an answer is too long', async () => {
    const { connection, sent, come, close } = connected();
    connection.onRequest = () => ({ blobs: [tooLong] });
    come({ kind: 'read', id: 5 });
    await settled();
    expect(sent.map(({ kind, id, fields }) => [kind, id, fields['name']])).toEqual([
      ['error', 5, 'RangeError'],
    ]);
    // Whoever has asked may be gone.
    connection.onRequest = async () => {
      close();
      return { blobs: [tooLong] };
    };
    come({ kind: 'read', id: 6 });
    await settled();
    expect(sent.length).toBe(1);
    expect(connection.failure).toBeInstanceOf(UnavailableError);
  });

  it('does not keep the process alive for a question that was not sent', async () => {
    const { connection, sent, isHeld } = connected();
    await expect(connection.ask({ kind: 'apply', blobs: [tooLong] })).rejects.toThrow(RangeError);
    expect([sent.length, isHeld()]).toEqual([0, false]);
  });

  it('ends where a message is too long', () => {
    expect(() => new MessageReader().push(Uint8Array.of(255, 255, 255, 255))).toThrow(DataLossError);
  });
});

describe('an error that has travelled', () => {
  it('is an InternalError where its code is none', () => {
    expect(errorOfFields({ code: 'NONE', message: 'why' })).toEqual(new InternalError('why'));
  });
});
