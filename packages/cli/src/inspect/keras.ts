import { FormatError, readFileBytes, unzip } from '@eagre/formats';
import type { Dataset, Group } from 'jsfive';
import type { Contents, Item } from './contents.ts';
import { numpyDType } from './dtypes.ts';

// Keras nests a handful.
const MOST_GROUPS = 64;

/** A model as Keras saves it: a ZIP file of its configuration and weights. */
export async function inspectKeras(path: string): Promise<Contents> {
  const members = unzip(await readFileBytes(path), { file: path });
  const json = (name: string): unknown => {
    const bytes = members.find((member) => member.name === name)?.bytes;
    return bytes === undefined ? undefined : JSON.parse(new TextDecoder().decode(bytes));
  };
  const config = json('config.json') as {
    readonly class_name?: string;
    readonly config?: { readonly name?: string };
  };
  const metadata = json('metadata.json') as { readonly keras_version?: string; readonly date_saved?: string };
  const weights = members.find((member) => member.name === 'model.weights.h5');
  return {
    path,
    format: 'keras',
    items: weights === undefined ? [] : await itemsIn(weights.bytes, path),
    about: {
      class: config?.class_name,
      name: config?.config?.name,
      keras: metadata?.keras_version,
      saved: metadata?.date_saved,
    },
  };
}

/** The weights of a Keras model, or any other HDF5 file. */
export async function inspectHdf5(path: string): Promise<Contents> {
  return { path, format: 'hdf5', items: await itemsIn(await readFileBytes(path), path) };
}

/** The data sets in an HDF5 file. @throws FormatError when it is damaged. */
async function itemsIn(bytes: Uint8Array, path: string): Promise<Item[]> {
  const { File } = await import('jsfive');
  try {
    const file = new File(bytes.slice().buffer, path);
    return await below(file, '');
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : String(cause);
    throw new FormatError({ format: 'HDF5', file: path, what, cause });
  }
}

async function below(group: Group, path: string, depth = 0): Promise<Item[]> {
  const { Dataset } = await import('jsfive');
  // Groups of a damaged file may contain themselves.
  if (depth > MOST_GROUPS) throw new Error(`groups in groups, more than ${MOST_GROUPS} of them`);
  const items: Item[] = [];
  for (const key of group.keys) {
    const name = path === '' ? key : `${path}/${key}`;
    const entity = group.get(key);
    if (entity instanceof Dataset) items.push(itemOf(name, entity));
    else items.push(...(await below(entity, name, depth + 1)));
  }
  return items;
}

function itemOf(name: string, set: Dataset): Item {
  const { shape } = set;
  const count = shape.reduce((all, size) => all * size, 1);
  const { dtype, bytes } = dtypeOf(set);
  return { name, dtype, shape, bytes: count * bytes };
}

/** Of a kind that the reader of HDF5 does not know, such as records of fields, nothing more is said. */
function dtypeOf(set: Dataset): { readonly dtype: string; readonly bytes: number } {
  let dtype: Dataset['dtype'];
  try {
    dtype = set.dtype;
  } catch {
    return { dtype: 'other', bytes: 0 };
  }
  if (typeof dtype === 'string') return numpyDType(dtype);
  return { dtype: dtype[0] === 'VLEN_STRING' ? 'text' : String(dtype[0]).toLowerCase(), bytes: 0 };
}
