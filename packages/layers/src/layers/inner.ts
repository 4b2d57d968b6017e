import type { Layer } from '../layer.ts';
import type { Config } from './common.ts';

/** How a configuration holds a layer inside. */
interface Inner {
  readonly class: { fromConfig(config: Config): Layer };
  readonly config: Config;
}
/** @internal */
export function innerConfig(layer: Layer): Inner {
  return { class: layer.constructor as unknown as Inner['class'], config: layer.getConfig() };
}
/** @internal */
export function fromInner(inner: unknown): Layer {
  const { class: Class, config } = inner as Inner;
  return Class.fromConfig(config);
}
