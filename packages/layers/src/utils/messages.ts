import { defineFunction, type NamedFunction } from '@eagre/core/internal';

let enabled = true;

/** Lets progress bars and callbacks write to the console again, as they do at first. */
export const enableInteractiveLogging: NamedFunction<[], [], unknown, void> = /* @__PURE__ */ defineFunction(
  'keras.utils.enableInteractiveLogging',
  {},
  {},
  () => {
    enabled = true;
  },
);
/** Keeps what progress bars and callbacks say to themselves, for servers: `fit` is silent, whatever its `verbose`. Warnings stay. */
export const disableInteractiveLogging: NamedFunction<[], [], unknown, void> = /* @__PURE__ */ defineFunction(
  'keras.utils.disableInteractiveLogging',
  {},
  {},
  () => {
    enabled = false;
  },
);
/** Whether progress bars and callbacks write to the console. */
export const isInteractiveLoggingEnabled: NamedFunction<[], [], unknown, boolean> =
  /* @__PURE__ */ defineFunction('keras.utils.isInteractiveLoggingEnabled', {}, {}, () => enabled);

/** What the library says of a training. */
export function printMessage(text: string): void {
  if (enabled) console.log(text);
}
