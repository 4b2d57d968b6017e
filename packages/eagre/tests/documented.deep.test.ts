// Editors and the reference say what public symbols are, and what every option means where it is written.
import { expect, test } from 'vitest';
import { type Documented, Editor } from './testing/declared.ts';

// Those of messages and of other packages' machinery, mostly, whose names say it. Lower it where texts are added.
const silentMembers = 1091;

const editor = new Editor();
const silent = (list: readonly Documented[]): string[] =>
  list.filter(({ text }) => !/\p{L}/u.test(text)).map(({ path, at }) => `${at} ${path}`);

test('every option of every call says what it means', () => {
  const options = editor.options();
  expect(options.length).toBeGreaterThan(2000);
  expect(silent(options)).toEqual([]);
});

test('every class, function, type and value says what it is, and no more members than before do not', () => {
  const symbols = editor.symbols();
  expect(symbols.length).toBeGreaterThan(9000);
  expect(silent(symbols.filter(({ kind }) => kind !== 'member'))).toEqual([]);
  const members = silent(symbols.filter(({ kind }) => kind === 'member'));
  expect(members.length, members.join('\n')).toBeLessThanOrEqual(silentMembers);
});

test('editors show these texts where the options of constructors are written', () => {
  const offered = editor.offered();
  expect(offered.length).toBeGreaterThan(5000);
  expect(silent(offered)).toEqual([]);
  expect(editor.shown('new tf.layers.Dense(3, { ', 'useBias')).toMatch(/^Whether a bias is added/);
  expect(editor.shown('new tf.keras.optimizers.Adam({ ', 'learningRate')).toMatch(/^How far a step goes/);
});
