// The classes of layers by name, for what reads configurations of any: so it is apart from `fromConfig`, which is part of each program.
import { LayerScale, StochasticDepth } from '../applications/convnext.ts';
import { CustomScaleLayer } from '../applications/inception-resnet-v2.ts';
import { Distiller } from '../distillation/distiller.ts';
import * as layers from '../layers/classes.ts';
import { FeatureSpace, TFDIdentity } from '../layers/preprocessing/feature-space.ts';
import { knowAllOperations } from '../models/all-operations.ts';
import { Model } from '../models/model.ts';
import { Operation } from '../models/operations.ts';
import { Sequential } from '../models/sequential.ts';
import { registerLayerClasses } from './serialization.ts';

const exported = (): Record<string, unknown> => ({
  ...layers,
  Model,
  Functional: Model,
  Sequential,
  FeatureSpace,
  TFDIdentity,
  Operation,
  Distiller,
  CustomScaleLayer,
  LayerScale,
  StochasticDepth,
});

/** Makes all layers and ops known by name. */
export function knowAllLayers(): void {
  registerLayerClasses(exported);
  knowAllOperations();
}
// Bundlers leave this out with the rest of the file.
knowAllLayers();
