/** Where the test part of `count` examples begins, rounded as Keras rounds. */
export function testBegin(count: number, testSplit: number = 0.2): number {
  return Math.trunc(count * (1 - testSplit));
}
