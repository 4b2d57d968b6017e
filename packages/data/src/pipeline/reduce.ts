// `reduce`: one value from all elements.
import { InvalidArgumentError } from '@eagre/backend';
import { isRefusedPromise } from '@eagre/core/internal';
import { checkState, type ElementSpec, specOf } from '../elements/element-spec.ts';
import { type Element, toElement } from '../elements/structure.ts';
import { ElementFunction, type FunctionCallOptions } from './element-function.ts';

type Elements = { readonly elementSpec: ElementSpec | null };
type ReduceFn = (...args: never[]) => unknown;
const what = 'Dataset.reduce';

function begun(
  { elementSpec }: Elements,
  initialState: unknown,
  fn: ReduceFn,
  options: FunctionCallOptions,
): [state: Element, call: ElementFunction, checked: (state: Element) => Element] {
  const initial = toElement(initialState, what);
  const spec = specOf(initial);
  const checked = (state: Element): Element => {
    checkState(specOf(state), spec, what);
    return state;
  };
  return [initial, new ElementFunction(fn, [spec, elementSpec], options, what), checked];
}

/** The last state of `fn(state, element)`. @throws InvalidArgumentError for an asynchronous function. */
export function reduceElements(
  dataset: Elements & Iterable<unknown>,
  initialState: unknown,
  fn: ReduceFn,
  options: FunctionCallOptions,
): Element {
  let [state, call, checked] = begun(dataset, initialState, fn, options);
  for (const element of dataset) {
    const next = call.call([state, element as Element]);
    if (isRefusedPromise(next)) throw new InvalidArgumentError('an async function needs reduceAsync', what);
    state = checked(next);
  }
  return state;
}

/** The same where something has to be waited for. */
export async function reduceElementsLater(
  dataset: Elements & AsyncIterable<unknown>,
  initialState: unknown,
  fn: ReduceFn,
  options: FunctionCallOptions,
): Promise<Element> {
  let [state, call, checked] = begun(dataset, initialState, fn, options);
  for await (const element of dataset) state = checked(await call.call([state, element as Element]));
  return state;
}
