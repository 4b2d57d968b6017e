import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FormatError, tensorflow } from '@eagre/formats';
import { readRegularSync } from '@eagre/formats/internal';

/** What `saved_model.pb` of a folder holds. @throws Error where there is none; FormatError for one that is damaged. */
export function readSavedModel(dir: string): tensorflow.SavedModel {
  const path = join(dir, 'saved_model.pb');
  if (!existsSync(path)) throw new Error(`there is no SavedModel in ${dir}: it has no file saved_model.pb`);
  const model = tensorflow.SavedModel.decode(readRegularSync(path, 'SavedModel'), { file: path });
  if ((model.meta_graphs ?? []).length === 0)
    throw new FormatError({ format: 'SavedModel', file: path, what: 'no graph', got: 'an empty model' });
  return model;
}

/** The graph of a SavedModel with these tags, `serve` or `serve,gpu`. */
export function metaGraphOf(model: tensorflow.SavedModel, tagSet: string): tensorflow.MetaGraphDef {
  const wanted = keyOf(tagSet.split(',').map((tag) => tag.trim()));
  const found = model.meta_graphs?.find((meta) => keyOf(tagsOf(meta)) === wanted);
  if (found !== undefined) return found;
  const all = (model.meta_graphs ?? []).map((meta) => `'${tagsOf(meta).join(', ')}'`);
  throw new Error(`there is no graph with the tags '${tagSet}', only ${all.join(' and ') || 'none'}`);
}

export function tagsOf(meta: tensorflow.MetaGraphDef): readonly string[] {
  return meta.meta_info_def?.tags ?? [];
}
const keyOf = (tags: readonly string[]): string => [...tags].sort().join('\0');

/** A signature by its key. */
export function signatureOf(meta: tensorflow.MetaGraphDef, key: string): tensorflow.SignatureDef {
  const found = meta.signature_def?.get(key);
  if (found !== undefined) return found;
  const all = [...(meta.signature_def?.keys() ?? [])].map((k) => `'${k}'`);
  throw new Error(`there is no signature '${key}', only ${all.join(' and ') || 'none'}`);
}
