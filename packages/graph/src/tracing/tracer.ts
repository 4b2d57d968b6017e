import {
  type AttrValue,
  type DType,
  InvalidArgumentError,
  type KernelName,
  type Storage,
  type TensorRef,
  UnimplementedError,
} from '@eagre/backend';
import {
  constant,
  type HostFunction,
  type HostOutput,
  type PartialShape,
  type Shape,
  type Tensor,
  Variable,
} from '@eagre/core';
import {
  type Attrs,
  context,
  type Dim,
  DimExpr,
  type DimSymbol,
  type Dims,
  dimOf,
  dims,
  dimsOf,
  execute,
  hasUnknown,
  hintOf,
  hostValues,
  identicalDims,
  inContext,
  inInitScope,
  isSharedScalar,
  type KernelRecorder,
  keepingAmbient,
  keyOfDim,
  noteLogits,
  type Op,
  outOfScope,
  override,
  type PortableCall,
  type PortableForm,
  portableOpOf,
  recordOnTapes,
  ShapeEnv,
  type SymbolicDraw,
  SymbolicStorage,
  sameShape,
  sizeOfDims,
  someSymbol,
  symbolic,
  symbolically,
  symbolicTensor,
  type TensorOwner,
  type Tracer,
  toBackend,
  toShape,
  withOpName,
} from '@eagre/core/internal';
import { ControlOp } from '../control/control-op.ts';
import { type CustomGradientAttrs, customGradientOp } from '../control/custom-gradient.ts';
import { GraphInterpreter, RunSizes } from '../function/interpret.ts';
import { type Assignment, Graph, type GraphNode, type GraphValue, type Measure } from '../ir/graph.ts';
import { lateSizesIn, onlyComputes } from '../ir/graph-bodies.ts';
import { assignedOp } from './assigned.ts';
import { userLine } from './source-lines.ts';
import { isStrings, noStrings, refuseStrings } from './strings.ts';
import { numbersOfSizes } from './symbolic-sizes.ts';

/** Looks for random draws. */
class DrawWatch implements KernelRecorder {
  draws = false;

  call(): void {}
  capture(x: Tensor): Tensor {
    return symbolicTensor(x.dtype, x.shape);
  }
  draw(): SymbolicDraw {
    this.draws = true;
    return { from: symbolicTensor('uint64', [2]), place: 0 };
  }
}

// Nobody may give back what stands for an argument, a constant or a variable: they are used again and again.
const FOR_EVER = 2 ** 30;

interface VariableValues {
  readonly initial: GraphValue;
  value: GraphValue;
  /** What reads get; null after an assignment until somebody reads. */
  current: Tensor | null;
}

/** A value that the body of a branch or a loop, or a function inside of another one, takes from the function around it. */
export interface Capture {
  /** What it is out there; for a variable, whatever its value is where the branch or loop stands. */
  readonly from: Tensor | Variable;
  /** The argument for it, and the tensor that stands for that. */
  readonly argument: GraphValue;
  readonly tensor: Tensor;
}

/** The call that is traced, as far as a trace looks at it. */
export interface TracedCall {
  /** What the trace knows of sizes. */
  readonly sizes: ShapeEnv;
  /** The sizes that depend on values, in the order of the trace. */
  readonly late: DimSymbol[];
  /** A tensor for each argument; nothing where no call is traced. */
  inputs?: readonly Tensor[];
  /** A size that was made up to go on, since only a run tells it; the same object in all bodies. */
  readonly guess: { taken?: number };
  /** What sizes that depend on values are, in their order, as far as a run has told. */
  readonly measured?: ReadonlyMap<number, number>;
}

// Integers that are read as sizes at once: a shape, or a little more.
const MOST_SIZES = 32;
const nothing = (): void => undefined;
/** Ops that cross-entropies look behind. */
const PROBABILITIES: ReadonlySet<string> = new Set(['Sigmoid', 'Softmax']);

/** What a size is taken for where nothing tells it, times a number of its own: pooling and splitting leave no rest. */
export const MADE_UP = 840;

// TensorFlow warns of unrolled loops of 3,000 turns; this is what no program needs that is written for a graph.
const LARGE = 50_000;

/** A `while` on a tensor in code that is not converted is always true: without a word it would go on until memory ends. */
function warnOfLargeTrace({ what }: TensorOwner, node: GraphNode): void {
  const line = userLine(node.traced?.stack);
  console.warn(
    `tf.function: ${what} has ${LARGE} operations by now and is still being traced${line === undefined ? '' : ` (${line})`}. A loop whose ` +
      'condition is a tensor ends only in converted code: start Node with --import eagre/register, use the build plugin, or write ' +
      'tf.whileLoop. A loop over numbers is written down turn by turn: loop over tf.range instead.',
  );
}

function ownerOf(name: string, outer: TensorOwner | null): TensorOwner {
  if (outer === null) {
    const remedy = 'Return it from the function, or assign it to a tf.Variable';
    return { what: `the traced function '${name}'`, remedy, open: 0 };
  }
  const within = outer.what.replace(/^a branch or loop of /, '');
  const remedy =
    'Return it from the branch, carry it through the loop as one of its variables, or write it to a tf.TensorArray';
  return { what: `a branch or loop of ${within}`, remedy, open: 0 };
}

/** Whether attributes have numbers that are made of unknown sizes. */
function holdsSizes(attrs: GraphNode['attrs']): boolean {
  return Object.values(attrs).some(
    (value) => value instanceof DimExpr || (Array.isArray(value) && hasUnknown(value)),
  );
}

/** The axes of a node's outputs that only a run tells, while the node is made. */
class MeasuredAxes {
  readonly #late: (least: number, measure: () => Measure) => DimSymbol;
  readonly #symbols: DimSymbol[] = [];
  #measures: readonly Measure[] = [];

  constructor(late: (least: number, measure: () => Measure) => DimSymbol) {
    this.#late = late;
  }

  size(): DimExpr {
    const place = this.#symbols.length;
    const symbol = this.#late(0, () => this.#measures[place] as Measure);
    this.#symbols.push(symbol);
    return dimOf(symbol);
  }

  /** The outputs of a branch or loop, whose axes may be as long as something inside of it says. */
  outputsOf(op: ControlOp, attrs: Attrs, outputs: readonly Tensor[]): readonly Tensor[] {
    const inside = new Set(op.bodies(attrs).flatMap(lateSizesIn));
    const sizes = new Map<string, DimExpr>();
    return outputs.map((t, i) => {
      let open = false;
      const shape = dims(t).map((d, axis) => {
        const isOpen = op.isOpen(attrs, i, axis);
        if (!isOpen && !someSymbol(d, (symbol) => inside.has(symbol))) return d;
        open = true;
        const key = isOpen ? `${i} ${axis}` : keyOfDim(d);
        const size = sizes.get(key) ?? this.size();
        sizes.set(key, size);
        return size;
      });
      return open ? symbolicTensor(t.dtype, shape) : t;
    });
  }

  /** Where the sizes are among the outputs of the node. */
  of(node: GraphNode): readonly Measure[] {
    this.#measures = this.#symbols.map((symbol): Measure => {
      const size = dimOf(symbol);
      const value = node.outputs.find((v) => dims(v).some((d) => identicalDims(d, size))) as GraphValue;
      return { symbol, value, from: 'axis', at: dims(value).findIndex((d) => identicalDims(d, size)) };
    });
    return this.#measures;
  }
}

/** What is known in a body of the function around it: its sizes, not what its arguments are. */
function callAround(tracer: Tracer | null): TracedCall {
  if (!(tracer instanceof FunctionTracer)) return { sizes: new ShapeEnv(), late: [], guess: {} };
  const { inputs: _, ...rest } = tracer.tracedCall;
  return rest;
}

/** Writes down what a function does with symbolic tensors. */
export class FunctionTracer implements Tracer, KernelRecorder {
  readonly graph: Graph;
  /** What is traced. */
  readonly tracedCall: TracedCall;
  /** What the tensors made here belong to. */
  readonly owner: TensorOwner;
  readonly forFile: boolean;
  /** Variables that were made while tracing. */
  readonly made: Variable[] = [];
  readonly #mayCreate: boolean;
  readonly #values = new Map<number, GraphValue>();
  readonly #byMemory = new Map<Storage, GraphValue[]>();
  readonly #captured = new Map<Tensor, Tensor>();
  readonly #variables = new Map<Variable, VariableValues>();
  /** The function around a body, whose values the body may use. */
  readonly #outer: FunctionTracer | null;
  /** Whose tensors may be captured: `#outer`, or the function in which this one is called for the first time. */
  readonly #around: FunctionTracer | null;
  readonly #outside = new Map<Tensor | Variable, Capture>();
  readonly #measured = new Map<GraphValue, Dims>();
  /** What nodes are in the call that is traced; null where that is not known before it runs. */
  readonly #probed = new Map<GraphNode, readonly Tensor[] | null>();
  // Tensors with smaller numbers were made before the body.
  readonly #firstId: number;

  /**
   * @param graph what is written, or its name.
   * @param outer the tracer of the function in which this one's graph will be a body.
   * @param owner what errors call the owner of the tensors; a function or body unless given.
   * @param around the function that is being traced around a function, which may use its tensors.
   * @param call what is traced; that of the function around unless given.
   * @param forFile whether the trace is made to be written; as the function around unless given.
   */
  constructor(
    graph: string | Graph,
    mayCreate: boolean,
    outer: FunctionTracer | null = null,
    owner: TensorOwner | null = null,
    around: FunctionTracer | null = outer,
    call: TracedCall | null = null,
    forFile: boolean = (around ?? context.tracer)?.forFile === true,
  ) {
    this.forFile = forFile;
    this.graph = typeof graph === 'string' ? new Graph(graph) : graph;
    this.#mayCreate = mayCreate;
    this.#outer = outer;
    this.#around = around;
    this.#firstId = outer === null ? 0 : symbolicTensor('bool', []).id;
    this.owner = owner ?? ownerOf(this.graph.name, outer?.owner ?? null);
    this.tracedCall = call ?? callAround(around ?? context.tracer);
  }

  /** The function whose tensors this one may use. */
  get around(): FunctionTracer | null {
    return this.#around;
  }

  /** What has been used of the function around, in the order of first use. */
  get outside(): readonly Capture[] {
    return [...this.#outside.values()];
  }

  /** The variables that were assigned to, in the order of first use, with the last value of each. */
  assigned(): Assignment[] {
    return [...this.#variables]
      .map(([variable, { initial, value }]) => ({ variable, initial, value }))
      .filter(({ initial, value }) => initial !== value);
  }

  /** Runs `fn` with this tracer; tapes and memory scopes outside do not see what happens. */
  run<T>(fn: () => T): T {
    this.owner.open++;
    // Where a function runs, its call says; where a body runs, the code around it.
    const placement = this.#outer === null ? '' : context.placement;
    try {
      // A scope that the function opens and never ends is over with it.
      return keepingAmbient(() =>
        symbolically(this, () => inContext({ tracer: this, tapes: [], tracker: null, placement }, fn)),
      );
    } finally {
      this.owner.open--;
    }
  }

  get nameScope(): string {
    return this.graph.nameScope;
  }

  /** All of a function's graph runs, in its order. */
  called(call: () => readonly Tensor[]): readonly Tensor[] {
    return call();
  }

  enterScope(name: string): () => void {
    return this.graph.enterScope(name);
  }

  enterPlace(of: Tensor | undefined): () => void {
    const placement = (of && this.#values.get(of.id)?.node.device) ?? '';
    return placement === '' || context.placement !== '' ? nothing : override(context, { placement });
  }

  argument(dtype: DType, sizes: Dims, name: string): Tensor {
    return this.openArgument(dtype, toShape(sizes), name);
  }

  /** An argument of which some sizes, null in its shape, are others at each call of the body. */
  openArgument(dtype: DType, shape: PartialShape, name: string): Tensor {
    const value = this.#placeholder(dtype, shape, name);
    this.graph.arguments.push(value);
    return this.lasting(value);
  }

  #placeholder(dtype: DType, shape: PartialShape, name: string): GraphValue {
    return this.#measuredNode(shape, (sizes) =>
      this.graph.add(
        'Placeholder',
        { kind: 'argument' },
        [],
        { dtype, shape: sizes },
        [{ dtype, shape: sizes }],
        { name },
      ),
    );
  }

  /** What a node gives of which a run tells the sizes that are null. */
  #measuredNode(shape: PartialShape, make: (shape: Shape) => GraphNode): GraphValue {
    const axes = new MeasuredAxes((least, measure) => this.#late(least, measure));
    const known: readonly (Dim | null)[] = dimsOf(shape as Shape);
    const node = make(toShape(known.map((d) => d ?? axes.size())));
    this.graph.measures.push(...axes.of(node));
    return node.outputs[0] as GraphValue;
  }

  /** The shapes that a variable may have where the trace begins: null for sizes that may change. One of any shape keeps the rank of then. */
  shapesOf(variable: Variable): PartialShape {
    const { openShape } = variable;
    if (openShape !== null) return openShape;
    const outer = this.#outer;
    const { shape } = outer === null ? { shape: inInitScope(() => variable.shape) } : outer.read(variable);
    return shape.map(() => null);
  }

  /** What stands in a body for something of the function around it. Of a variable, the sizes that may change do so from run to run of the body. */
  placeholderFor(from: Tensor | Variable, name: string): GraphValue {
    return this.#placeholder(from.dtype, from instanceof Variable ? this.shapesOf(from) : from.shape, name);
  }

  /** Lets go of the call's tensors: the trace lives longer. */
  forgetCall(): void {
    delete this.tracedCall.inputs;
    this.#probed.clear();
  }

  /** Ends the trace: what the function returned, and what its variables are now. */
  finish(outputs: readonly Tensor[]): void {
    this.graph.outputs = outputs.map((t) => this.valueOf(t));
    this.graph.assignments = this.assigned();
  }

  execute(op: Op, inputs: readonly Tensor[], attrs: Attrs): readonly Tensor[] {
    const local = toBackend(inputs, op);
    // Its parts come by themselves.
    if (op.isComposite) return op.evaluate(local, attrs);
    if (inputs.some(({ dtype }) => dtype === 'string'))
      return this.#isUnknown(inputs)
        ? this.#movedStrings(op, inputs, attrs)
        : this.#ofStrings(op, inputs, attrs);
    if (op.valueSized !== undefined && this.measures)
      return this.#ofValueSized(op, op.valueSized, local, attrs);
    let outputs: readonly Tensor[];
    const watch = new DrawWatch();
    try {
      // Shapes are all that is wanted of the parts of a composite op, and whether they draw.
      outputs = symbolically(watch, () => op.evaluate(local, attrs));
    } catch (error) {
      // What it was to use of the function around has been used, and what is out of scope is the error then.
      for (const t of local) this.valueOf(t);
      throw withOpName(error, op);
    }
    // A result that does not depend on values, such as a shape, is known already.
    if (outputs.length > 0 && outputs.every((t) => t.backend !== symbolic)) {
      return outputs;
    }
    const axes = new MeasuredAxes((least, measure) => this.#late(least, measure));
    if (op instanceof ControlOp) outputs = axes.outputsOf(op, attrs, outputs);
    const node = this.graph.add(
      op.name,
      { kind: 'op', op },
      local.map((t) => this.valueOf(t)),
      attrs,
      outputs,
      { traced: context.origin ?? new Error(), draws: watch.draws },
    );
    this.graph.measures.push(...axes.of(node));
    if (this.graph.nodes.length === LARGE) warnOfLargeTrace(this.owner, node);
    outputs.forEach((t, i) => this.#know(t, node.outputs[i] as GraphValue));
    recordOnTapes(op, inputs, attrs, outputs);
    if (PROBABILITIES.has(op.name)) noteLogits(op.name, outputs[0], inputs[0]);
    return outputs;
  }

  /** Whether sizes may depend on values. */
  protected get measures(): boolean {
    return true;
  }

  /** An op whose results have sizes that only a run tells. */
  #ofValueSized(
    op: Op,
    specs: NonNullable<Op['valueSized']>,
    inputs: readonly Tensor[],
    attrs: Attrs,
  ): readonly Tensor[] {
    const known = inputs.map((x) => this.constant(x));
    if (known.every((x) => x !== null)) return inInitScope(() => execute(op, known, attrs));
    const axes = new MeasuredAxes((least, measure) => this.#late(least, measure));
    const outputs = specs(inputs, attrs, () => axes.size()).map(({ dtype, shape }) =>
      symbolicTensor(dtype, shape),
    );
    const node = this.graph.add(
      op.name,
      { kind: 'op', op },
      inputs.map((t) => this.valueOf(t)),
      attrs,
      outputs,
      { traced: context.origin ?? new Error() },
    );
    this.graph.measures.push(...axes.of(node));
    outputs.forEach((t, i) => this.#know(t, node.outputs[i] as GraphValue));
    recordOnTapes(op, inputs, attrs, outputs);
    return outputs;
  }

  /** A size that only a run tells. */
  #late(least: number, measure: () => Measure): DimSymbol {
    const { sizes, late, measured } = this.tracedCall;
    const place = late.length;
    let hint: number | undefined;
    const symbol: DimSymbol = sizes.late(`u${place}`, least, () => {
      hint ??= measured?.get(place) ?? this.#probedSize(measure());
      if (hint === undefined) {
        symbol.madeUp = true;
        this.tracedCall.guess.taken = hint = MADE_UP * (place + 1);
      }
      return hint;
    });
    late.push(symbol);
    return symbol;
  }

  /** What a size is in the call that is traced; undefined where that is not known before it runs. */
  #probedSize({ value, from: kind, at }: Measure): number | undefined {
    const from = this.#variableOf(value);
    if (from !== null) return hintOf(dims((this.#outer as FunctionTracer).read(from))[at] as Dim);
    if (this.tracedCall.inputs === undefined) return undefined;
    const tensor = inInitScope(() => this.#probe(value.node))?.[value.index];
    if (tensor === undefined) return undefined;
    return kind === 'axis' ? tensor.shape[at] : Number(hostValues(tensor)[at]);
  }

  /** The values of a node in the call that is traced, as far as computing them has no effects and draws nothing. */
  #probe(node: GraphNode): readonly Tensor[] | null {
    let found = this.#probed.get(node);
    if (found !== undefined) return found;
    found = this.#computed(node, (v) => this.#probe(v.node)?.[v.index] ?? null);
    this.#probed.set(node, found);
    return found;
  }

  #computed(node: GraphNode, valueOf: (v: GraphValue) => Tensor | null): readonly Tensor[] | null {
    const { what, inputs, outputs } = node;
    const own = outputs[0] as GraphValue;
    switch (what.kind) {
      case 'argument': {
        const input = this.tracedCall.inputs?.[this.graph.arguments.indexOf(own)];
        return input === undefined ? this.#constantOutside(outputs, false) : [input];
      }
      case 'constant':
        return [what.tensor];
      case 'size':
        return [constant(hintOf(what.size), what.dtype)];
      case 'variable':
        return [what.variable.read()];
      case 'op': {
        if (node.draws || !onlyComputes(node)) return null;
        const given = inputs.map(valueOf);
        if (given.some((t) => t === null)) return null;
        return new GraphInterpreter(false, new Map(), new RunSizes([], ({ hint }) => hint)).node(
          node,
          (v) => given[inputs.indexOf(v)] as Tensor,
        );
      }
      case 'host':
      case 'update':
        return null;
    }
  }

  /** Whether strings differ from run to run, in a trace for a file: then ops on them are nodes, as others are. */
  #isUnknown(inputs: readonly Tensor[]): boolean {
    return this.forFile && inputs.some((x) => x.backend === symbolic && this.constant(x) === null);
  }

  /** An op that moves elements: what it gives has the shape that it would have of integers. */
  #movedStrings(op: Op, inputs: readonly Tensor[], attrs: Attrs): readonly Tensor[] {
    const standIns = inputs.map((x) => symbolicTensor(x.dtype === 'string' ? 'int32' : x.dtype, dims(x)));
    const outputs = symbolically(new DrawWatch(), () => op.evaluate(standIns, attrs));
    const node = this.graph.add(
      op.name,
      { kind: 'op', op },
      inputs.map((t) => this.valueOf(t)),
      attrs,
      outputs.map(({ shape }) => ({ dtype: 'string', shape })),
      { traced: context.origin ?? new Error() },
    );
    return node.outputs.map((v) => this.lasting(v));
  }

  portable({ op, inputs, attrs = {}, table, ordered = false, outputs }: PortableCall): readonly Tensor[] {
    const axes = new MeasuredAxes((least, measure) => this.#late(least, measure));
    const node = this.graph.add(
      op,
      { kind: 'op', op: portableOpOf(op) },
      inputs.map((t) => this.valueOf(t)),
      { attrs, ordered, ...(table === undefined ? {} : { table }) },
      outputs(() => axes.size()).map(({ dtype, shape }) => ({ dtype, shape: toShape(shape) })),
      { traced: context.origin ?? new Error() },
    );
    this.graph.measures.push(...axes.of(node));
    return node.outputs.map((v) => this.lasting(v));
  }

  /** Computes with strings while tracing. */
  #ofStrings(op: Op, inputs: readonly Tensor[], attrs: Attrs): readonly Tensor[] {
    const known = inputs.map((x) => (x.backend === symbolic ? this.constant(x) : x));
    if (!known.every((x) => x !== null)) throw noStrings(op.name);
    return inInitScope(() => execute(op, known, attrs));
  }

  read(variable: Variable): Tensor {
    const values = this.#valuesOf(variable);
    if (values.current === null) {
      const value = this.lasting(values.value);
      const [assigned] = this.execute(assignedOp, [value], { variable }) as readonly [Tensor];
      values.current = this.lasting(this.valueOf(assigned));
    }
    return values.current;
  }

  assign(variable: Variable, value: Tensor): Variable {
    const values = this.#valuesOf(variable);
    values.value = this.valueOf(value);
    values.current = null;
    return variable;
  }

  update(
    kernel: KernelName,
    inputs: readonly Tensor[],
    written: readonly Variable[],
    at: readonly number[],
    attrs: Readonly<Record<string, AttrValue>>,
  ): void {
    const node = this.graph.add(
      `Resource${kernel}`,
      { kind: 'update', kernel, written, at },
      inputs.map((t) => this.valueOf(t)),
      attrs,
      written,
      { traced: context.origin ?? new Error() },
    );
    written.forEach((variable, i) => {
      const values = this.#valuesOf(variable);
      values.value = node.outputs[i] as GraphValue;
      values.current = this.lasting(values.value);
    });
  }

  host(
    name: string,
    fn: HostFunction,
    inputs: readonly Tensor[],
    outputs: readonly HostOutput[],
    early: boolean = false,
    portable?: PortableForm,
  ): readonly Tensor[] {
    refuseStrings(outputs, name);
    const strings = inputs.filter(isStrings);
    const withStrings: HostFunction = (...given) =>
      fn(...inputs.map((x) => (isStrings(x) ? x : (given.shift() as Tensor))));
    const isPortable = portable !== undefined && strings.length === 0;
    const node = this.graph.add(
      name,
      {
        kind: 'host',
        fn: strings.length === 0 ? fn : withStrings,
        results: outputs,
        ...(isPortable ? { portable } : {}),
      },
      inputs.filter((x) => !isStrings(x)).map((t) => this.valueOf(t)),
      {},
      outputs,
      { traced: context.origin ?? new Error() },
    );
    if (early) this.graph.moveUp(node);
    return node.outputs.map((v) => this.lasting(v));
  }

  withGradient(
    values: readonly Tensor[],
    inputs: readonly Tensor[],
    gradient: (...dys: Tensor[]) => readonly (Tensor | null)[],
  ): readonly Tensor[] {
    const body = new FunctionTracer('gradient', false, this);
    const places = body.run(() => {
      const dys = values.map(({ dtype, shape }, i) =>
        body.argument(dtype, shape, i === 0 ? 'dy' : `dy_${i}`),
      );
      const stand = inputs.map((x) => body.valueOf(body.#fromOutside(x)));
      const found = gradient(...dys);
      body.finish(found.filter((dx): dx is Tensor => dx !== null));
      const more = body.outside.map((o) => o.argument).filter((v) => !stand.includes(v));
      body.graph.arguments.push(...stand, ...more);
      return found.flatMap((dx, i) => (dx === null ? [] : [i + values.length]));
    });
    if (body.graph.assignments.length > 0)
      throw new UnimplementedError(
        'a gradient in a traced function cannot assign to variables',
        'customGradient',
      );
    const given = new Set<unknown>(inputs);
    const outside = body.outside.map((o) => o.from).filter((f) => !given.has(f));
    const attrs: CustomGradientAttrs = { gradient: body.graph, count: values.length, places };
    return execute(
      customGradientOp,
      [...values, ...inputs, ...outside.map((f) => (f instanceof Variable ? f.taken() : f))],
      attrs,
    );
  }

  /**
   * What a tensor is at each run; null where runs differ.
   * @param draws whether random draws count as the same.
   */
  constant(x: Tensor, draws = false): Tensor | null {
    return this.#constant(this.valueOf(x), draws);
  }

  measured(x: Tensor): Dims | null {
    if (!this.measures) return null;
    const value = this.valueOf(x);
    const from = value.node.what.kind === 'argument' ? this.#fromOf(value) : null;
    if (from !== null) return from.backend === symbolic ? (this.#around?.measured(from) ?? null) : null;
    return this.#integers(value, (v) => this.#measuredElements(v)) ?? this.#measuredElements(value);
  }

  /** Each element as a size that only a run knows. */
  #measuredElements(value: GraphValue): Dims | null {
    let found = this.#measured.get(value);
    if (found === undefined) {
      const count = sizeOfDims(dims(value));
      if (typeof count !== 'number' || count > MOST_SIZES) return null;
      found = Array.from({ length: count }, (_, at) => {
        const measure: Measure = {
          symbol: this.#late(Number.NEGATIVE_INFINITY, () => measure),
          value,
          from: 'element',
          at,
        };
        this.graph.measures.push(measure);
        return dimOf(measure.symbol);
      });
      this.#measured.set(value, found);
    }
    return found;
  }

  size(size: DimExpr, dtype: DType): Tensor {
    const shape: readonly number[] = [];
    const node = this.graph.add('Const', { kind: 'size', size, dtype }, [], { dtype }, [{ dtype, shape }]);
    return this.lasting(node.outputs[0] as GraphValue);
  }

  integers(x: Tensor): Dims | null {
    return this.#integers(this.valueOf(x));
  }

  /** @param measured what stands for elements of a list that only a run knows. */
  #integers(value: GraphValue, measured?: (value: GraphValue) => Dims | null): Dims | null {
    return numbersOfSizes(value, {
      ...(measured === undefined ? {} : { measured }),
      constant: (v) => this.#constant(v, false),
      outside: (v) => {
        const from = this.#fromOf(v);
        if (from === null) return null;
        return from.backend === symbolic ? (this.#around?.integers(from) ?? null) : null;
      },
    });
  }

  #constant(value: GraphValue, draws: boolean): Tensor | null {
    if (hasUnknown(value.shape)) return null;
    const values = new Map<GraphNode, readonly Tensor[] | null>();
    const compute = (node: GraphNode): readonly Tensor[] | null => {
      const { what, inputs, attrs, outputs } = node;
      if (what.kind === 'constant') return [what.tensor];
      if (what.kind === 'argument') return this.#constantOutside(outputs, draws);
      if (what.kind !== 'op' || (!draws && node.draws)) return null;
      const given = inputs.map(valueAt);
      if (given.some((t) => t === null) || node.outputs.some((v) => hasUnknown(v.shape)) || holdsSizes(attrs))
        return null;
      return execute(what.op, given as Tensor[], attrs);
    };
    const valueAt = ({ node, index }: GraphValue): Tensor | null => {
      let outputs = values.get(node);
      if (outputs === undefined) values.set(node, (outputs = compute(node)));
      return outputs?.[index] ?? null;
    };
    return inInitScope(() => valueAt(value));
  }

  #constantOutside([argument]: readonly GraphValue[], draws: boolean): readonly Tensor[] | null {
    const from = this.#fromOf(argument as GraphValue);
    if (from === null) return null;
    const known = from.backend === symbolic ? (this.#around?.constant(from, draws) ?? null) : from;
    return known === null ? null : [known];
  }

  /** The tensor of the function around that an argument stands for. */
  #fromOf(argument: GraphValue): Tensor | null {
    const from = this.#outsideOf(argument);
    return from instanceof Variable ? null : from;
  }

  /** The variable of the function around whose value an argument stands for. */
  #variableOf(argument: GraphValue): Variable | null {
    const from = this.#outsideOf(argument);
    return from instanceof Variable ? from : null;
  }

  #outsideOf(argument: GraphValue): Tensor | Variable | null {
    for (const { argument: own, from } of this.#outside.values()) if (own === argument) return from;
    return null;
  }

  created(variable: Variable): void {
    if (this.#outer !== null) {
      throw new InvalidArgumentError(
        'a branch or a loop of a traced function cannot create variables: create them before it',
        'tf.function',
      );
    }
    if (!this.#mayCreate) {
      throw new InvalidArgumentError(
        'a traced function may create variables in its first call only, and this was a later trace: create them outside the function, or only once: this.w ??= new tf.Variable(…)',
        'tf.function',
      );
    }
    this.made.push(variable);
  }

  // A kernel call outside of any op has nothing that could be written down.
  call(_kernel: unknown, _inputs: readonly TensorRef[]): void {}

  capture(x: Tensor): Tensor {
    // What was there before the body comes from outside, so that tapes there see it used.
    if (this.#outer !== null && x.id < this.#firstId && !isSharedScalar(x)) return this.#fromOutside(x);
    let tensor = this.#captured.get(x);
    if (tensor === undefined) {
      // Held by the graph from now on.
      x.storage.refs++;
      const node = this.graph.add('Const', { kind: 'constant', tensor: x }, [], { dtype: x.dtype }, [x]);
      tensor = this.lasting(node.outputs[0] as GraphValue);
      this.#captured.set(x, tensor);
    }
    return tensor;
  }

  /** The value in the graph that a tensor stands for. @throws FailedPreconditionError for one of another function. */
  valueOf(x: Tensor): GraphValue {
    const tensor = x.backend === symbolic ? x : this.capture(x);
    let known = this.#values.get(tensor.id);
    // What comes from outside does so before its views here are asked for: stopGradient(x) has the memory and the shape of x.
    if (known === undefined && this.#around?.knows(tensor) === true)
      known = this.#values.get(this.#fromOutside(tensor).id);
    known ??= this.#knownValue(tensor);
    if (known === undefined) throw outOfScope(tensor, this.owner);
    return known;
  }

  /** Whether the tensor has a value here or in a function around this one. */
  knows(x: Tensor): boolean {
    return this.#knownValue(x) !== undefined || this.#around?.knows(x) === true;
  }

  #knownValue(x: Tensor): GraphValue | undefined {
    return (
      this.#values.get(x.id) ??
      this.#byMemory.get(x.storage)?.find((v) => v.dtype === x.dtype && sameShape(v.shape, x.shape))
    );
  }

  #fromOutside(from: Tensor | Variable): Tensor {
    let outside = this.#outside.get(from);
    if (outside === undefined) {
      const argument = this.placeholderFor(from, from instanceof Variable ? from.path : 'outside');
      outside = { from, argument, tensor: this.lasting(argument) };
      this.#outside.set(from, outside);
    }
    return outside.tensor;
  }

  #valuesOf(variable: Variable): VariableValues {
    let values = this.#variables.get(variable);
    if (values === undefined && this.#outer !== null) {
      const current = this.#fromOutside(variable);
      const initial = this.valueOf(current);
      values = { initial, value: initial, current };
      this.#variables.set(variable, values);
    }
    if (values === undefined) {
      const { dtype } = variable;
      const initial = this.#measuredNode(this.shapesOf(variable), (shape) =>
        this.graph.add('ReadVariableOp', { kind: 'variable', variable }, [], { dtype }, [{ dtype, shape }], {
          name: `${variable.path}/Read`,
        }),
      );
      values = { initial, value: initial, current: this.lasting(initial) };
      this.#variables.set(variable, values);
    }
    return values;
  }

  /** A tensor that stands for a value as long as the graph lives. */
  lasting(value: GraphValue): Tensor {
    const tensor = symbolicTensor(value.dtype, value.shape);
    tensor.storage.refs = FOR_EVER;
    this.#know(tensor, value);
    return tensor;
  }

  #know(tensor: Tensor, value: GraphValue): void {
    const { storage } = tensor;
    if (storage instanceof SymbolicStorage && storage.home === null) {
      storage.home = this.owner;
      storage.label = `${value.node.name}:${value.index}`;
    }
    this.#values.set(tensor.id, value);
    const list = this.#byMemory.get(tensor.storage);
    if (list === undefined) this.#byMemory.set(tensor.storage, [value]);
    else list.push(value);
  }
}
