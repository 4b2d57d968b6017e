import {
  FormatError,
  type Hdf5Dataset,
  type Hdf5Group,
  isHdf5Dataset,
  readFileBytes,
  readHdf5,
  readHdf5File,
  unzip,
} from '@eagre/formats';
import type { Contents, Item } from './contents.ts';

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
    items:
      weights === undefined
        ? []
        : await readHdf5(weights.bytes, (root) => [...itemsIn(root, '', path, 0)], { file: path }),
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
  return { path, format: 'hdf5', items: await readHdf5File(path, (root) => [...itemsIn(root, '', path, 0)]) };
}

/** The data sets in a group. @throws FormatError when it is damaged. */
function* itemsIn(group: Hdf5Group, path: string, file: string, depth: number): Iterable<Item> {
  // Groups of a damaged file may contain themselves.
  if (depth > MOST_GROUPS)
    throw new FormatError({
      format: 'HDF5',
      file,
      what: `groups in groups, more than ${MOST_GROUPS} of them`,
    });
  for (const [key, child] of group.children) {
    const name = path === '' ? key : `${path}/${key}`;
    if (isHdf5Dataset(child)) yield itemOf(name, child);
    else yield* itemsIn(child, name, file, depth + 1);
  }
}

function itemOf(name: string, { shape, type, elementBytes }: Hdf5Dataset): Item {
  const count = shape.reduce((all, size) => all * size, 1);
  // Texts have no size of their own.
  return { name, dtype: type, shape, bytes: type === 'text' ? 0 : count * elementBytes };
}
