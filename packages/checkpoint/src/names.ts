// The names under which a checkpoint keeps values: `model/kernel/.ATTRIBUTES/VARIABLE_VALUE`.

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
  return `${path}/.ATTRIBUTES/${escapeName(attribute)}`;
}

/** The path of a slot: of an optimizer, for a variable. */
export function slotPath(variable: string, optimizer: string, slot: string): string {
  return `${variable}/.OPTIMIZER_SLOT/${optimizer}/${escapeName(slot)}`;
}
