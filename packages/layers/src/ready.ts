// What pages and hosts at the edge wait for: kernels of WebAssembly, which `backends.ts` opens elsewhere when core is imported.
// Not in core: what may load modules late keeps indexes of other packages in bundles that are not split.
import { preferredBackend } from '@eagre/backend';
import { openLater } from '@eagre/backend-wasm/later';
import type { NamedFunction, Variable } from '@eagre/core';
import { context, defineFunction } from '@eagre/core/internal';

let opening: Promise<unknown> | undefined;

/** Whether ops run on kernels in JavaScript since nothing better was opened, and nobody asked for them. */
const isWithout = (): boolean => context.backend === null && preferredBackend().name === 'js';

/**
 * Waits until the kernels are there that compute here. In a page, and at the edge, the first call fetches those of WebAssembly, unless the program has opened
 * them, or a GPU; where they cannot be had, the console says why, and those in JavaScript go on. Elsewhere kernels are there once the package is imported.
 *
 * Call it before you make tensors and models: what was made before is copied whenever it is used. `fit`, `evaluate` and `predict` call it, and move their model.
 *
 *     import * as tf from 'eagre';
 *     await tf.ready();
 */
export const ready: NamedFunction<[], [], unknown, Promise<void>> = /* @__PURE__ */ defineFunction(
  'tf.ready',
  {},
  {},
  open,
);

async function open(): Promise<void> {
  if (openLater === undefined || !isWithout()) return;
  opening ??= openLater().then(({ backend }) => {
    if (backend !== undefined && isWithout())
      console.warn(
        'tf.ready: kernels of WebAssembly were opened for another copy of @eagre/backend than the one of this program, so those in JavaScript go on: have your tools bundle all packages of Eagre, or none',
      );
  });
  await opening;
}

/** @internal As `ready`; variables of kernels in JavaScript are moved to those of WebAssembly. */
export async function readyFor(variables: () => Iterable<Variable>): Promise<void> {
  if (openLater === undefined || context.backend !== null) return;
  await open();
  const backend = preferredBackend();
  if (backend.name !== 'wasm') return;
  for (const variable of variables()) if (variable.backend.name === 'js') variable.moveTo(backend);
}
