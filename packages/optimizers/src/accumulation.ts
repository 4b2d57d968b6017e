// Gradients of several steps, for one update.
import { type Variable, where, zerosLike } from '@eagre/core';
import type { Update } from './gradients.ts';
import type { Flag } from './scalars.ts';

/** One step of them. */
export interface Accumulation {
  /** How many steps make an update. */
  readonly steps: number;
  /** Whether this is the last one of them. */
  readonly isLast: Flag;
  /** The sums so far, by variable. */
  readonly sums: ReadonlyMap<Variable, Variable>;
  /** Whatever an update writes to. */
  readonly written: readonly Variable[];
}

/**
 * Adds the gradients to the sums; in the last step it runs the update with their means, and starts anew. A graph holds the update of every
 * step, and keeps what it writes in the last one.
 */
export function accumulate(
  { steps, isLast, sums, written }: Accumulation,
  updates: readonly Update[],
  update: (means: readonly Update[]) => void,
): void {
  const added = updates.map(({ gradient, variable }) => ({
    variable,
    gradient: gradient.add(sums.get(variable) as Variable),
  }));
  const means = (): Update[] =>
    added.map(({ gradient, variable }) => ({ gradient: gradient.div(steps), variable }));
  if (isLast === false) {
    for (const { gradient, variable } of added) sums.get(variable)?.assign(gradient);
    return;
  }
  if (isLast === true) {
    update(means());
    for (const sum of sums.values()) sum.assign(zerosLike(sum));
    return;
  }
  const before = written.map((variable) => variable.read());
  update(means());
  written.forEach((variable, i) => {
    variable.assign(where(isLast, variable, before[i]));
  });
  const news = new Map(added.map(({ gradient, variable }) => [variable, gradient]));
  for (const [variable, sum] of sums) sum.assign(where(isLast, zerosLike(sum), news.get(variable) ?? sum));
}
