// Graphs of ONNX, checked and ready to run.
import { type DType, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { Tensor } from '@eagre/core';
import type { onnx } from '@eagre/formats';
import { dtypeOf, tensorOf } from '../tensors.ts';
import { Attributes } from './attributes.ts';
import { atNode, type Body, NodeCall, type OnnxOp, Results, type Value } from './node.ts';
import { findOp } from './ops.ts';
import { LEAST_RANKS } from './ranks.ts';

/** What all graphs of a model share. */
export interface ModelContext {
  readonly functions: ReadonlyMap<string, onnx.FunctionProto>;
  /** The bytes of tensors in other files. */
  readonly external: (proto: onnx.TensorProto) => Uint8Array | undefined;
  /** How many nodes there are by now, with those of functions as often as they are called. */
  readonly count: { nodes: number };
  /** What has to be imported before the model runs. */
  readonly prepare: Set<() => Promise<void>>;
}

// Functions that call each other could be more than any memory holds.
const MOST_NODES = 200_000;
const DEEPEST_CALLS = 100;

type Opsets = ReadonlyMap<string, number>;

interface Step {
  readonly where: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly run: (inputs: readonly Value[], scope: Scope) => readonly Value[];
}

// What they give depends on sizes alone.
const SIZES: ReadonlySet<string> = new Set(['Shape', 'Size']);

const LOOPS: ReadonlySet<string> = new Set(['Loop', 'Scan']);

/** The values that names stand for while a graph runs. */
export class Scope {
  readonly #values: Map<string, Value>;
  readonly #outer: Scope | null;

  constructor(values: Iterable<readonly [string, Value]>, outer: Scope | null) {
    this.#values = new Map(values);
    this.#outer = outer;
  }
  get(name: string): Value | undefined {
    return this.#values.has(name) ? this.#values.get(name) : this.#outer?.get(name);
  }
  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }
  delete(name: string): void {
    this.#values.delete(name);
  }
}

/** What is wrong with a model. */
export const invalid = (why: string): InvalidArgumentError =>
  new InvalidArgumentError(`the ONNX model is not valid: ${why}`, 'tf.onnx.load');

/** The versions of the sets of ops that a model or a function uses. */
export function opsetsOf(list: readonly onnx.OperatorSetIdProto[] | undefined): Opsets {
  const opsets = new Map((list ?? []).map(({ domain, version }) => [domainOf(domain), Number(version ?? 0)]));
  const main = opsets.get('');
  if (main !== undefined && (main < OLDEST_OPSET || main > NEWEST_OPSET))
    throw new UnimplementedError(
      `the ONNX model uses opset ${main}, but ${OLDEST_OPSET} to ${NEWEST_OPSET} are read: convert it with onnx.version_converter`,
      'tf.onnx.load',
    );
  return opsets;
}
export const OLDEST_OPSET = 7;
export const NEWEST_OPSET = 28;

const domainOf = (domain: string | undefined): string => (domain === 'ai.onnx' ? '' : (domain ?? ''));
export const functionKey = (domain: string | undefined, name = '', overload = ''): string =>
  `${domainOf(domain)}::${name}::${overload}`;

/** A graph whose nodes have ops. Names that it does not define are those of the graph around it. */
export class Program {
  readonly name: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** The dtypes of the outputs, null where the graph does not say. */
  readonly outputTypes: readonly (DType | null)[];
  /** Initializers, by name. */
  readonly constants: ReadonlyMap<string, Tensor>;
  /** Whether a node needs values of the run, or has strings. */
  readonly eager: boolean;
  /** Whether a branch is chosen by a value, here or in a graph inside: the branches need not be alike. */
  readonly branches: boolean;
  /** The initializers that nodes read as numbers, here or in a graph inside. */
  readonly hosted: ReadonlySet<string>;
  readonly #steps: readonly Step[];
  /** After which step a value is needed no more. */
  readonly #last: ReadonlyMap<number, readonly string[]>;

  constructor(compiler: Compiler) {
    this.name = compiler.name;
    this.inputs = compiler.inputs;
    this.outputs = compiler.outputs;
    this.outputTypes = compiler.outputTypes;
    this.constants = compiler.constants;
    this.#steps = compiler.steps;
    this.eager = compiler.eager || [...this.constants.values()].some((t) => t.dtype === 'string');
    this.branches = compiler.branches;
    this.hosted = compiler.hosted;
    this.#last = lastUses(compiler.steps, compiler.captured, new Set(this.outputs));
  }

  run(
    inputs: readonly Value[],
    values: Iterable<readonly [string, Value]>,
    outer: Scope | null,
  ): readonly Value[] {
    const scope = new Scope(values, outer);
    this.inputs.forEach((name, i) => {
      if (inputs[i] !== undefined) scope.set(name, inputs[i]);
    });
    this.#steps.forEach((step, at) => {
      const given = step.inputs.map((name) => (name === '' ? null : (scope.get(name) ?? null)));
      let results: readonly Value[];
      try {
        results = step.run(given, scope);
      } catch (error) {
        throw atNode(error, step.where);
      }
      step.outputs.forEach((name, i) => {
        if (name === '') return;
        const value = results[i];
        if (value === undefined)
          throw new UnimplementedError(
            `${step.where}: output ${i} ('${name}') is not computed`,
            'tf.onnx.load',
          );
        scope.set(name, value);
      });
      for (const name of this.#last.get(at) ?? []) scope.delete(name);
    });
    return this.outputs.map((name) => {
      const value = scope.get(name);
      if (value === undefined)
        throw invalid(`nothing gives the output '${name}' of the graph '${this.name}'`);
      return value;
    });
  }
}

function checkRanks(given: readonly Value[], least: readonly number[], where: string): void {
  least.forEach((rank, i) => {
    const x = given[i];
    if (x instanceof Tensor && x.rank < rank)
      throw new InvalidArgumentError(
        `${where}: input ${i} has rank ${x.rank}, expected at least ${rank}`,
        'tf.onnx.load',
      );
  });
}

function lastUses(
  steps: readonly Step[],
  captured: ReadonlySet<string>,
  outputs: ReadonlySet<string>,
): Map<number, string[]> {
  const last = new Map<string, number>();
  steps.forEach(({ inputs, outputs: made }, i) => {
    for (const name of [...made, ...inputs]) if (name !== '') last.set(name, i);
  });
  const made = new Set(steps.flatMap((s) => s.outputs));
  const at = new Map<number, string[]>();
  for (const [name, i] of last)
    if (made.has(name) && !outputs.has(name) && !captured.has(name)) at.set(i, [...(at.get(i) ?? []), name]);
  return at;
}

interface GraphParts {
  readonly name: string;
  readonly nodes: readonly onnx.NodeProto[];
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly outputTypes: readonly (DType | null)[];
  readonly constants: ReadonlyMap<string, Tensor>;
}

/** Checks a graph and finds the op of each node. */
export class Compiler {
  readonly name: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly outputTypes: readonly (DType | null)[];
  readonly constants: ReadonlyMap<string, Tensor>;
  readonly steps: Step[] = [];
  readonly hosted: Set<string> = new Set();
  /** The values that are the same in every run, or follow from sizes. */
  readonly fixed: Set<string>;
  /** The values that graphs inside use. */
  readonly captured: Set<string> = new Set();
  eager = false;
  branches = false;
  readonly #context: ModelContext;
  readonly #opsets: Opsets;
  /** The names that nodes may use: those of graphs around it too. */
  readonly #known: Set<string>;
  readonly #calls: readonly string[];

  constructor(
    graph: GraphParts,
    context: ModelContext,
    opsets: Opsets,
    known: Iterable<string>,
    fixed: Iterable<string>,
    calls: readonly string[],
  ) {
    this.name = graph.name;
    this.inputs = graph.inputs;
    this.outputs = graph.outputs;
    this.outputTypes = graph.outputTypes;
    this.constants = graph.constants;
    this.#context = context;
    this.#opsets = opsets;
    this.#known = new Set(known);
    this.fixed = new Set(
      [...fixed, ...graph.constants.keys()].filter((name) => !graph.inputs.includes(name)),
    );
    this.#calls = calls;
    const own = new Set<string>();
    const define = (name: string, what: string): void => {
      if (own.has(name)) throw invalid(`${what} '${name}' of the graph '${this.name}' is there twice`);
      own.add(name);
      this.#known.add(name);
    };
    for (const name of graph.inputs) define(name, 'the input');
    // An initializer of the name of an input is its default.
    for (const name of graph.constants.keys()) if (!own.has(name)) define(name, 'the initializer');
    graph.nodes.forEach((node, i) => {
      this.steps.push(this.#step(node, i));
      for (const name of node.output ?? []) if (name !== '') define(name, 'the value');
    });
    for (const name of graph.outputs)
      if (!this.#known.has(name))
        throw invalid(`nothing gives the output '${name}' of the graph '${this.name}'`);
  }

  #step(node: onnx.NodeProto, place: number): Step {
    const { op_type: type = '', output: outputs = [] } = node;
    if (++this.#context.count.nodes > MOST_NODES)
      throw invalid(`with the bodies of its functions it has more than ${MOST_NODES} nodes`);
    // What is missing at the end is left out.
    const inputs = [...(node.input ?? [])];
    const domain = domainOf(node.domain);
    const label =
      node.name === undefined || node.name === '' ? `number ${place} of '${this.name}'` : `'${node.name}'`;
    const where = `${domain === '' ? '' : `${domain}.`}${type} ${label}`;
    for (const name of inputs)
      if (name !== '' && !this.#known.has(name))
        throw invalid(`${where} uses '${name}', which no input, initializer or node before it gives`);
    const key = functionKey(domain, type, node.overload);
    const called = this.#context.functions.get(key);
    if (called !== undefined) return this.#call(called, key, node, where);
    const opset = this.#opsets.get(domain);
    if (opset === undefined) throw invalid(`${where} is of a domain that opset_import does not name`);
    const op = findOp(domain, type);
    if (op === undefined)
      throw new UnimplementedError(
        `the op of ${where} (opset ${opset}${domain === '' ? '' : ` of ${domain}`}) is not translated; docs/onnx.md lists those that are`,
        'tf.onnx.load',
      );
    return this.#opStep(op, node, { where, opset, inputs, outputs });
  }

  #opStep(
    op: OnnxOp,
    node: onnx.NodeProto,
    step: { where: string; opset: number; inputs: readonly string[]; outputs: readonly string[] },
  ): Step {
    const { where, opset, inputs, outputs } = step;
    const attributes = node.attribute ?? [];
    const attrs = new Attributes(where, attributes);
    const ranks = LEAST_RANKS[node.op_type ?? ''] ?? [];
    const bodies = attributes.flatMap(({ name = '', g }) =>
      g === undefined ? [] : [[name, this.#body(g)] as const],
    );
    if (op.prepare !== undefined) this.#context.prepare.add(op.prepare);
    if (typeof op.eager === 'function' ? op.eager(attrs) : op.eager === true) this.eager = true;
    for (const i of [...(op.hosts ?? []), ...(op.constants ?? [])]) {
      const name = inputs[i] ?? '';
      if (name === '') continue;
      this.hosted.add(name);
      if (op.hosts?.includes(i) === true && !this.fixed.has(name)) this.eager = true;
    }
    if (node.op_type === 'If') this.branches = true;
    // What loops collect is of a type that their bodies name.
    if (LOOPS.has(node.op_type ?? '') && bodies.some(([, b]) => b.outputTypes.includes(null)))
      this.eager = true;
    const isFixed =
      SIZES.has(node.op_type ?? '') ||
      (bodies.length === 0 && inputs.every((name) => name === '' || this.fixed.has(name)));
    if (isFixed) for (const name of outputs) this.fixed.add(name);
    return {
      where,
      inputs,
      outputs,
      run: (given, scope) => {
        const inside = new Map<string, Body>(
          bodies.map(([name, program]) => [
            name,
            {
              run: (args) => program.run(args, program.constants, scope),
              outputTypes: program.outputTypes,
            },
          ]),
        );
        checkRanks(given, ranks, where);
        const result = op.run(new NodeCall(where, opset, attrs, given, outputs, inside));
        if (result instanceof Results) return result.list;
        return result === null || result instanceof Tensor ? [result] : result;
      },
    };
  }

  #body(graph: onnx.GraphProto): Program {
    const parts = partsOf(graph, this.#context);
    const compiler = new Compiler(parts, this.#context, this.#opsets, this.#known, this.fixed, this.#calls);
    for (const name of [...compiler.captured, ...namesIn(graph)]) this.captured.add(name);
    for (const name of compiler.hosted) this.hosted.add(name);
    this.eager ||= compiler.eager;
    this.branches ||= compiler.branches;
    return new Program(compiler);
  }

  /** A call of a function of the model, whose nodes run in its place. */
  #call(fn: onnx.FunctionProto, key: string, node: onnx.NodeProto, where: string): Step {
    if (this.#calls.includes(key)) throw invalid(`the function ${fn.name} calls itself`);
    if (this.#calls.length >= DEEPEST_CALLS)
      throw invalid(`functions call each other more than ${DEEPEST_CALLS} levels deep`);
    const { input = [], output = [] } = fn;
    const attributes = new Map((node.attribute ?? []).map((a) => [a.name, a]));
    for (const fallback of fn.attribute_proto ?? [])
      if (!attributes.has(fallback.name)) attributes.set(fallback.name, fallback);
    const parts: GraphParts = {
      name: fn.name ?? '',
      nodes: (fn.node ?? []).map((n) => bound(n, attributes)),
      inputs: input,
      outputs: output,
      outputTypes: output.map(() => null),
      constants: new Map(),
    };
    const own = opsetsOf(fn.opset_import);
    const opsets = new Map([...this.#opsets, ...own]);
    const given = node.input ?? [];
    const fixed = input.filter((_, i) => this.fixed.has(given[i] ?? ''));
    const compiler = new Compiler(parts, this.#context, opsets, [], fixed, [...this.#calls, key]);
    this.eager ||= compiler.eager;
    this.branches ||= compiler.branches;
    input.forEach((name, i) => {
      if (compiler.hosted.has(name) && given[i] !== undefined) this.hosted.add(given[i]);
    });
    if (given.every((name) => this.fixed.has(name)))
      for (const name of node.output ?? []) this.fixed.add(name);
    const program = new Program(compiler);
    return {
      where,
      inputs: given,
      outputs: node.output ?? [],
      run: (values) =>
        program.run(
          input.map((_, i) => values[i] ?? null),
          [],
          null,
        ),
    };
  }
}

/** A node of a function with the attributes of its call in place of references. */
function bound(
  node: onnx.NodeProto,
  given: ReadonlyMap<string | undefined, onnx.AttributeProto>,
): onnx.NodeProto {
  const attribute = (node.attribute ?? []).flatMap((a): onnx.AttributeProto[] => {
    if (a.ref_attr_name !== undefined && a.ref_attr_name !== '') {
      const value = given.get(a.ref_attr_name);
      return value === undefined ? [] : [{ ...value, name: a.name ?? '' }];
    }
    if (a.g === undefined) return [a];
    return [{ ...a, g: { ...a.g, node: (a.g.node ?? []).map((n) => bound(n, given)) } }];
  });
  return { ...node, attribute };
}

/** Every name that nodes of a graph use, also in graphs inside. */
function namesIn(graph: onnx.GraphProto): readonly string[] {
  return [
    ...(graph.output ?? []).map((o) => o.name ?? ''),
    ...(graph.node ?? []).flatMap((n) => [
      ...(n.input ?? []),
      ...(n.attribute ?? []).flatMap((a) => (a.g === undefined ? [] : namesIn(a.g))),
    ]),
  ];
}

/** The parts of a graph that matter. */
export function partsOf(graph: onnx.GraphProto, context: ModelContext): GraphParts {
  const constants = new Map<string, Tensor>();
  for (const proto of graph.initializer ?? []) {
    const { name = '' } = proto;
    if (constants.has(name)) throw invalid(`the initializer '${name}' is there twice`);
    constants.set(name, tensorOf(proto, context.external(proto)));
  }
  if ((graph.sparse_initializer ?? []).length > 0)
    throw new UnimplementedError('sparse initializers are not read', 'tf.onnx.load');
  return {
    name: graph.name ?? '',
    nodes: graph.node ?? [],
    inputs: (graph.input ?? []).map((v) => v.name ?? ''),
    outputs: (graph.output ?? []).map((v) => v.name ?? ''),
    outputTypes: (graph.output ?? []).map(({ type }) => {
      const number = type?.tensor_type?.elem_type;
      return number === undefined || number === 0 ? null : dtypeOf(number);
    }),
    constants,
  };
}
