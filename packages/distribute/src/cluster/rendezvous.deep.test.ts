import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { testPorts } from '../testing/ports.ts';
import { withoutGloo } from '../testing/processes.ts';
import type { Member } from './cluster-spec.ts';
import { coordinatorOf } from './coordinator.ts';
import { errorOfFields } from './errors.ts';
import { type Hello, introduce, isProof, proofOf, protocol } from './handshake.ts';
import { type Meeting, type RendezvousOptions, rendezvous } from './rendezvous.ts';
import { openSocket } from './sockets.ts';
import { WatchedSocket } from './watched-socket.ts';

// All ranks in this process: they meet over sockets all the same.
async function cluster(size: number): Promise<readonly RendezvousOptions[]> {
  const ports = await testPorts(size);
  const members: Member[] = ports.map((port, index) => ({
    type: 'worker',
    index,
    address: `127.0.0.1:${port}`,
  }));
  return members.map((_, rank) => ({
    members,
    rank,
    clusterKey: JSON.stringify(ports),
    token: 'secret',
    generation: 0,
    timeoutSeconds: 5,
    heartbeatSeconds: 5,
    deterministic: false,
    implementation: 'AUTO',
  }));
}

const close = (meetings: readonly Meeting[]): Promise<unknown> =>
  Promise.all(meetings.map(({ engine }) => engine.close()));
const portOf = ({ members }: RendezvousOptions): number => Number(members[0].address.split(':')[1]);
const errorOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => new Error('no error'),
    (error: Error) => error,
  );

let open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open) await one.close();
  open = [];
});

/** The coordinator of a cluster is closed at the end of a test. */
async function closeLater({ members, clusterKey, token }: RendezvousOptions): Promise<void> {
  open.push(await coordinatorOf(members, clusterKey, token));
}

/** Silence is noticed soon. */
const watched = (options: RendezvousOptions): RendezvousOptions => ({
  ...options,
  timeoutSeconds: 60,
  heartbeatSeconds: 0.4,
});

/** All take part in an operation. */
async function sumOf(meetings: readonly Meeting[]): Promise<void> {
  const sums = meetings.map(() => Int32Array.of(1));
  await Promise.all(meetings.map(({ engine }, i) => engine.allReduceAsync(sums[i], { dtype: 'int32' })));
  expect(sums.map(([sum]) => sum)).toEqual(sums.map(() => meetings.length));
}

interface Wire {
  readonly port: number;
  /** Where new connections go; 0 for nowhere. */
  target: number;
  /** From now on what was connected is silent: no bytes, no end. */
  cut(): void;
  /** Until an introduction was answered. */
  carried(): Promise<void>;
}

/** What lies between a process and rank 0. */
async function proxyTo(options: RendezvousOptions): Promise<Wire> {
  let connections: { cut: boolean }[] = [];
  let onAnswer = (): void => {};
  const sockets: Socket[] = [];
  const [port] = await testPorts(1);
  const wire = {
    port,
    target: portOf(options),
    cut: () => {
      for (const each of connections) each.cut = true;
      connections = [];
    },
    carried: () => new Promise<void>((resolve) => (onAnswer = resolve)),
  };
  const server = createServer((near) => {
    const state = { cut: false };
    connections.push(state);
    sockets.push(near.on('error', () => {}));
    if (wire.target === 0) return void near.resume();
    const far = connect(wire.target, '127.0.0.1');
    let lines = 0;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ]) {
      sockets.push(from.on('error', () => {}));
      from.on('data', (d) => {
        if (state.cut) return;
        to.write(d);
        if (from === far && ++lines > 1) onAnswer();
      });
      from.on('close', () => {
        if (!state.cut) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  });
  return wire;
}

const throughProxy = (options: RendezvousOptions, { port }: Wire): RendezvousOptions => ({
  ...options,
  members: options.members.map((m, i) => (i === 0 ? { ...m, address: `127.0.0.1:${port}` } : m)),
});

/** A guest that does only what it is told. */
interface Puppet {
  readonly table: Promise<{ readonly hellos: readonly Hello[] }>;
  readonly refusal: Promise<Error>;
  freeze(): void;
  destroy(): void;
}

/** Introduces itself as a process that listens at a port of its own, or at another. */
async function callAs(options: RendezvousOptions, at: Partial<Hello>): Promise<Puppet> {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const hello: Hello = {
    rank: options.rank,
    instance: 'puppet',
    generation: 0,
    addresses: options.members.map(() => ''),
    host: '127.0.0.1',
    port,
    implementation: options.implementation,
    machine: '',
    system: '',
    gpus: [],
    missing: '',
    ...at,
  };
  const socket = await openSocket(options.members[0].address, Date.now() + 300_000);
  const soon = (): number => Date.now() + 300_000;
  await introduce(socket, 'rank 0', options, () => ({ ...hello, protocol }), {
    greeting: soon(),
    answer: soon,
  });
  const messages: Record<string, unknown>[] = [];
  let onChange = (): void => {};
  const link = new WatchedSocket(socket, 30_000, {
    onMessage: (message) => {
      messages.push(message);
      onChange();
    },
    onLost: () => {},
  });
  const one = async (key: string): Promise<unknown> => {
    for (;;) {
      const found = messages.find((message) => message[key] !== undefined);
      if (found !== undefined) return found[key];
      await new Promise<void>((resolve) => {
        const before = onChange;
        onChange = () => {
          before();
          resolve();
        };
      });
    }
  };
  open.push({ close: () => socket.destroy() }, { close: () => server.close() });
  return {
    table: one('table') as Puppet['table'],
    refusal: one('error').then((fields) => errorOfFields(fields as Record<string, unknown>)),
    freeze: () => {
      link.send = () => {};
      socket.write = () => true;
    },
    destroy: () => socket.destroy(),
  };
}

describe.skipIf(withoutGloo !== undefined)('rendezvous', () => {
  it('brings all together, whoever comes first, and again as a new generation', async () => {
    const options = await cluster(3);
    const last = rendezvous(options[2]);
    await new Promise((resolve) => setTimeout(resolve, 150));
    const meetings = await Promise.all([rendezvous(options[0]), rendezvous(options[1]), last]);
    await closeLater(options[0]);
    expect(meetings.map(({ generation }) => generation)).toEqual([1, 1, 1]);
    await Promise.all(
      meetings.map(async ({ engine }) => {
        const x = Int32Array.of(engine.rank);
        await engine.allReduceAsync(x, { dtype: 'int32' });
        expect(x[0]).toBe(3);
      }),
    );
    await close(meetings);
    // The others know of a generation; the last one is new.
    const again = await Promise.all(
      options.map((o) => rendezvous({ ...o, generation: o.rank === 2 ? 0 : 1 })),
    );
    expect(again.map(({ generation }) => generation)).toEqual([2, 2, 2]);
    await close(again);
  });

  it('ends a generation when one of its processes comes again', async () => {
    const options = await cluster(2);
    const meetings = await Promise.all(options.map(rendezvous));
    await closeLater(options[0]);
    const waiting = errorOf(meetings[0].engine.barrierAsync());
    const restarted = rendezvous(options[1]);
    const error = await waiting;
    expect([error.name, error.message]).toEqual([
      'UnavailableError',
      expect.stringMatching(
        /^worker 1 \(.*\) was started again, or connects another strategy of its program$/,
      ),
    ]);
    await close(meetings);
    const again = await Promise.all([rendezvous({ ...options[0], generation: 1 }), restarted]);
    expect(again.map(({ generation }) => generation)).toEqual([2, 2]);
    await close(again);
  });

  it('says who did not come, to all who came', async () => {
    const options = (await cluster(3)).map((o) => ({ ...o, timeoutSeconds: 2 }));
    const errors = await Promise.all([errorOf(rendezvous(options[0])), errorOf(rendezvous(options[1]))]);
    await closeLater(options[0]);
    for (const error of errors) {
      expect(error.name).toBe('DeadlineExceededError');
      expect(error.message).toMatch(/^worker 2 \(127\.0\.0\.1:\d+\) did not come in time/);
    }
  });

  it('says that rank 0 did not come', async () => {
    const options = await cluster(2);
    const error = await errorOf(rendezvous({ ...options[1], timeoutSeconds: 0.5 }));
    expect(error.name).toBe('DeadlineExceededError');
    expect(error.message).toMatch(/^worker 0 \(.*\) could not be reached within 0\.5 s: .*ECONNREFUSED/);
  });

  it('refuses a wrong token at once', async () => {
    const options = (await cluster(2)).map((o) => ({ ...o, timeoutSeconds: 2 }));
    const first = errorOf(rendezvous(options[0]));
    let isOver = false;
    void first.then(() => {
      isOver = true;
    });
    const second = await errorOf(rendezvous({ ...options[1], token: 'guessed' }));
    expect(isOver).toBe(false);
    expect([second.name, second.message]).toEqual([
      'PermissionDeniedError',
      expect.stringContaining('EAGRE_CLUSTER_TOKEN'),
    ]);
    expect((await first).message).toMatch(
      /worker 1 .* did not come in time \(a caller was refused: the token/,
    );
    await closeLater(options[0]);
  });

  it('ends for all where one was given another cluster', async () => {
    const options = await cluster(3);
    const errors = await Promise.all([
      errorOf(rendezvous(options[0])),
      errorOf(rendezvous(options[1])),
      new Promise((resolve) => setTimeout(resolve, 300)).then(() =>
        errorOf(rendezvous({ ...options[2], clusterKey: 'another' })),
      ),
    ]);
    await closeLater(options[0]);
    for (const error of errors as Error[])
      expect([error.name, error.message]).toEqual([
        'FailedPreconditionError',
        expect.stringContaining('different clusters'),
      ]);
  });

  it('ends where one runs another version', async () => {
    const options = await cluster(2);
    const first = errorOf(rendezvous(options[0]));
    await closeLater(options[0]);
    const answers: string[] = [];
    const socket = connect(portOf(options[0]), '127.0.0.1').on('data', (d) => {
      answers.push(String(d));
      if (answers.length > 1) return;
      const { nonce } = JSON.parse(String(d)) as { nonce: string };
      const proof = proofOf('secret', 'member', [nonce, 'mine']);
      socket.write(`${JSON.stringify({ protocol: 99, rank: 1, nonce: 'mine', proof })}\n`);
    });
    socket.on('error', () => {});
    expect(await first).toMatchObject({
      name: 'FailedPreconditionError',
      message: expect.stringContaining('protocol 99 and 4'),
    });
    await new Promise((resolve) => socket.on('close', resolve));
    expect(answers.join('')).toContain('FAILED_PRECONDITION');
  });

  it('ends where one process was started twice', async () => {
    const options = await cluster(3);
    const first = errorOf(rendezvous(options[0]));
    const second = [errorOf(rendezvous(options[1])), errorOf(rendezvous(options[1]))];
    for (const error of [await first, ...(await Promise.all(second))])
      expect(error.message).toMatch(/^worker 1 .* was started twice$/);
    await closeLater(options[0]);
  });

  it('says which process is out of reach of which, though rank 0 sees both', async () => {
    const options = (await cluster(3)).map((o) => ({ ...o, implementation: 'RING' as const }));
    const first = errorOf(rendezvous(options[0]));
    const [closed] = await testPorts(1);
    const guest = await callAs(options[1], { host: '127.0.0.1', port: closed });
    const errors = await Promise.all([first, errorOf(rendezvous(options[2]))]);
    await closeLater(options[0]);
    for (const error of [...errors, await guest.refusal])
      expect([error.name, error.message]).toEqual([
        'UnavailableError',
        expect.stringMatching(
          /^the processes could not connect: worker 2 .* says that worker 1 .* cannot be reached: Connection refused$/,
        ),
      ]);
  });

  it('lets a process that was lost without a word come again while it waits', async () => {
    const options = (await cluster(3)).map(watched);
    const first = rendezvous(options[0]);
    await closeLater(options[0]);
    // Twice: lost, come again, and lost once more.
    const lost = [];
    for (let i = 0; i < 2; i++) {
      const wire = await proxyTo(options[0]);
      lost.push(errorOf(rendezvous({ ...throughProxy(options[1], wire), timeoutSeconds: 1.5 })));
      await wire.carried();
      wire.cut();
      wire.target = 0;
    }
    const meetings = await Promise.all([first, rendezvous(options[1]), rendezvous(options[2])]);
    expect(meetings.map(({ generation }) => generation)).toEqual([1, 1, 1]);
    await sumOf(meetings);
    for (const error of await Promise.all(lost)) expect(error.name).toBe('DeadlineExceededError');
    await close(meetings);
  });

  it('has those who wait for a rank 0 that was lost without a word meet the next one', async () => {
    const options = (await cluster(3)).map(watched);
    const [later] = await testPorts(1);
    const wire = await proxyTo(options[0]);
    const lost = errorOf(rendezvous({ ...options[0], timeoutSeconds: 1.5 }));
    const waiting = rendezvous(throughProxy(options[1], wire));
    await wire.carried();
    wire.cut();
    const members = options[0].members.map((m, i) => (i === 0 ? { ...m, address: `127.0.0.1:${later}` } : m));
    wire.target = later;
    const anew = { ...options[0], members };
    const meetings = await Promise.all([rendezvous(anew), waiting, rendezvous({ ...options[2], members })]);
    await closeLater(anew);
    await closeLater(options[0]);
    await sumOf(meetings);
    expect((await lost).name).toBe('DeadlineExceededError');
    await close(meetings);
  });

  it('has all meet again where one is lost while they connect', async () => {
    const options = (await cluster(3)).map((o) => watched({ ...o, implementation: 'RING' as const }));
    const first = rendezvous(options[0]);
    await closeLater(options[0]);
    // It listens, but never calls; then it is silent for good.
    const guest = await callAs(options[1], {});
    const last = rendezvous(options[2]);
    await guest.table;
    guest.freeze();
    const meetings = await Promise.all([first, rendezvous(options[1]), last]);
    expect(meetings.map(({ generation }) => generation)).toEqual([1, 1, 1]);
    await sumOf(meetings);
    await close(meetings);
  });

  it('takes nobody for a rank who does not know the key', async () => {
    const options = (await cluster(2)).map((o) => ({ ...o, implementation: 'RING' as const }));
    const strangers: Socket[] = [];
    const first = rendezvous(options[0]);
    await closeLater(options[0]);
    // Rank 1 shows another port, which calls those who listen at its own before it does.
    const guest = await callAs(options[1], {});
    const { hellos } = await guest.table;
    for (const text of ['', 'x'.repeat(16), '\0'.repeat(16), 'GET / HTTP/1.1\r\n\r\n'])
      for (let i = 0; i < 30; i++) {
        const socket = connect(hellos[0].port, hellos[0].host).on('error', () => {});
        socket.write(text);
        strangers.push(socket);
      }
    await Promise.all(strangers.slice(0, 30).map((s) => new Promise((resolve) => s.on('connect', resolve))));
    guest.freeze();
    guest.destroy();
    const meetings = await Promise.all([first, rendezvous(options[1])]);
    await sumOf(meetings);
    for (const socket of strangers) socket.destroy();
    await close(meetings);
  });

  it('takes no text of other bytes for a proof', () => {
    const proof = proofOf('secret', 'member', ['a', 'b']);
    expect([isProof(proof, proof), isProof('é'.repeat(64), proof), isProof('0'.repeat(64), proof)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('does not mind strangers', async () => {
    const options = await cluster(2);
    const first = rendezvous(options[0]);
    await closeLater(options[0]);
    const sockets: Socket[] = [];
    for (const text of [
      '{"protocol":99}\n',
      'GET / HTTP/1.1\r\n\r\n',
      '{',
      '[]\n',
      '\0\xff\xfe\n',
      'x'.repeat(5 << 20),
      '{"protocol":1}\n',
      '',
    ]) {
      const socket = connect(portOf(options[0]), '127.0.0.1').on('error', () => {});
      socket.write(text);
      if (text === '{') socket.end();
      sockets.push(socket);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    const meetings = await Promise.all([first, rendezvous(options[1])]);
    const x = Float32Array.of(1);
    await Promise.all([
      meetings[0].engine.allReduceAsync(x, { dtype: 'float32' }),
      meetings[1].engine.allReduceAsync(Float32Array.of(2), { dtype: 'float32' }),
    ]);
    expect(x[0]).toBe(3);
    for (const socket of sockets) socket.destroy();
    await close(meetings);
  });

  it('says that another program has the address of rank 0', async () => {
    const options = (await cluster(2)).map((o) => ({ ...o, timeoutSeconds: 1 }));
    const server: Server = createServer((socket) => socket.on('error', () => {}).end('220 mail ready\r\n'));
    await new Promise<void>((resolve) => server.listen(portOf(options[0]), '127.0.0.1', resolve));
    open.push({ close: () => new Promise((resolve) => server.close(resolve)) });
    const [first, second] = await Promise.all(options.map((o) => errorOf(rendezvous(o))));
    expect([first.name, first.message]).toEqual([
      'UnavailableError',
      expect.stringContaining('another program listens there'),
    ]);
    expect([second.name, second.message]).toEqual([
      'DeadlineExceededError',
      expect.stringContaining('no message of Eagre'),
    ]);
  });

  it('says that an address is none of this machine', async () => {
    const [options] = await cluster(2);
    const members = options.members.map((m, i) => (i === 0 ? { ...m, address: '198.51.100.1:9999' } : m));
    expect((await errorOf(rendezvous({ ...options, members }))).name).toBe('UnavailableError');
  });
});
