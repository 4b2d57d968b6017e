import { FailedPreconditionError } from '@eagre/backend';
import type { Graph, GraphNode, GraphValue } from '../ir/graph.ts';
import { nodeToString, showType, VariableLabels } from './graph-text.ts';

const colours: Readonly<Record<GraphNode['what']['kind'] | 'result' | 'assignment', string>> = {
  argument: '#cfe2f3',
  constant: '#e6e6e6',
  size: '#e6e6e6',
  variable: '#fff2cc',
  op: '#ffffff',
  host: '#ead1dc',
  update: '#f9cb9c',
  result: '#d9ead3',
  assignment: '#f9cb9c',
};

/** A name scope: what lies in `encoder/dense/`. */
interface Scope {
  readonly scopes: Map<string, Scope>;
  readonly statements: string[];
}

/**
 * A graph in Graphviz's language: `dot -Tsvg` draws it. Boxes are nodes, arrows values; colours tell arguments, constants, variables,
 * ops, updates and results apart, frames are name scopes, and tooltips hold the lines of `toString` and the shapes of values. What no
 * result needs is dashed.
 */
export function graphToDot(graph: Graph): string {
  const labels = new VariableLabels(graph);
  const live = new Set(graph.liveNodes());
  const ids = new Map(graph.nodes.map((node, i) => [node, `n${i}`]));
  const root: Scope = { scopes: new Map(), statements: [] };
  const edges: string[] = [];
  const connect = (value: GraphValue, to: string): void => {
    const many = value.node.outputs.length > 1;
    const attributes = {
      tooltip: `%${value.node.name}${many ? `:${value.index}` : ''}: ${showType(value)}`,
      ...(many ? { taillabel: String(value.index) } : {}),
    };
    edges.push(`${ids.get(value.node)} -> ${to} ${list(attributes)};`);
  };
  graph.nodes.forEach((node, i) => {
    // A variable stands in its own scope, not in one for the op that reads it.
    const path = (node.what.kind === 'variable' ? node.what.variable.path : node.name).split('/');
    const name = path.pop() as string;
    scopeAt(root, path).statements.push(
      `n${i} ${list({
        label: [name, ...node.outputs.map(showType)].join('\n'),
        tooltip: nodeToString(node, labels),
        fillcolor: colours[node.what.kind],
        ...(live.has(node) ? {} : { style: 'filled,rounded,dashed' }),
      })};`,
    );
    for (const input of node.inputs) connect(input, `n${i}`);
  });
  graph.outputs.forEach((value, i) => {
    root.statements.push(
      `out${i} ${list({ label: `result ${i}`, tooltip: showType(value), shape: 'ellipse', fillcolor: colours.result })};`,
    );
    connect(value, `out${i}`);
  });
  graph.assignments.forEach(({ variable, value }, i) => {
    const label = labels.of(variable);
    root.statements.push(
      `set${i} ${list({ label: `assign ${label}`, tooltip: showType(value), shape: 'ellipse', fillcolor: colours.assignment })};`,
    );
    connect(value, `set${i}`);
  });
  return [
    `digraph ${quote(graph.name)} {`,
    '  node [shape="box", style="filled,rounded", fontname="Helvetica", fontsize="10"];',
    '  edge [fontname="Helvetica", fontsize="8", arrowsize="0.6"];',
    ...write(root, '  ', { next: 0 }),
    ...edges.map((edge) => `  ${edge}`),
    '}',
    '',
  ].join('\n');
}

function scopeAt(root: Scope, path: readonly string[]): Scope {
  return path.reduce((scope, name) => {
    let inner = scope.scopes.get(name);
    if (inner === undefined) scope.scopes.set(name, (inner = { scopes: new Map(), statements: [] }));
    return inner;
  }, root);
}

function write(scope: Scope, indent: string, clusters: { next: number }): string[] {
  const lines = scope.statements.map((statement) => indent + statement);
  for (const [name, inner] of scope.scopes) {
    lines.push(
      `${indent}subgraph cluster_${clusters.next++} {`,
      `${indent}  graph ${list({ label: name, style: 'rounded', color: '#999999', fontname: 'Helvetica', fontsize: '10' })};`,
      ...write(inner, `${indent}  `, clusters),
      `${indent}}`,
    );
  }
  return lines;
}

function list(attributes: Readonly<Record<string, string>>): string {
  return `[${Object.entries(attributes)
    .map(([name, value]) => `${name}=${quote(value)}`)
    .join(', ')}]`;
}

function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/** The part of `@viz-js/viz`, which is Graphviz as WebAssembly, that is used. */
export interface GraphvizModule {
  instance(): Promise<{ renderString(dot: string, options: { readonly format: string }): string }>;
}

// Large, and few draw graphs: whoever does installs it. Bundlers may not look for it: programs that draw nothing do not have it.
const library = '@viz-js/viz';
const loadGraphviz = (): Promise<GraphvizModule> =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ library);

/**
 * A drawing of a graph as the text of an SVG file, made by `@viz-js/viz`.
 * @throws FailedPreconditionError if that package is not installed.
 */
export async function graphToSvg(
  graph: Graph,
  load: () => Promise<GraphvizModule> = loadGraphviz,
): Promise<string> {
  let graphviz: GraphvizModule;
  try {
    graphviz = await load();
  } catch (cause) {
    throw new FailedPreconditionError(
      "drawing needs the package @viz-js/viz, which could not be loaded: npm install @viz-js/viz (in a bundle: toSvg(() => import('@viz-js/viz'))), or pass the result of toDot() to Graphviz",
      'toSvg',
      { cause },
    );
  }
  return (await graphviz.instance()).renderString(graphToDot(graph), { format: 'svg' });
}
