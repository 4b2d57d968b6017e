/**
 * Where the test part of `count` examples begins, rounded as Keras rounds.
 *
 * @throws RangeError unless `testSplit` is at least 0 and below 1.
 */
export function testBegin(count: number, testSplit: number = 0.2): number {
  if (!(testSplit >= 0 && testSplit < 1))
    throw new RangeError(`testSplit: expected a part from 0 to 1 (without 1), got ${testSplit}`);
  return Math.trunc(count * (1 - testSplit));
}
