import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { FormatError } from '../errors.ts';
import { mutate, randomSource } from '../testing/mutate.ts';
import {
  formatCheckpointState,
  parseCheckpointState,
  readCheckpointState,
  writeCheckpointState,
} from './checkpoint-state.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-state-'));
afterAll(() => rmSync(folder, { recursive: true }));
const parse = (text: string) => parseCheckpointState(new TextEncoder().encode(text), 'checkpoint');

describe('the state of checkpoints', () => {
  it("has TensorFlow's text", () => {
    const state = {
      model_checkpoint_path: 'ckpt-1',
      all_model_checkpoint_paths: ['ckpt-0', 'a "b"\\\n\'ü'],
      all_model_checkpoint_timestamps: [1795227391, 1795227391.5],
      last_preserved_timestamp: 0.1,
    };
    const text = formatCheckpointState(state);
    expect(text).toBe(
      'model_checkpoint_path: "ckpt-1"\n' +
        'all_model_checkpoint_paths: "ckpt-0"\n' +
        'all_model_checkpoint_paths: "a \\"b\\"\\\\\\n\\\'ü"\n' +
        'all_model_checkpoint_timestamps: 1795227391.0\n' +
        'all_model_checkpoint_timestamps: 1795227391.5\n' +
        'last_preserved_timestamp: 0.1\n',
    );
    expect(parse(text)).toEqual(state);
  });

  it('is read in every form that text has', () => {
    expect(
      parse(`
        # A comment.
        model_checkpoint_path: 'a' "b" # and another
        all_model_checkpoint_paths: ["x\\x41\\101", 'ü'],
        all_model_checkpoint_timestamps: [1, 2.5e3f, -inf];
        last_preserved_timestamp: .5
      `),
    ).toEqual({
      model_checkpoint_path: 'ab',
      all_model_checkpoint_paths: ['xAA', 'ü'],
      all_model_checkpoint_timestamps: [1, 2500, -Infinity],
      last_preserved_timestamp: 0.5,
    });
    expect(parse('')).toEqual({});
  });

  it.each([
    'other: "x"',
    'model_checkpoint_path: 5',
    'model_checkpoint_path: "a" model_checkpoint_path: "b"',
    'model_checkpoint_path: "a',
    'model_checkpoint_path: ["a"]',
    'model_checkpoint_path',
    'all_model_checkpoint_paths: ["a" "b"',
    'all_model_checkpoint_timestamps: "1"',
    'last_preserved_timestamp: 1e',
    'model_checkpoint_path: "\\q"',
    'model_checkpoint_path: "\\377"',
    '__proto__: "x"',
    '{}',
  ])('is refused where it makes no sense: %s', (text) => {
    expect(() => parse(text)).toThrow(FormatError);
    expect(() => parse(text)).toThrow(/^checkpoint: /);
  });

  it('is a file', () => {
    const path = join(folder, 'checkpoint');
    expect(readCheckpointState(path)).toBeUndefined();
    writeCheckpointState(path, { model_checkpoint_path: 'ckpt-2' });
    expect(readFileSync(path, 'utf8')).toBe('model_checkpoint_path: "ckpt-2"\n');
    expect(readCheckpointState(path)).toEqual({ model_checkpoint_path: 'ckpt-2' });
    writeFileSync(path, new Uint8Array(17 * 2 ** 20));
    expect(() => readCheckpointState(path)).toThrow('length');
  });

  it('comes out as it went in', () => {
    const paths = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 });
    const times = fc.array(fc.double(), { minLength: 1 });
    fc.assert(
      fc.property(paths, times, (all_model_checkpoint_paths, all_model_checkpoint_timestamps) => {
        const state = { all_model_checkpoint_paths, all_model_checkpoint_timestamps };
        expect(parse(formatCheckpointState(state))).toEqual(state);
      }),
    );
  });

  it('that is damaged, 10,000 times, gives a FormatError or a state', () => {
    const sample = new TextEncoder().encode(
      formatCheckpointState({
        model_checkpoint_path: 'ckpt-1',
        all_model_checkpoint_paths: ['ü', 'ckpt-1'],
        all_model_checkpoint_timestamps: [1.5, 2],
      }),
    );
    const random = randomSource(17);
    const result = { read: 0, refused: 0 };
    for (let run = 0; run < 10_000; run++) {
      const bytes = mutate(sample, random);
      try {
        expect(JSON.stringify(parseCheckpointState(bytes)).length).toBeLessThan(bytes.length * 6 + 100);
        result.read++;
      } catch (error) {
        if (!(error instanceof FormatError)) throw new Error(`run ${run}`, { cause: error });
        result.refused++;
      }
    }
    expect(result.read).toBeGreaterThan(100);
    expect(result.refused).toBeGreaterThan(5000);
  });
});
