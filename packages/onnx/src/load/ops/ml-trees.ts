// Ensembles of trees: every row goes down all trees at once, a level at a time.
import { concat, constant, gather, type Tensor, where, zerosLike } from '@eagre/core';
import { elements, type NodeCall, type OnnxOp, type Run } from '../node.ts';
import { range } from './helpers.ts';
import { asFloat, binary, labelled, labelsOf, transformed } from './ml-scores.ts';

interface Forest {
  /** For each node: which feature, the threshold, how they are compared, the next nodes; a leaf goes to itself. */
  readonly feature: readonly number[];
  readonly value: readonly number[];
  readonly mode: readonly string[];
  readonly yes: readonly number[];
  readonly no: readonly number[];
  readonly missing: readonly boolean[];
  /** The numbers that a node of the mode BRANCH_MEMBER looks for. */
  readonly members: ReadonlyMap<number, readonly number[]>;
  readonly roots: readonly number[];
  readonly depth: number;
}
const LEAF = 'LEAF';

/** Numbers that are floats, or in a tensor where they are doubles. */
function numbersOf(node: NodeCall, name: string, otherwise?: readonly number[]): readonly number[] {
  const tensor = `${name}_as_tensor`;
  return node.attrs.has(tensor)
    ? Array.from(elements(node.attrs.tensor(tensor)), Number)
    : node.attrs.floats(name, otherwise);
}

/** The trees of TreeEnsembleClassifier and TreeEnsembleRegressor, and the place of each node. */
function forestOf(node: NodeCall): Forest & { readonly place: ReadonlyMap<string, number> } {
  const { attrs } = node;
  const [trees, ids] = [attrs.ints('nodes_treeids'), attrs.ints('nodes_nodeids')];
  const mode = attrs.texts('nodes_modes');
  const place = new Map(trees.map((tree, i) => [`${tree} ${ids[i]}`, i]));
  const next = (name: string): number[] =>
    attrs
      .ints(name)
      .map((id, i) =>
        mode[i] === LEAF
          ? i
          : (place.get(`${trees[i]} ${id}`) ?? node.fail(`tree ${trees[i]} has no node ${id}`)),
      );
  const [yes, no] = [next('nodes_truenodeids'), next('nodes_falsenodeids')];
  const inner = new Set([...yes, ...no].filter((to, i) => to !== i % yes.length));
  const roots = new Map<number, number>();
  trees.forEach((tree, i) => {
    if (!roots.has(tree) && !inner.has(i)) roots.set(tree, i);
  });
  const zeros = ids.map(() => 0);
  const feature = attrs.ints('nodes_featureids');
  const value = numbersOf(node, 'nodes_values', zeros);
  const missing = attrs.ints('nodes_missing_value_tracks_true', zeros).map((m) => m === 1);
  sameLength(node, [ids, mode, yes, no, feature, value, missing], trees.length);
  const forest = { feature, value, mode, yes, no, missing, members: new Map(), roots: [...roots.values()] };
  return { ...forest, depth: depthOf(node, forest), place };
}

const MODES = ['LEQ', 'LT', 'GTE', 'GT', 'EQ', 'NEQ', 'MEMBER'].map((m) => `BRANCH_${m}`);

/** The trees of TreeEnsemble: its inner nodes, and its leaves behind them. */
function ensembleOf(node: NodeCall): Forest {
  const { attrs } = node;
  const feature = attrs.ints('nodes_featureids');
  const [count, leaves] = [feature.length, attrs.ints('leaf_targetids').length];
  const next = (side: 'true' | 'false'): number[] => {
    const isLeaf = attrs.ints(`nodes_${side}leafs`);
    const to = attrs.ints(`nodes_${side}nodeids`).map((id, i) => {
      const limit = isLeaf[i] === 1 ? leaves : count;
      if (!(id >= 0 && id < limit)) node.fail(`there is no ${isLeaf[i] === 1 ? 'leaf' : 'node'} ${id}`);
      return isLeaf[i] === 1 ? count + id : id;
    });
    sameLength(node, [isLeaf, to], count);
    return [...to, ...range(count, count + leaves)];
  };
  const mode = Array.from(
    elements(attrs.tensor('nodes_modes')),
    (m) => MODES[Number(m)] ?? node.fail(`there is no mode ${m}`),
  );
  const value = Array.from(elements(attrs.tensor('nodes_splits')), Number);
  const missing = attrs
    .ints(
      'nodes_missing_value_tracks_true',
      feature.map(() => 0),
    )
    .map((m) => m === 1);
  sameLength(node, [mode, value, missing], count);
  const roots = attrs.ints('tree_roots');
  for (const root of roots) if (!(root >= 0 && root < count)) node.fail(`there is no node ${root}`);
  const behind = <T>(list: readonly T[], filling: T): T[] => [
    ...list,
    ...Array.from({ length: leaves }, () => filling),
  ];
  const forest = {
    feature: behind(feature, 0),
    value: behind(value, 0),
    mode: behind(mode, LEAF),
    missing: behind(missing, false),
    yes: next('true'),
    no: next('false'),
    members: membersOf(node, mode),
    roots,
  };
  return { ...forest, depth: depthOf(node, forest) };
}

/** The sets of the nodes that look for members, which NaNs end, in the order of the nodes. */
function membersOf(node: NodeCall, mode: readonly string[]): Map<number, number[]> {
  const given = node.attrs.has('membership_values')
    ? Array.from(elements(node.attrs.tensor('membership_values')), Number)
    : [];
  const sets: number[][] = [];
  let open: number[] = [];
  for (const v of given)
    if (Number.isNaN(v)) {
      sets.push(open);
      open = [];
    } else open.push(v);
  if (open.length > 0) sets.push(open);
  const nodes = mode.flatMap((m, i) => (m === 'BRANCH_MEMBER' ? [i] : []));
  if (nodes.length !== sets.length)
    node.fail(`membership_values has ${sets.length} sets for ${nodes.length} nodes`);
  return new Map(nodes.map((at, i) => [at, sets[i] as number[]]));
}

function sameLength(node: NodeCall, lists: readonly (readonly unknown[])[], length: number): void {
  for (const list of lists) if (list.length !== length) node.fail('the lists of nodes are not of one length');
}

function depthOf(node: NodeCall, { roots, yes, no }: Pick<Forest, 'roots' | 'yes' | 'no'>): number {
  let level = new Set(roots);
  for (let depth = 0; depth <= yes.length; depth++) {
    const below = new Set<number>();
    for (const i of level) for (const to of [yes[i] as number, no[i] as number]) if (to !== i) below.add(to);
    if (below.size === 0) return depth;
    level = below;
  }
  return node.fail('a tree goes in a circle');
}

const compare: Readonly<Record<string, (x: Tensor, limit: Tensor) => Tensor>> = {
  BRANCH_LEQ: (x, limit) => x.lessEqual(limit),
  BRANCH_LT: (x, limit) => x.less(limit),
  BRANCH_GTE: (x, limit) => x.greaterEqual(limit),
  BRANCH_GT: (x, limit) => x.greater(limit),
  BRANCH_EQ: (x, limit) => x.equal(limit),
  BRANCH_NEQ: (x, limit) => x.notEqual(limit),
};

/** The leaf of each tree for each row: [rows, trees]. */
function leavesOf(node: NodeCall, x: Tensor, forest: Forest): Tensor {
  const ints = (list: readonly number[]): Tensor =>
    constant({ data: Int32Array.from(list), shape: [list.length] });
  const [feature, yes, no] = [ints(forest.feature), ints(forest.yes), ints(forest.no)];
  const value = numbers(forest.value, [forest.value.length], x);
  const modes = [...new Set(forest.mode.filter((m) => m !== LEAF))];
  const mode = ints(forest.mode.map((m) => Math.max(0, modes.indexOf(m))));
  const missing = forest.missing.some(Boolean) ? constant(forest.missing) : null;
  const sets = setsOf(node, forest, x);
  const isMember = (seen: Tensor, at: Tensor): Tensor =>
    gather(sets as Tensor, at)
      .equal(seen.expandDims(-1))
      .any(-1);
  let at = zerosLike(x.slice([0, 0], [-1, 1]))
    .cast('int32')
    .add(ints(forest.roots).expandDims(0));
  for (let level = 0; level < forest.depth; level++) {
    const seen = gather(x, gather(feature, at), 1, { batchDims: 1 });
    const limit = gather(value, at);
    const tests = modes.map((m) =>
      m === 'BRANCH_MEMBER'
        ? isMember(seen, at)
        : (compare[m] ?? node.unsupported(`the mode ${m} is not translated`))(seen, limit),
    );
    let goes = tests
      .slice(1)
      .reduce((all, test, i) => where(gather(mode, at).equal(i + 1), test, all), tests[0] as Tensor);
    if (missing !== null) goes = goes.logicalOr(seen.notEqual(seen).logicalAnd(gather(missing, at)));
    at = where(goes, gather(yes, at), gather(no, at));
  }
  return at;
}

const numbers = (list: readonly number[], shape: readonly number[], like: Tensor): Tensor =>
  constant({ data: Float64Array.from(list), shape }).cast(like.dtype);

/** The set of each node, NaN behind its numbers, which equals nothing. */
function setsOf(node: NodeCall, { members, mode }: Forest, x: Tensor): Tensor | null {
  if (members.size === 0) return null;
  const width = [...members.values()].reduce((most, set) => Math.max(most, set.length), 1);
  checkElements(node, mode.length * width);
  const data = mode.flatMap((_, i) => range(0, width).map((k) => members.get(i)?.[k] ?? Number.NaN));
  return numbers(data, [mode.length, width], x);
}

/** What leaves add to each class or target: [rows, classes]. */
function summed(node: NodeCall, x: Tensor, forest: Forest, table: Tensor, aggregate: string): Tensor {
  const all = gather(table, leavesOf(node, x, forest));
  switch (aggregate) {
    case 'SUM':
      return all.sum(1);
    case 'AVERAGE':
      return all.sum(1).div(forest.roots.length);
    case 'MAX':
      return all.max(1);
    case 'MIN':
      return all.min(1);
    default:
      return node.fail(`the aggregate_function '${aggregate}' is unknown`);
  }
}

/** A row of weights for each node, made of a list of single ones. */
function tableOf(
  node: NodeCall,
  [nodes, count]: readonly [number, number],
  entries: readonly (readonly [at: number, target: number, weight: number])[],
  like: Tensor,
): Tensor {
  checkElements(node, nodes * count);
  const table = new Float64Array(nodes * count);
  for (const [at, target, weight] of entries) {
    if (!(target >= 0 && target < count)) node.fail(`there is no class or target ${target} of ${count}`);
    table[at * count + target] = (table[at * count + target] as number) + weight;
  }
  return constant({ data: table, shape: [nodes, count] }).cast(like.dtype);
}

// More than any file of trees needs.
const MOST_ELEMENTS = 2 ** 27;
function checkElements(node: NodeCall, count: number): void {
  if (!(count >= 0 && count <= MOST_ELEMENTS)) node.fail(`its trees would need a table of ${count} elements`);
}

const thresholded = (x: Tensor): Tensor => (x.dtype === 'float64' ? x : asFloat(x));

function treeScores(node: NodeCall, prefix: 'class' | 'target', count: number): Tensor {
  const x = thresholded(node.x());
  const forest = forestOf(node);
  const { attrs } = node;
  const [trees, ids, classes] = ['treeids', 'nodeids', 'ids'].map((n) => attrs.ints(`${prefix}_${n}`)) as [
    number[],
    number[],
    number[],
  ];
  const weights = numbersOf(node, `${prefix}_weights`);
  sameLength(node, [ids, classes, weights], trees.length);
  const entries = trees.map((tree, i) => {
    const at = forest.place.get(`${tree} ${ids[i]}`) ?? node.fail(`tree ${tree} has no node ${ids[i]}`);
    return [at, classes[i] as number, weights[i] as number] as const;
  });
  const table = tableOf(node, [forest.feature.length, count], entries, x);
  const sum = summed(node, x, forest, table, attrs.text('aggregate_function', 'SUM'));
  const base = numbersOf(node, 'base_values', []);
  return asFloat(base.length === 0 ? sum : sum.add(numbers(base, [base.length], x)));
}

export const treeRegressor: Run = (node) =>
  transformed(node, treeScores(node, 'target', node.attrs.int('n_targets', 1)));

export const treeClassifier: OnnxOp = {
  run: (node) => {
    const labels = labelsOf(node, 'classlabels_int64s', 'classlabels_strings');
    const classes = new Set(node.attrs.ints('class_ids'));
    const one = labels.size === 2 && classes.size === 1;
    const scores = treeScores(node, 'class', one ? 1 : labels.size);
    if (!one) return [labelled(labels, scores.argMax(-1)), transformed(node, scores)];
    const kind = node.attrs.text('post_transform', 'NONE');
    // Votes from 0 to 1 and no base: a probability.
    if (kind === 'NONE' && numbersOf(node, 'class_weights').every((w) => w >= 0)) {
      const two = concat([scores.neg().add(1), scores], -1);
      return [labelled(labels, scores.greater(0.5).cast('int32').reshape([-1])), two];
    }
    return binary(node, scores, labels);
  },
};

const AGGREGATES = ['AVERAGE', 'SUM', 'MIN', 'MAX'];
const TRANSFORMS = ['NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO', 'PROBIT'];

/** Both of the above since version 5: numbers name what was named by texts, and leaves are apart from inner nodes. */
export const treeEnsemble: Run = (node) => {
  const { attrs } = node;
  const x = node.x();
  const forest = ensembleOf(node);
  const targets = attrs.ints('leaf_targetids');
  const weights = Array.from(elements(attrs.tensor('leaf_weights')), Number);
  sameLength(node, [weights], targets.length);
  const first = forest.feature.length - targets.length;
  const entries = targets.map((target, i) => [first + i, target, weights[i] as number] as const);
  const table = tableOf(node, [forest.feature.length, attrs.int('n_targets', 1)], entries, x);
  const name = (list: readonly string[], attribute: string, otherwise: number): string => {
    const number = attrs.int(attribute, otherwise);
    return list[number] ?? node.fail(`there is no ${attribute} ${number}`);
  };
  const scores = summed(node, x, forest, table, name(AGGREGATES, 'aggregate_function', 1));
  return transformed(node, scores, name(TRANSFORMS, 'post_transform', 0));
};
