// `unique`: elements that have not come before.
import type { Tensor } from '@eagre/core';
import { tensorsOf } from '../elements/structure.ts';
import {
  AGAIN,
  type Awaitable,
  after,
  type ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { list, UnaryIterator, UnaryNode } from '../pipeline/node.ts';
import { UNKNOWN_CARDINALITY } from '../pipeline/options.ts';

/** Leaves out elements that came before. */
export class UniqueNode extends UnaryNode {
  readonly kind = 'Unique';

  override cardinality(): number {
    return this.input.cardinality() === 0 ? 0 : UNKNOWN_CARDINALITY;
  }

  iterate(context: IterationContext): ElementIterator {
    return new UniqueIterator(this.input.iterate(context), this);
  }
}

class UniqueIterator extends UnaryIterator {
  #seen = new Set<string>();

  next(): Awaitable<Step> {
    return until(this.#turn);
  }
  readonly #turn = (): Awaitable<Step | typeof AGAIN> => after(this.input.next(), this.#take);
  readonly #take = (step: Step): Step | typeof AGAIN => {
    if (step === END) return END;
    const key = tensorsOf(step, 'Dataset.unique').map(keyOf).join('|');
    if (this.#seen.has(key)) return AGAIN;
    this.#seen.add(key);
    return step;
  };

  protected override save(): State {
    return [...this.#seen];
  }
  protected override restore(state: State): void {
    this.#seen = new Set(list(state).map(String));
  }
}

function keyOf(t: Tensor): string {
  return t.dtype === 'string'
    ? JSON.stringify([t.shape, t.strings()])
    : `${t.dtype}[${t.shape}]${t.data().join(',')}`;
}
