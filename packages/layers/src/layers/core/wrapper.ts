import type { PartialShape } from '@eagre/core';
import { argumentsOf, isPlain, type Option, type Schema, takesOptions } from '@eagre/core/internal';
import { type FromConfig, Layer, type LayerOptions } from '../../layer/layer.ts';
import { deserializeLayer, serializeLayer } from '../../saving/serialization.ts';
import { fail } from '../common.ts';
import { layerOptions } from '../weights.ts';

/** All arguments of `Wrapper`, by name. */
export interface WrapperArguments extends LayerOptions {
  /** The layer inside. */
  readonly layer: Layer;
}

/** Base of layers around a layer, which they build and save. To make your own, extend it and write `call`. */
export class Wrapper extends Layer {
  declare static readonly fromConfig: FromConfig<Wrapper>;
  /** The layer inside. */
  declare readonly layer: Layer;

  constructor(...args: [layer: Layer | WrapperArguments, options?: LayerOptions]) {
    super(argumentsOf<WrapperArguments>(Wrapper, new.target, args));
  }
  override build(inputShape: PartialShape | readonly PartialShape[]): void {
    this.layer.ensureBuilt(inputShape as PartialShape);
  }
}

const layer: Option<Layer> = {
  read: (given, _, of) => {
    const inner = isPlain(given) ? deserializeLayer(given) : given;
    if (!(inner instanceof Layer)) fail(of as Layer, 'needs a layer');
    return inner;
  },
  write: serializeLayer,
};
/** @internal What all wrappers take. */
export const wrapperOptions: Schema<WrapperArguments, Wrapper>['options'] = { layer, ...layerOptions };
takesOptions<WrapperArguments, Wrapper>({ positional: ['layer'], options: wrapperOptions }, Wrapper);
