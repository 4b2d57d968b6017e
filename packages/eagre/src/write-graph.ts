// `tf.io.writeGraph`: graphs in files.
import { withFileErrors } from '@eagre/backend';
import { InvalidArgumentError } from '@eagre/core';
import { checkPath, defineFunction, type NamedFunction, shown } from '@eagre/core/internal';
import { makeFolders, writeFileAtomicSync } from '@eagre/formats';
import { decodeGraphDef } from './decode-graph-def.ts';

const OP = 'io.writeGraph';

/** What can be written as a GraphDef: a graph, a function with one, or the bytes. */
export type WritableGraph =
  | Uint8Array
  | {
      /** Its definition, as bytes. */
      asGraphDef(): Uint8Array;
    }
  | {
      /** What is written. */
      readonly graph: { asGraphDef(): Uint8Array };
    };

function bytesOf(graph: WritableGraph): Uint8Array {
  if (graph instanceof Uint8Array) return graph;
  const found = graph as { asGraphDef?: () => Uint8Array; graph?: { asGraphDef?: () => Uint8Array } } | null;
  if (typeof found?.asGraphDef === 'function') return found.asGraphDef();
  if (typeof found?.graph?.asGraphDef === 'function') return found.graph.asGraphDef();
  throw new InvalidArgumentError(
    `graphOrGraphDef must be a graph, a concrete function, or the bytes of a GraphDef, got ${shown(graph)}`,
    OP,
  );
}

const PLAIN: Readonly<Record<number, string>> = {
  9: '\\t',
  10: '\\n',
  13: '\\r',
  34: '\\"',
  39: "\\'",
  92: '\\\\',
};
/** Bytes between quotes, as the text format of protocol buffers escapes them. */
function quoted(bytes: Uint8Array): string {
  let text = '';
  for (const b of bytes)
    text += PLAIN[b] ?? (b >= 32 && b < 127 ? String.fromCharCode(b) : `\\${b.toString(8).padStart(3, '0')}`);
  return `"${text}"`;
}
const encoder = /* @__PURE__ */ new TextEncoder();

function scalarText(value: unknown): string {
  if (typeof value === 'string') return quoted(encoder.encode(value));
  if (value instanceof Uint8Array) return quoted(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  return String(value);
}

/** The fields of a message in the text format of protocol buffers. */
function messageText(message: object, indent: string): string {
  return Object.entries(message)
    .map(([name, value]) => fieldText(name, value, indent))
    .join('');
}
function fieldText(name: string, value: unknown, indent: string): string {
  if (value === undefined || value === null) return '';
  if (value instanceof Map)
    return [...value].map(([key, item]) => fieldText(name, { key, value: item }, indent)).join('');
  if (Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof Uint8Array)))
    return Array.from(value as ArrayLike<unknown>, (item) => fieldText(name, item, indent)).join('');
  if (typeof value === 'object' && !(value instanceof Uint8Array))
    return `${indent}${name} {\n${messageText(value, `${indent}  `)}${indent}}\n`;
  return `${indent}${name}: ${scalarText(value)}\n`;
}

/**
 * Writes a graph as a GraphDef, whole or not at all, and the folders that it needs. Node only.
 * @param graphOrGraphDef a graph, a concrete function, or the bytes of a GraphDef
 * @param logdir the folder
 * @param name the file
 * @param asText as text (.pbtxt), which is the default, else as bytes (.pb)
 * @returns the path of the file
 * @throws InvalidArgumentError for what is no graph; NotFoundError, PermissionDeniedError and the like where there can be no such file
 */
export const writeGraph: NamedFunction<
  [graphOrGraphDef: WritableGraph, logdir: string, name: string, asText?: boolean],
  ['graphOrGraphDef', 'logdir', 'name', 'asText'],
  unknown,
  string
> = /* @__PURE__ */ defineFunction(
  OP,
  { graphOrGraphDef: { plain: true }, logdir: true, name: true, asText: true },
  {},
  (graphOrGraphDef, logdir, name, asText = true) => {
    checkPath(logdir, 'logdir', OP);
    checkPath(name, 'name', OP);
    if (typeof asText !== 'boolean')
      throw new InvalidArgumentError(`asText must be true or false, got ${shown(asText)}`, OP);
    const bytes = bytesOf(graphOrGraphDef);
    const path = `${logdir.replace(/\/+$/, '')}/${name}`;
    const graph = decodeGraphDef(bytes, 'graphOrGraphDef', OP);
    const content = asText ? encoder.encode(messageText(graph, '')) : bytes;
    withFileErrors(path, OP, () => {
      makeFolders(path.slice(0, path.lastIndexOf('/')) || '/');
      writeFileAtomicSync(path, content);
    });
    return path;
  },
);
