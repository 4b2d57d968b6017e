import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DataLossError, InvalidArgumentError, NotFoundError } from '@eagre/backend';
import { encodeRecord, readRecords, tensorflow } from '@eagre/formats';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import { readEvents, type SummaryEvent, summaryIterator } from './index.ts';
import { decodeEvent } from './read-events.ts';

const golden = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(fileURLToPath(new URL(`../golden/${name}.tfevents`, import.meta.url))));
const scalar = (tag: string, step: number, metadata?: tensorflow.SummaryMetadata): Uint8Array =>
  encodeRecord(
    tensorflow.Event.encode({
      step,
      summary: {
        value: [
          {
            tag,
            tensor: { dtype: 1, tensor_shape: {}, float_val: [step / 2] },
            ...(metadata === undefined ? {} : { metadata }),
          },
        ],
      },
    }),
  );
const scalars = { plugin_data: { plugin_name: 'scalars' } };
const brief = (e: SummaryEvent): unknown => (e.kind === 'scalar' ? [e.run, e.tag, e.step, e.value] : e.kind);

it('reads folders by run and name, synchronously or not', async () => {
  const folder = temporaryFolder('summary');
  for (const run of ['train', 'validation/deep']) mkdirSync(join(folder, run), { recursive: true });
  writeFileSync(join(folder, 'events.out.tfevents.2'), scalar('top', 1, scalars));
  writeFileSync(join(folder, 'train/events.out.tfevents.2'), scalar('loss', 2));
  writeFileSync(join(folder, 'train/events.out.tfevents.1'), scalar('loss', 1, scalars));
  writeFileSync(join(folder, 'validation/deep/my.tfevents'), scalar('loss', 3, scalars));
  writeFileSync(join(folder, 'train/other.txt'), 'nothing');
  const expected = [
    ['.', 'top', 1, 0.5],
    ['train', 'loss', 1, 0.5],
    ['train', 'loss', 2, 1],
    ['validation/deep', 'loss', 3, 1.5],
  ];
  const events = readEvents(folder);
  for (let turn = 0; turn < 2; turn++) {
    expect([...events].map(brief)).toEqual(expected);
    const found = [];
    for await (const e of events) found.push(brief(e));
    expect(found).toEqual(expected);
  }
});

it('ends quietly at a record that is half there', () => {
  const file = join(temporaryFolder('summary'), 'tfevents');
  const [whole, half] = [scalar('a', 1, scalars), scalar('a', 2)];
  for (let length = 0; length < half.length; length++) {
    writeFileSync(file, Buffer.concat([whole, half.subarray(0, length)]));
    expect([...readEvents(file)].map(brief)).toEqual([['.', 'a', 1, 0.5]]);
    expect([...summaryIterator(file)]).toHaveLength(1);
  }
});

it('follows files that grow, and new ones', async () => {
  const folder = temporaryFolder('summary');
  const first = join(folder, 'tfevents.1');
  const half = scalar('a', 2);
  writeFileSync(first, Buffer.concat([scalar('a', 1, scalars), half.subarray(0, 9)]));
  const abort = new AbortController();
  const found: unknown[] = [];
  for await (const e of readEvents(folder, { follow: true, pollMillis: 5, signal: abort.signal })) {
    found.push(brief(e));
    if (found.length === 1) appendFileSync(first, half.subarray(9));
    if (found.length === 2) {
      mkdirSync(join(folder, 'run'));
      writeFileSync(join(folder, 'run/tfevents'), scalar('b', 3, scalars));
    }
    if (found.length === 3) abort.abort();
  }
  expect(found).toEqual([
    ['.', 'a', 1, 0.5],
    ['.', 'a', 2, 1],
    ['run', 'b', 3, 1.5],
  ]);
});

it('says what it cannot read', async () => {
  const folder = temporaryFolder('summary');
  expect(() => [...readEvents(join(folder, 'none'))]).toThrow(NotFoundError);
  expect(() => [...summaryIterator(join(folder, 'none'))]).toThrow(NotFoundError);
  const text = join(folder, 'text');
  writeFileSync(text, 'this is not an event file');
  expect(() => [...readEvents(text)]).toThrow(DataLossError);
  expect(() => [...readEvents(text)]).toThrow(/text is not an event file/);
  await expect(async () => {
    for await (const _ of readEvents(text));
  }).rejects.toThrow(DataLossError);
  expect(() => [...readEvents(text, { follow: true })]).toThrow(InvalidArgumentError);
  expect(() => readEvents(text, { pollMillis: -1 })).toThrow(InvalidArgumentError);
  const odd = encodeRecord(
    tensorflow.Event.encode({
      summary: {
        value: [{ tag: 'a', metadata: scalars, tensor: { dtype: 7, string_val: [new Uint8Array(1)] } }],
      },
    }),
  );
  writeFileSync(text, odd);
  expect(() => [...readEvents(text)]).toThrow("'a' of the plugin scalars is not a number");
});

it('a tensor that no array holds is null, and reading goes on', () => {
  const file = join(temporaryFolder('summary'), 'tfevents');
  const handle = { dtype: 20, tensor_shape: {} };
  const event = tensorflow.Event.encode({ summary: { value: [{ tag: 'c', tensor: handle }] } });
  writeFileSync(file, Buffer.concat([encodeRecord(event), scalar('a', 1, scalars)]));
  expect([...readEvents(file)].map((e) => e.kind)).toEqual(['tensor', 'scalar']);
  expect([...readEvents(file)][0]).toMatchObject({ value: null });
});

/** One to four faults in bytes: a bit, a byte, a cut, bytes that come twice. */
const faults = fc.array(
  fc.tuple(fc.nat(3), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.nat(255)),
  {
    minLength: 1,
    maxLength: 4,
  },
);
type Faults = typeof faults extends fc.Arbitrary<infer T> ? T : never;

function mutated(bytes: Uint8Array, list: Faults): Uint8Array {
  let out = Uint8Array.from(bytes);
  for (const [kind, place, byte] of list) {
    const at = Math.floor(place * out.length);
    if (kind === 0) out[at]! ^= 1 << (byte & 7);
    else if (kind === 1) out[at] = byte;
    else if (kind === 2) out = Uint8Array.of(...out.subarray(0, at), ...out.subarray(at + (byte & 31)));
    else out = Uint8Array.of(...out.subarray(0, at), ...out.subarray(at >> 1));
  }
  return out;
}

it('mutated records are events or a typed error, in bounded memory', () => {
  const records = ['v1', 'v2'].flatMap((name) => [...readRecords(golden(name))]);
  const outcome = { read: 0, refused: 0 };
  fc.assert(
    fc.property(fc.constantFrom(...records), faults, (record, list) => {
      try {
        for (const event of decodeEvent(mutated(record, list), '.', 'mutant', new Map()))
          expect(bytesIn(event)).toBeLessThanOrEqual(8 * 2 ** 20);
        outcome.read++;
      } catch (error) {
        if (!(error instanceof DataLossError)) throw error;
        outcome.refused++;
      }
    }),
    { numRuns: 10_000 },
  );
  expect(outcome.read).toBeGreaterThan(1000);
  expect(outcome.refused).toBeGreaterThan(1000);
});

it('mutated files are events up to the mistake, or a typed error', () => {
  const file = join(temporaryFolder('summary'), 'tfevents');
  let refused = 0;
  fc.assert(
    fc.property(fc.constantFrom('v1', 'v2'), faults, (name, list) => {
      writeFileSync(file, mutated(golden(name), list));
      try {
        for (const _ of readEvents(file));
      } catch (error) {
        if (!(error instanceof DataLossError)) throw error;
        refused++;
      }
    }),
    { numRuns: 400 },
  );
  expect(refused).toBeGreaterThan(100);
});

/** How much the arrays of an event hold. */
function bytesIn(event: SummaryEvent): number {
  if (event.kind === 'tensor')
    return event.value === null || event.value.dtype === 'string' ? 0 : event.value.data.byteLength;
  return event.kind === 'histogram' ? 24 * event.buckets.length : 0;
}

it('leaves out files and folders that are removed while others are read', async () => {
  const folder = join(temporaryFolder('summary'), 'removed');
  const one = tensorflow.Event.encode({ wall_time: 1, step: 1, file_version: 'brain.Event:2' });
  const write = (): void => {
    for (const name of ['a', 'b', 'c']) {
      mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(join(folder, name, 'events.out.tfevents.1'), encodeRecord(one));
    }
  };
  write();
  const runs: string[] = [];
  for (const { run } of readEvents(folder)) {
    runs.push(run);
    rmSync(join(folder, 'b'), { recursive: true, force: true });
  }
  expect(runs).toEqual(['a', 'c']);
  write();
  for await (const { run } of readEvents(folder)) {
    runs.push(run);
    rmSync(join(folder, 'b', 'events.out.tfevents.1'), { force: true });
  }
  expect(runs.slice(2)).toEqual(['a', 'c']);
  write();
  const abort = new AbortController();
  runs.length = 0;
  const following = readEvents(folder, { follow: true, pollMillis: 1, signal: abort.signal });
  for await (const { run } of following) {
    runs.push(run);
    rmSync(join(folder, 'b'), { recursive: true, force: true });
    if (run === 'c') {
      mkdirSync(join(folder, 'd'));
      writeFileSync(join(folder, 'd', 'events.out.tfevents.1'), encodeRecord(one));
    }
    if (run === 'd') abort.abort();
  }
  expect(runs).toEqual(['a', 'c', 'd']);
  const gone = readEvents(folder, { follow: true, pollMillis: 1 })[Symbol.asyncIterator]();
  for (let i = 0; i < 3; i++) await gone.next();
  rmSync(folder, { recursive: true });
  await expect(gone.next()).rejects.toThrow(NotFoundError);
});
