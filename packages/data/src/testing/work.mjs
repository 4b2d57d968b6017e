/** For tests: what threads do. */
import { existsSync, writeFileSync } from 'node:fs';
import { threadId } from 'node:worker_threads';

export const double = ({ data, shape, dtype }) => ({ data: data.map((v) => v + v), shape, dtype });

export const pair = (x, { name }) => [{ x: x.data[0], thread: threadId }, `${name.data[0]}!`];

export const slowFirst = async ({ data }) => {
  await new Promise((resolve) => setTimeout(resolve, data[0] === 0n ? 100 : 1));
  return Number(data[0]);
};

export const refuse = ({ data }) => {
  if (data[0] === 1n) throw new RangeError('not one');
  return Number(data[0]);
};

export const exit = () => process.exit(3);

export const value = 1;

/** The first element waits for the fourth, which three calls at once get only after a result of another one. */
export const firstLater = async ({ data }, folder) => {
  const mark = `${folder.data[0]}/fourth`;
  if (data[0] === 3n) writeFileSync(mark, '');
  while (data[0] === 0n && !existsSync(mark)) await new Promise((resolve) => setTimeout(resolve, 5));
  return Number(data[0]);
};

/** Tells that it runs by a file for each element. */
export const note = ({ data }, folder) => {
  writeFileSync(`${folder.data[0]}/${data[0]}`, '');
  return Number(data[0]);
};
