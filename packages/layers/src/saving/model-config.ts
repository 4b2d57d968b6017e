// Models of configurations in files.
import { DataLossError, InvalidArgumentError } from '@eagre/core';
import type { Layer } from '../layer/layer.ts';
import { Model } from '../models/model.ts';
import { knowAllLayers } from './all-layers.ts';
import { HARD_SIGMOID, knowHardSigmoid } from './hard-sigmoid.ts';
import {
  deserializeLayer,
  type SerializedLayer,
  serializeLayer,
  withCustomObjects,
} from './serialization.ts';
import { readingObjects, sharingObjects } from './serialization-scope.ts';

/** How the model of a file is made. */
export interface ModelReading {
  /** The name of the file, for messages. */
  readonly file: string;
  readonly customObjects: Readonly<Record<string, unknown>> | null;
  readonly compile: boolean;
  readonly safeMode: boolean;
}

// Models in models nest a handful, each of them four levels deep.
const MOST_DEPTH = 400;
/** @throws DataLossError for a value that is nested so deep that reading it would overflow the stack */
export function checkDepth(value: unknown, what: string): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_DEPTH) throw new DataLossError(`${what} is nested more than ${MOST_DEPTH} levels deep`);
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
}

/** A model as a file holds it. */
export function serializedModel(model: Layer): SerializedLayer {
  return sharingObjects(() => serializeLayer(model));
}

/** @throws InvalidArgumentError for what is no model, and for classes that are not known */
export function modelOfConfig(
  config: Readonly<Record<string, unknown>>,
  { file, customObjects, compile, safeMode }: ModelReading,
): Model {
  knowAllLayers();
  if (JSON.stringify(config).includes(HARD_SIGMOID['config'] as string)) knowHardSigmoid();
  const { compile_config: _, ...uncompiled } = config;
  const model = readingObjects(safeMode, () =>
    withCustomObjects(customObjects, () => deserializeLayer(compile ? config : uncompiled)),
  );
  // `FeatureSpace.load` gives the latter its type.
  if (model instanceof Model || model.isSavedAlone) return model as Model;
  throw new InvalidArgumentError(`${file} is of no model, but of a ${model.constructor.name}`, 'loadModel');
}
