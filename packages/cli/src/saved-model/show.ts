// What is in a SavedModel, in the words of TensorFlow's `saved_model_cli show`.
import { tensorflow } from '@eagre/formats';
import { quoted, reprOf, specText, typeName } from './python.ts';
import { metaGraphOf, readSavedModel, signatureOf, tagsOf } from './read.ts';

type MetaGraphDef = tensorflow.MetaGraphDef;
type StructuredValue = tensorflow.StructuredValue;

/** Which part is shown. */
export interface ShowOptions {
  readonly all?: boolean;
  readonly tagSet?: string;
  readonly signatureDef?: string;
  readonly listOps?: boolean;
}

/**
 * The text that `saved_model_cli show` prints. Ops are in order, and the traces of a function in that of the file.
 * @throws Error for a folder without a SavedModel, and for tags and signatures that it does not have.
 */
export function showSavedModel(dir: string, { all, tagSet, signatureDef, listOps }: ShowOptions): string {
  const model = readSavedModel(dir);
  if (all === true) return showAll(model);
  if (tagSet === undefined) {
    const sets = (model.meta_graphs ?? []).map((meta) => quoted([...tagsOf(meta)].sort().join(', ')));
    return [
      ...(listOps === true ? ['--list-ops must be paired with a tag-set or with --all.'] : []),
      'The given SavedModel contains the following tag-sets:',
      ...sets.sort(),
    ].join('\n');
  }
  const meta = metaGraphOf(model, tagSet);
  return [
    ...(listOps === true ? [opsText(meta)] : []),
    ...(signatureDef === undefined ? keysText(meta) : signatureText(signatureOf(meta, signatureDef), '')),
  ].join('\n');
}

function showAll({ meta_graphs = [] }: tensorflow.SavedModel): string {
  const sorted = [...meta_graphs].sort((a, b) => (tagsOf(a).join('\0') < tagsOf(b).join('\0') ? -1 : 1));
  const lines = sorted.flatMap((meta) => [
    '',
    `MetaGraphDef with tag-set: '${tagsOf(meta).join(', ')}' contains the following SignatureDefs:`,
    ...sortedEntries(meta.signature_def).flatMap(([key, signature]) => [
      '',
      `signature_def['${key}']:`,
      ...signatureText(signature, '  '),
    ]),
    opsText(meta),
  ]);
  const objects = meta_graphs.find((meta) => meta.object_graph_def !== undefined)?.object_graph_def;
  if (objects === undefined) return lines.join('\n');
  return [...lines, '', `Concrete Functions:${functionsText(objects)}`].join('\n');
}

const sortedEntries = <T>(map: ReadonlyMap<string, T> | undefined): [string, T][] =>
  [...(map ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));

function keysText({ signature_def }: MetaGraphDef): string[] {
  return [
    'The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:',
    ...sortedEntries(signature_def).map(([key]) => `SignatureDef key: "${key}"`),
  ];
}

function signatureText(
  { inputs, outputs, method_name = '' }: tensorflow.SignatureDef,
  indent: string,
): string[] {
  const tensors = (kind: string, map: typeof inputs): string[] =>
    sortedEntries(map).flatMap(([key, info]) => [
      `  ${kind}['${key}'] tensor_info:`,
      `      dtype: ${dataTypeName(info.dtype ?? 0)}`,
      `      shape: ${shapeText(info.tensor_shape ?? {})}`,
      `      name: ${info.name ?? ''}`,
    ]);
  return [
    'The given SavedModel SignatureDef contains the following input(s):',
    ...tensors('inputs', inputs),
    'The given SavedModel SignatureDef contains the following output(s):',
    ...tensors('outputs', outputs),
    `Method name is: ${method_name}`,
  ].map((line) => indent + line);
}

const dataTypeName = (dtype: number): string =>
  Object.entries(tensorflow.DataType).find(([, number]) => number === dtype)?.[0] ??
  (dtype === 0 ? 'DT_INVALID' : `DT_${dtype}`);

function shapeText({ dim = [], unknown_rank = false }: tensorflow.TensorShapeProto): string {
  return unknown_rank ? 'unknown_rank' : `(${dim.map(({ size = 0 }) => String(size)).join(', ')})`;
}

/** The ops of the graph, and of the functions that it calls. */
function opsText(meta: MetaGraphDef): string {
  const functions = new Map(
    (meta.graph_def?.library?.function ?? []).map((fn) => [fn.signature?.name ?? '', fn]),
  );
  const used = new Set<string>();
  const nodes = [...(meta.graph_def?.node ?? [])];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const called = /^(Stateful)?PartitionedCall$/.test(node.op ?? '')
      ? node.attr?.get('f')?.func?.name
      : undefined;
    for (const op of [node.op ?? '', called]) {
      if (op === undefined || used.has(op)) continue;
      used.add(op);
      nodes.push(...(functions.get(op)?.node_def ?? []));
    }
  }
  const ops = [...used].filter((op) => !functions.has(op)).sort();
  const tags = tagsOf(meta).map(quoted).join(', ');
  return `The MetaGraph with tag set [${tags}] contains the following ops: ${ops.length === 0 ? 'set()' : `{${ops.map(quoted).join(', ')}}`}`;
}

/** The functions of the root by name, with what each trace takes. */
function functionsText({ nodes = [], concrete_functions }: tensorflow.SavedObjectGraph): string {
  const children = [...(nodes[0]?.children ?? [])].sort((a, b) =>
    (a.local_name ?? '') < (b.local_name ?? '') ? -1 : 1,
  );
  const lines = children.flatMap(({ node_id = 0, local_name = '' }): string[] => {
    const node = nodes[Number(node_id)];
    const bare = node?.bare_concrete_function?.concrete_function_name;
    const traces = bare === undefined ? node?.function?.concrete_functions : [bare];
    if (traces === undefined && node?.function === undefined) return [];
    return [
      '',
      `  Function Name: '${local_name}'`,
      ...(traces ?? []).flatMap((name, i) =>
        traceText(concrete_functions?.get(name)?.canonicalized_input_signature, i + 1),
      ),
    ];
  });
  return lines.length === 0 ? '' : lines.join('\n');
}

function traceText(signature: StructuredValue | undefined, option: number): string[] {
  const [positional, named] = signature?.tuple_value?.values ?? [];
  const args = positional?.tuple_value?.values ?? [];
  const keywords = [...(named?.dict_value?.fields?.keys() ?? [])];
  return [
    ...(args.length === 0 ? [] : [`    Option #${option}`, '      Callable with:']),
    ...args.flatMap((arg, i) => [`        Argument #${i + 1}`, ...argumentText(arg)]),
    ...keywords.flatMap((key, i) => [`        Named Argument #${i + 1}`, `          ${key}`]),
  ];
}

function argumentText(value: StructuredValue): string[] {
  const { tensor_spec_value: spec, string_value: text } = value;
  if (spec !== undefined)
    return [
      `          ${spec.name === undefined || spec.name === '' ? 'None' : spec.name}: ${specText(spec)}`,
    ];
  if (text !== undefined) return [`          ${text}`];
  // A tuple is shown as a list, too.
  const items = value.tuple_value?.values;
  const shown = items === undefined ? value : { list_value: { values: items } };
  return [`          DType: ${typeName(value)}`, `          Value: ${reprOf(shown)}`];
}
