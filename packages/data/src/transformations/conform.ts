// Elements that are held to a signature.
import { InvalidArgumentError } from '@eagre/backend';
import { commonSpec, conform, type ElementSpec, showSpec } from '../elements/element-spec.ts';
import {
  type Awaitable,
  after,
  type DatasetNode,
  type ElementIterator,
  END,
  type IterationContext,
  type Step,
} from '../pipeline/iterator.ts';
import { UnaryIterator, UnaryNode } from '../pipeline/node.ts';

/**
 * The dataset that a function has made, whose elements must fit its signature, if it has one.
 * @throws InvalidArgumentError when it is known that they do not; otherwise, iterating does.
 */
export function conformNode(node: DatasetNode, spec: ElementSpec | null, what: string): DatasetNode {
  if (spec === null) return node;
  if (node.spec === null) return new ConformNode(node, spec, what);
  const common = commonSpec(spec, node.spec);
  if (common === null)
    throw new InvalidArgumentError(
      `the function returned a dataset of ${showSpec(node.spec)}, but outputSignature is ${showSpec(spec)}`,
      what,
    );
  return showSpec(common) === showSpec(spec) ? node : new ConformNode(node, spec, what);
}

class ConformNode extends UnaryNode {
  readonly kind = 'Conform';
  readonly what: string;

  constructor(input: DatasetNode, spec: ElementSpec, what: string) {
    super(input, spec);
    this.what = what;
  }

  iterate(context: IterationContext): ElementIterator {
    return new ConformIterator(this.input.iterate(context), this);
  }
}

class ConformIterator extends UnaryIterator<ConformNode> {
  next(): Awaitable<Step> {
    return after(this.input.next(), this.#check);
  }
  readonly #check = (step: Step): Step =>
    step === END ? END : conform(step, this.node.spec as ElementSpec, this.node.what);
}
