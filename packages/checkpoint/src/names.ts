// The names under which a checkpoint keeps values: `model/kernel/.ATTRIBUTES/VARIABLE_VALUE`.

const ATTRIBUTES = '/.ATTRIBUTES/';
/** What the path of an object begins with that lies too deep for a path of names. No escaped name is like it. */
export const DEEP = '.DEEP/';
const SLOT = '/.OPTIMIZER_SLOT/';

/** A name as one part of a key: dots are doubled, then slashes become `.S`. */
export function escapeName(name: string): string {
  return name.replaceAll('.', '..').replaceAll('/', '.S');
}

/** The path of an object, by the names on the way from the root. */
export function pathOf(names: readonly string[]): string {
  return names.map(escapeName).join('/');
}

/** The key of one value of the object at a path. */
export function attributeKey(path: string, attribute: string): string {
  return `${path}${ATTRIBUTES}${escapeName(attribute)}`;
}

/** The path of a slot: of an optimizer, for a variable. */
export function slotPath(variable: string, optimizer: string, slot: string): string {
  return `${variable}${SLOT}${optimizer}/${escapeName(slot)}`;
}

/** What {@link escapeName} made the part of a key from. */
export function unescapeName(part: string): string {
  return part.replace(/\.[.S]/g, (escape) => (escape === '..' ? '.' : '/'));
}

/** The path and the attribute in a key of {@link attributeKey}; undefined for other names. */
export function splitKey(key: string): { readonly path: string; readonly attribute: string } | undefined {
  const at = key.lastIndexOf(ATTRIBUTES);
  if (at < 0) return undefined;
  return { path: key.slice(0, at), attribute: unescapeName(key.slice(at + ATTRIBUTES.length)) };
}

/** The parts of a path of {@link slotPath}; undefined for those of other objects. */
export function splitSlotPath(
  path: string,
): { readonly variable: string; readonly optimizer: string; readonly slot: string } | undefined {
  const at = path.indexOf(SLOT);
  if (at < 0) return undefined;
  const end = path.lastIndexOf('/');
  const optimizer = path.slice(at + SLOT.length, Math.max(end, at + SLOT.length));
  return { variable: path.slice(0, at), optimizer, slot: unescapeName(path.slice(end + 1)) };
}
