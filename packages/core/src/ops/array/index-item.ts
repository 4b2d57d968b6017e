// What one item of an index says: a place, a range, all other axes, or a new axis.
import { InvalidArgumentError } from '@eagre/backend';
import { type Dim, isExpression } from '../../shapes/dim.ts';
import { show } from '../../shapes/shape.ts';

export type IndexRange = { readonly begin: Dim | null; readonly end: Dim | null; readonly step: number };
export type IndexItem = Dim | IndexRange | '...' | null;
export const isPlace = (item: IndexItem): item is Dim => typeof item === 'number' || isExpression(item);

/** As Python writes it. */
export const showRange = ({ begin, end, step }: IndexRange): string => `${begin ?? ''}:${end ?? ''}:${step}`;

const rangePattern = /^\s*([+-]?\d+)?\s*:\s*([+-]?\d+)?\s*(?::\s*([+-]?\d+)?\s*)?$/;

/** @throws InvalidArgumentError for what is no index. */
export function parseIndex(spec: Dim | string | null): IndexItem {
  if (isExpression(spec)) return spec;
  if (spec === null || spec === 'newaxis') return null;
  if (spec === '...') return spec;
  if (typeof spec !== 'number' && typeof spec !== 'string')
    throw new InvalidArgumentError(
      `${show(spec)} is not an index; expected a number, a string like '1:3', null or a tensor. For several indices write gather(x, [0, 2])`,
      'at',
    );
  if (typeof spec === 'number' || /^\s*[+-]?\d+\s*$/.test(spec)) {
    const index = Number(spec);
    if (!Number.isSafeInteger(index))
      throw new InvalidArgumentError(`the index ${spec} is not an integer`, 'at');
    return index;
  }
  const match = rangePattern.exec(spec);
  if (match === null) {
    throw new InvalidArgumentError(
      `'${spec}' is not a range; expected a form like '1:3', ':', '::-1', '...' or 'newaxis'`,
      'at',
    );
  }
  const number = (text: string | undefined): number | null => (text === undefined ? null : Number(text));
  return { begin: number(match[1]), end: number(match[2]), step: number(match[3]) ?? 1 };
}
