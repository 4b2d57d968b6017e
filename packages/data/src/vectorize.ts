import type { Graph } from '@eagre/graph';
import type { ElementSpec } from './elements/element-spec.ts';
import type { Element } from './elements/structure.ts';

/** A function of elements, on as many as are stacked. */
export type BlockFunction = (block: Element) => Element;

export function blockFunction(_graph: Graph, _args: ElementSpec, _result: ElementSpec): BlockFunction | null {
  return null;
}
