import { readFileSync } from 'node:fs';
import { fuzz } from '@eagre/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

// Keras's JSON of models, wrong in a place or two: a typed error, or a model.

const ROUNDS = 120;

interface Case {
  readonly json: unknown;
}
const { models } = JSON.parse(readFileSync(new URL('../golden/models.json', import.meta.url), 'utf8')) as {
  readonly models: readonly Case[];
};

beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));
afterAll(() => vi.restoreAllMocks());

type Json = Record<string, unknown> | unknown[];
const odd: readonly unknown[] = [
  null,
  3,
  -1,
  0.5,
  'x',
  '',
  [],
  {},
  true,
  [null],
  ['x', 0, 0],
  { class_name: 'Dense' },
];

/** Changes one value somewhere inside. */
function change(json: Json, random: () => number): void {
  const places: (readonly [Json, string])[] = [];
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const key of Object.keys(value)) {
      places.push([value as Json, key]);
      look((value as Record<string, unknown>)[key]);
    }
  };
  look(json);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const [holder, key] = pick(places);
  if (random() < 0.3) {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
    return;
  }
  const [other, otherKey] = pick(places);
  const value = random() < 0.7 ? pick(odd) : (other as Record<string, unknown>)[otherKey];
  (holder as Record<string, unknown>)[key] = structuredClone(value);
}

test('mutated models', () => {
  const findings = fuzz(models, ROUNDS, ({ json }, random, found) => {
    const copy = structuredClone(json) as Json;
    for (let n = 0; n < 1 + Math.floor(random() * 2); n++) change(copy, random);
    const text = JSON.stringify(copy);
    try {
      const model = tf.keras.models.modelFromJSON(text);
      found.values++;
      expect(model).toBeInstanceOf(tf.keras.Model);
      model.toJSON();
    } catch (error) {
      found.isOwn(error, 'model', () => text.slice(0, 20));
    }
  });
  expect(findings.list('models')).toEqual([]);
  expect(findings.values).toBeGreaterThan(0);
});
