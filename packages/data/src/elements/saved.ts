// Elements in the states of iterators.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { Tensor } from '@eagre/core';
import type { State } from '../pipeline/iterator.ts';
import { fields, list } from '../pipeline/node.ts';
import { ElementsNode } from '../sources/elements.ts';
import { datasetOf, type Element, isDataset } from './structure.ts';

/** An element as part of a state. @throws UnimplementedError for datasets other than windows. */
export function saveElement(element: Element): State {
  if (element instanceof Tensor) return element;
  if (isDataset(element)) {
    const { node } = element;
    if (node instanceof ElementsNode) return { window: node.elements.map(saveElement) };
    throw new UnimplementedError(
      'an iterator cannot be saved while its buffers hold datasets returned by a function; save it at another point, or flatten before buffering',
      'Dataset',
    );
  }
  if (Array.isArray(element)) return (element as readonly Element[]).map(saveElement);
  return {
    fields: Object.fromEntries(Object.entries(element).map(([k, v]) => [k, saveElement(v as Element)])),
  };
}

/** What `saveElement` was given. @throws InvalidArgumentError for another state. */
export function loadElement(state: State | undefined): Element {
  if (state instanceof Tensor) return state;
  if (Array.isArray(state)) return state.map(loadElement);
  const { window, fields: entries } = fields(state);
  if (window !== undefined) return datasetOf(new ElementsNode(list(window).map(loadElement)));
  if (entries === undefined) throw new InvalidArgumentError('the saved state has no element', 'Dataset');
  return Object.fromEntries(Object.entries(fields(entries)).map(([k, v]) => [k, loadElement(v)]));
}
