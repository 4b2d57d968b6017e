import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { showSavedModel } from './show.ts';

const golden = (path: string): string =>
  fileURLToPath(new URL(`../../golden/saved-models/${path}`, import.meta.url));

const { shown } = JSON.parse(readFileSync(golden('shown.json'), 'utf8')) as {
  readonly shown: Readonly<Record<string, Readonly<Record<'all' | 'tags' | 'keys' | 'signature', string>>>>;
};

/** TensorFlow's text with its backspaces applied, and its sets in order. */
function settled(text: string): string {
  return text
    .replaceAll(', \b\b', '')
    .replace(/ops: \{(.*)\}/, (_, ops: string) => `ops: {${ops.split(', ').sort().join(', ')}}`)
    .trimEnd();
}

describe.each(Object.keys(shown))('%s, as TensorFlow shows it', (name) => {
  const text = shown[name] as (typeof shown)[string];
  const dir = golden(name);
  test('--all', () => expect(showSavedModel(dir, { all: true })).toBe(settled(text.all)));
  test('tags', () => expect(showSavedModel(dir, {})).toBe(settled(text.tags)));
  test('keys', () => expect(showSavedModel(dir, { tagSet: 'serve' })).toBe(settled(text.keys)));
  test('a signature', () =>
    expect(showSavedModel(dir, { tagSet: 'serve', signatureDef: 'serving_default' })).toBe(
      settled(text.signature),
    ));
});

test('what there is not', () => {
  const dir = golden('keras');
  expect(() => showSavedModel(dir, { tagSet: 'gpu' })).toThrow("no graph with the tags 'gpu', only 'serve'");
  expect(() => showSavedModel(dir, { tagSet: 'serve', signatureDef: 'none' })).toThrow(
    "no signature 'none', only",
  );
  expect(() => showSavedModel(golden('nothing'), {})).toThrow('there is no SavedModel in');
});
