import { eachMapping, generatedPositionFor, originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { describe, expect, test } from 'vitest';
import { convert } from './convert.ts';
import { Lines } from './emit/code-fragments.ts';

const source = `import * as tf from 'eagre';
// ünïcödé before 👋
const before = tf.zeros([2]); // stays
export const f = tf.function((first: tf.Tensor, list: tf.Tensor[]) => {
  let total = tf.zeros([]);
  for (const item of list) {
    if (
      item.sum().greater(0) &&
      total < 100
    ) {
      total += inner(item,
        first.mul(2));
      continue;
    }
    const smaller = total
      .sub(item)
      .abs();
    total = smaller > 3 ? smaller - 1 : late(
      smaller,
    );
    if (total.isNan()) return total;
    print(total);
  }
  let count = 0;
  for (let i = 0; i < 10; i++) {
    if (i === 4) break;
    count++;
    this.seen.last += count;
  }
  while (!done(total)) { total = total / 2; }
  do { total *= 3; } while (total < 5);
  if (total > 7) { throw new RangeError('far'); }
  else if (count > 8) return -total;
  const { a, b = count ** 2 } = pair(), text = \`value \${total + count}\`;
  switch (count) { case 9: show(a, b, text); }
  return finish(total);
});
export const after = f(before, [])
`;

const { code, map } = convert(source, { filename: '/a/user.ts' });
const traced = new TraceMap(JSON.parse(JSON.stringify(map)));
const from = new Lines(source);
const to = new Lines(code);

const place = ({ line, column }: { line: number; column: number }) => ({ line: line + 1, column });
/** The places of the source that generated code at a place of a text stands for. */
const original = (offset: number) => {
  const { line, column } = originalPositionFor(traced, place(to.at(offset)));
  return { line, column };
};

/** Where a pattern is found in a text. */
const places = (text: string, pattern: RegExp): number[] =>
  [...text.matchAll(new RegExp(pattern, 'g'))].map((m) => m.index);

describe('positions in converted code', () => {
  const replaced = /^(if|else|for|while|do|of|const|break|continue)$/;
  const names = [...new Set(source.match(/\b[a-z]\w+\b/gi))].filter((word) => !replaced.test(word));

  test.each(names)('of the word %s are those of the source', (word) => {
    const here = new RegExp(`(?<![\\w.$'"\\/])${word}\\b(?!['"])|(?<=(?<!ag\\$)\\.)${word}\\b`);
    const expected = places(source, here).map((at) => place(from.at(at)));
    const shown = places(code, here).map(original);
    for (const position of expected) expect(shown).toContainEqual(position);
  });

  test.each([
    ['forOf(list', 'for (const item'],
    ['ifStmt(ag$.and(item', 'if (\n      item'],
    ['and(item.sum()', 'item.sum()'],
    ['lt(total, 100', 'total < 100'],
    ['add(total, inner', 'total += inner'],
    ['ifExp(ag$.gt(smaller', 'smaller > 3 ?'],
    ['gt(smaller, 3', 'smaller > 3 ?'],
    ['sub(smaller, 1', 'smaller - 1'],
    ['whileStmt(() => (ag$.lt(i', 'for (let i'],
    ['inc(i)', 'i++'],
    ['inc(count)', 'count++'],
    ['whileStmt(() => (ag$.not(done', 'while (!done'],
    ['not(done', '!done(total)'],
    ['doStmt(', 'do { total'],
    ['thrown(', 'throw new'],
    ['neg(total', '-total;'],
    ['pow(count', 'count ** 2'],
    ['add(total, count),', 'total + count}'],
    ['hostValue(count', 'switch (count)'],
    ['BREAK', 'break;'],
    ['CONTINUE', 'continue;'],
  ])('of the helper %s are those of what it stands for', (made, written) => {
    const found = places(code, new RegExp(made.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
    expect(found, made).not.toHaveLength(0);
    for (const at of found) expect(original(at)).toEqual(place(from.at(source.indexOf(written))));
  });

  test('lines of the source are found in converted code', () => {
    for (const statement of [
      'if (\n',
      'total += inner',
      'return total;',
      'count++',
      'print(',
      'return finish',
    ]) {
      const wanted = place(from.at(source.indexOf(statement)));
      const { line, column } = generatedPositionFor(traced, { source: '/a/user.ts', ...wanted });
      expect(line, statement).not.toBeNull();
      expect(originalPositionFor(traced, { line: line as number, column: column as number })).toMatchObject(
        wanted,
      );
    }
  });

  test('begin in each line of the source with its first word, which every copy has', () => {
    const firsts = new Map(source.split('\n').map((line, i) => [i + 1, line.search(/\S/)]));
    const seen = new Set<number>();
    eachMapping(traced, ({ originalLine, originalColumn }) => {
      if (originalLine === null) return;
      expect(originalColumn, `line ${originalLine}`).toBeGreaterThanOrEqual(
        firsts.get(originalLine) as number,
      );
      seen.add(originalLine);
    });
    expect(seen.size).toBeGreaterThan(30);
  });

  test('of the import of helpers are nowhere', () => {
    expect(original(code.indexOf('import * as ag$')).line).toBeNull();
  });

  test('of code that nothing was done to are the same', () => {
    for (const word of ['zeros([2])', 'f(before']) {
      expect(original(code.indexOf(word))).toEqual(place(from.at(source.indexOf(word))));
    }
  });

  test.each([
    ['lines that end in CR LF', source.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\uFEFF${source}`],
    ['tabs', source.replaceAll('  ', '\t')],
  ])('%s change nothing', (_, text) => {
    const done = convert(text, { filename: '/a/user.ts' });
    const map = new TraceMap(JSON.parse(JSON.stringify(done.map)));
    const [before, after] = [new Lines(text), new Lines(done.code)];
    for (const word of ['zeros([2])', 'forOf(', '.sub(item)', 'isNan', 'finish(', 'f(before']) {
      const made = word === 'forOf(' ? 'for (const' : word;
      expect(originalPositionFor(map, place(after.at(done.code.indexOf(word)))), word).toMatchObject(
        place(before.at(text.indexOf(made))),
      );
    }
  });
});
