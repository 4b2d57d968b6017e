import { classOf, type Deserialize, defineDeserialize } from '@eagre/core/internal';
import type { Layer } from '../layer/layer.ts';
import { knowAllLayers } from './all-layers.ts';
import { deserializeLayer, type SerializedLayer, withCustomObjects } from './serialization.ts';

/** The layer that `serialize`, or Keras, wrote. `customObjects` are classes of your own by name. */
export const deserialize: Deserialize<SerializedLayer, Layer> = defineDeserialize(
  'layers.deserialize',
  (serialized, customObjects) => {
    knowAllLayers();
    classOf(serialized, customObjects, () => undefined, 'layers.deserialize');
    return withCustomObjects(customObjects, () => deserializeLayer(serialized));
  },
);
