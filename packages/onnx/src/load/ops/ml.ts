// The domain ai.onnx.ml: what scikit-learn's models are exported as.
import { concat, constant, gather, nn, type Tensor, where, zerosLike } from '@eagre/core';
import type { ClassMap, NodeCall, OnnxOp, OpTable, Run } from '../node.ts';
import { elements, Results } from '../node.ts';
import { range } from './helpers.ts';

const floats = (list: readonly number[], shape: readonly number[]): Tensor =>
  constant({ data: Float32Array.from(list), shape });
const asFloat = (x: Tensor): Tensor => (x.dtype === 'float32' ? x : x.cast('float32'));

/** What a model does to its scores. */
function transformed(node: NodeCall, scores: Tensor): Tensor {
  const kind = node.attrs.text('post_transform', 'NONE');
  switch (kind) {
    case 'NONE':
      return scores;
    case 'LOGISTIC':
      return scores.sigmoid();
    case 'SOFTMAX':
      return nn.softmax(scores, -1);
    case 'SOFTMAX_ZERO': {
      const soft = nn.softmax(where(scores.equal(0), Number.NEGATIVE_INFINITY, scores), -1);
      return where(scores.equal(0), 0, soft);
    }
    default:
      return node.unsupported(`the post_transform '${kind}' is not translated`);
  }
}

/** The labels of a classifier: strings or integers. */
function labelsOf(node: NodeCall, ints: string, strings: string): Tensor {
  const names = node.attrs.texts(strings, []);
  if (names.length > 0) return constant(names);
  return constant(node.attrs.bigints(ints, []), 'int64').reshape([-1]);
}
/** The label at each place. */
function labelled(labels: Tensor, places: Tensor): Tensor {
  return gather(labels, places.cast('int32'), 0);
}

const linearScores = (node: NodeCall, rows: number): Tensor => {
  const x = asFloat(node.x());
  const two = x.rank === 1 ? x.expandDims(0) : x;
  const coefficients = node.attrs.floats('coefficients');
  const weights = floats(coefficients, [rows, coefficients.length / rows]);
  const intercepts = node.attrs.floats('intercepts', []);
  const y = two.matmul(weights, { transposeB: true });
  return intercepts.length === 0 ? y : y.add(floats(intercepts, [intercepts.length]));
};

const linearRegressor: Run = (node) => transformed(node, linearScores(node, node.attrs.int('targets', 1)));

const linearClassifier: OnnxOp = {
  run: (node) => {
    const labels = labelsOf(node, 'classlabels_ints', 'classlabels_strings');
    const count = labels.size;
    const intercepts = node.attrs.floats('intercepts', []);
    const rows = Math.max(1, intercepts.length || count);
    const scores = linearScores(node, rows);
    if (rows === 1 && count === 2) return binary(node, scores, labels);
    return [labelled(labels, scores.argMax(-1)), transformed(node, scores)];
  },
};

/** One score for two classes. */
function binary(node: NodeCall, scores: Tensor, labels: Tensor): readonly Tensor[] {
  const kind = node.attrs.text('post_transform', 'NONE');
  const one = transformed(node, scores);
  const other = kind === 'LOGISTIC' ? one.neg().add(1) : one.neg();
  const chosen = kind === 'LOGISTIC' ? one.greater(0.5) : one.greater(0);
  return [labelled(labels, chosen.cast('int32').reshape([-1])), concat([other, one], -1)];
}

// ---- trees

interface Forest {
  /** For each node: which feature, the threshold, the next nodes; a leaf goes to itself. */
  readonly feature: readonly number[];
  readonly value: readonly number[];
  readonly mode: readonly string[];
  readonly yes: readonly number[];
  readonly no: readonly number[];
  readonly missing: readonly boolean[];
  readonly roots: readonly number[];
  readonly depth: number;
  readonly place: ReadonlyMap<string, number>;
}

function forestOf(node: NodeCall): Forest {
  const { attrs } = node;
  const [trees, ids] = [attrs.ints('nodes_treeids'), attrs.ints('nodes_nodeids')];
  const mode = attrs.texts('nodes_modes');
  const place = new Map(trees.map((tree, i) => [`${tree} ${ids[i]}`, i]));
  const next = (name: string): number[] =>
    attrs
      .ints(name)
      .map((id, i) =>
        mode[i] === 'LEAF'
          ? i
          : (place.get(`${trees[i]} ${id}`) ?? node.fail(`tree ${trees[i]} has no node ${id}`)),
      );
  const [yes, no] = [next('nodes_truenodeids'), next('nodes_falsenodeids')];
  const inner = new Set([...yes, ...no].filter((to, i) => to !== i % yes.length));
  const roots = new Map<number, number>();
  trees.forEach((tree, i) => {
    if (!roots.has(tree) && !inner.has(i)) roots.set(tree, i);
  });
  const feature = attrs.ints('nodes_featureids');
  const value = attrs.floats(
    'nodes_values',
    ids.map(() => 0),
  );
  const missing = attrs
    .ints(
      'nodes_missing_value_tracks_true',
      ids.map(() => 0),
    )
    .map((m) => m === 1);
  for (const list of [ids, mode, yes, no, feature, value, missing])
    if (list.length !== trees.length) node.fail('the lists of nodes are not of one length');
  return {
    feature,
    value,
    mode,
    yes,
    no,
    missing,
    roots: [...roots.values()],
    depth: depthOf(node, [...roots.values()], yes, no),
    place,
  };
}

function depthOf(
  node: NodeCall,
  roots: readonly number[],
  yes: readonly number[],
  no: readonly number[],
): number {
  let level = new Set(roots);
  let depth = 0;
  for (; depth <= yes.length; depth++) {
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
  const value = floats(forest.value, [forest.value.length]);
  const modes = [...new Set(forest.mode.filter((m) => m !== 'LEAF'))];
  const mode = ints(forest.mode.map((m) => Math.max(0, modes.indexOf(m))));
  const missing = forest.missing.some(Boolean) ? constant(forest.missing) : null;
  let at = zerosLike(x.slice([0, 0], [-1, 1]))
    .cast('int32')
    .add(ints(forest.roots).expandDims(0));
  for (let level = 0; level < forest.depth; level++) {
    const seen = gather(x, gather(feature, at), 1, { batchDims: 1 });
    const limit = gather(value, at);
    const tests = modes.map((m) =>
      (compare[m] ?? node.unsupported(`the mode ${m} is not translated`))(seen, limit),
    );
    let goes = tests
      .slice(1)
      .reduce((all, test, i) => where(gather(mode, at).equal(i + 1), test, all), tests[0] as Tensor);
    if (missing !== null) goes = goes.logicalOr(seen.notEqual(seen).logicalAnd(gather(missing, at)));
    at = where(goes, gather(yes, at), gather(no, at));
  }
  return at;
}

/** What leaves add to each class or target: [rows, classes]. */
function treeScores(node: NodeCall, prefix: 'class' | 'target', count: number): Tensor {
  const x = asFloat(node.x());
  const forest = forestOf(node);
  const { attrs } = node;
  const [trees, ids, classes] = ['treeids', 'nodeids', 'ids'].map((n) => attrs.ints(`${prefix}_${n}`)) as [
    number[],
    number[],
    number[],
  ];
  const weights = attrs.floats(`${prefix}_weights`);
  const table = new Float32Array(forest.feature.length * count);
  trees.forEach((tree, i) => {
    const at = forest.place.get(`${tree} ${ids[i]}`) ?? node.fail(`tree ${tree} has no node ${ids[i]}`);
    const to = at * count + (classes[i] as number);
    table[to] = (table[to] as number) + (weights[i] as number);
  });
  const all = gather(
    constant({ data: table, shape: [forest.feature.length, count] }),
    leavesOf(node, x, forest),
  );
  const aggregate = attrs.text('aggregate_function', 'SUM');
  const sum =
    aggregate === 'SUM'
      ? all.sum(1)
      : aggregate === 'AVERAGE'
        ? all.sum(1).div(forest.roots.length)
        : aggregate === 'MAX'
          ? all.max(1)
          : aggregate === 'MIN'
            ? all.min(1)
            : node.fail(`the aggregate_function '${aggregate}' is unknown`);
  const base = attrs.floats('base_values', []);
  return base.length === 0 ? sum : sum.add(floats(base, [base.length]));
}

const treeRegressor: Run = (node) =>
  transformed(node, treeScores(node, 'target', node.attrs.int('n_targets', 1)));

const treeClassifier: OnnxOp = {
  run: (node) => {
    const labels = labelsOf(node, 'classlabels_int64s', 'classlabels_strings');
    const classes = new Set(node.attrs.ints('class_ids'));
    const one = labels.size === 2 && classes.size === 1;
    const scores = treeScores(node, 'class', one ? 1 : labels.size);
    if (!one) return [labelled(labels, scores.argMax(-1)), transformed(node, scores)];
    const kind = node.attrs.text('post_transform', 'NONE');
    const weights = node.attrs.floats('class_weights');
    // Votes from 0 to 1 and no base: a probability.
    if (kind === 'NONE' && weights.every((w) => w >= 0)) {
      const two = concat([scores.neg().add(1), scores], -1);
      return [labelled(labels, scores.greater(0.5).cast('int32').reshape([-1])), two];
    }
    return binary(node, scores, labels);
  },
};

// ---- support vector machines

function kernelOf(node: NodeCall, x: Tensor, vectors: Tensor): Tensor {
  const [gamma, coef0, degree] = [...node.attrs.floats('kernel_params', [0, 0, 3])] as [
    number,
    number,
    number,
  ];
  const products = (): Tensor => x.matmul(vectors, { transposeB: true });
  switch (node.attrs.text('kernel_type', 'LINEAR')) {
    case 'LINEAR':
      return products();
    case 'POLY':
      return products().mul(gamma).add(coef0).pow(degree);
    case 'SIGMOID':
      return products().mul(gamma).add(coef0).tanh();
    case 'RBF': {
      const square = x.square().sum(1, { keepdims: true }).add(vectors.square().sum(1).expandDims(0));
      return square.sub(products().mul(2)).maximum(0).mul(-gamma).exp();
    }
    default:
      return node.unsupported(`the kernel ${node.attrs.text('kernel_type')} is not translated`);
  }
}

const supportRegressor: Run = (node) => {
  const x = asFloat(node.x());
  const count = node.attrs.int('n_supports', 0);
  const coefficients = node.attrs.floats('coefficients');
  const rho = node.attrs.floats('rho')[0] ?? 0;
  if (count === 0)
    return transformed(node, x.matmul(floats(coefficients, [coefficients.length, 1])).add(rho));
  const list = node.attrs.floats('support_vectors');
  const vectors = floats(list, [count, list.length / count]);
  const y = kernelOf(node, x, vectors)
    .matmul(floats(coefficients, [count, 1]))
    .add(rho);
  if (node.attrs.int('one_class', 0) === 1) return where(y.greater(0), 1, -1).cast('float32');
  return transformed(node, y);
};

/** One machine for each pair of classes; the class that wins most often is the label. */
const supportClassifier: Run = (node) => {
  const { attrs } = node;
  const labels = labelsOf(node, 'classlabels_ints', 'classlabels_strings');
  const perClass = attrs.ints('vectors_per_class', []);
  if (perClass.length === 0) node.unsupported('a linear machine without support vectors is not translated');
  if (attrs.floats('prob_a', []).length > 0)
    node.unsupported('probabilities of support vectors are not translated');
  const classes = perClass.length;
  const total = perClass.reduce((a, b) => a + b, 0);
  const list = attrs.floats('support_vectors');
  const k = kernelOf(node, asFloat(node.x()), floats(list, [total, list.length / total]));
  const coefficients = attrs.floats('coefficients');
  const rho = attrs.floats('rho');
  const starts = perClass.map((_, c) => perClass.slice(0, c).reduce((a, b) => a + b, 0));
  const scores: Tensor[] = [];
  const votes: Tensor[][] = range(0, classes).map(() => []);
  for (let a = 0, pair = 0; a < classes; a++)
    for (let b = a + 1; b < classes; b++, pair++) {
      const weights = new Float32Array(total);
      for (let i = 0; i < (perClass[a] as number); i++) {
        const at = (starts[a] as number) + i;
        weights[at] = coefficients[(b - 1) * total + at] as number;
      }
      for (let i = 0; i < (perClass[b] as number); i++) {
        const at = (starts[b] as number) + i;
        weights[at] = coefficients[a * total + at] as number;
      }
      const score = k.matmul(constant({ data: weights, shape: [total, 1] })).add(rho[pair] as number);
      scores.push(score);
      votes[a]?.push(score.greater(0).cast('float32'));
      votes[b]?.push(score.greater(0).logicalNot().cast('float32'));
    }
  const won = votes.map((v) => v.reduce((x, y) => x.add(y)));
  const all = concat(won, 1);
  const found = labelled(labels, all.argMax(1));
  if (classes > 2) node.unsupported('the scores of more than two classes are not translated');
  const [score] = scores as [Tensor];
  return [found, concat([score.neg(), score], 1)];
};

// ---- features

const scaler: Run = (node) => {
  const x = asFloat(node.x());
  const [offset, scale] = [node.attrs.floats('offset', [0]), node.attrs.floats('scale', [1])];
  return x.sub(floats(offset, [offset.length])).mul(floats(scale, [scale.length]));
};

const normalizer: Run = (node) => {
  const x = asFloat(node.x());
  const kind = node.attrs.text('norm', 'MAX');
  const axis = x.rank - 1;
  const size =
    kind === 'L1'
      ? x.abs().sum(axis, { keepdims: true })
      : kind === 'L2'
        ? x.square().sum(axis, { keepdims: true }).sqrt()
        : x.max(axis, { keepdims: true });
  return where(size.equal(0), x, x.divNoNan(size));
};

const imputer: Run = (node) => {
  const x = node.x();
  const byFloat = x.dtype.startsWith('float');
  const values = byFloat
    ? floats(node.attrs.floats('imputed_value_floats'), [node.attrs.floats('imputed_value_floats').length])
    : constant(node.attrs.bigints('imputed_value_int64s'), 'int64').reshape([-1]).cast(x.dtype);
  const replaced = byFloat
    ? node.attrs.float('replaced_value_float', 0)
    : Number(node.attrs.bigints('replaced_value_int64', [0n])[0] ?? 0n);
  const missing = Number.isNaN(replaced) ? x.notEqual(x) : x.equal(replaced);
  return where(missing, values.cast(x.dtype), x);
};

const encoder: OnnxOp = {
  eager: true,
  run: (node) => {
    const { attrs } = node;
    const x = node.x();
    const kinds = ['int64s', 'floats', 'strings'] as const;
    const list = (side: string): readonly (string | number | bigint)[] => {
      const kind = kinds.find((k) => attrs.has(`${side}_${k}`));
      if (kind === 'int64s') return attrs.bigints(`${side}_int64s`);
      if (kind === 'floats') return attrs.floats(`${side}_floats`);
      if (kind === 'strings') return attrs.texts(`${side}_strings`);
      return attrs.has(`${side}_tensor`)
        ? valuesIn(attrs.tensor(`${side}_tensor`))
        : node.unsupported(`there are no ${side}`);
    };
    const [keys, values] = [list('keys'), list('values')];
    const map = new Map(keys.map((key, i) => [String(key), values[i]]));
    const text = typeof values[0] === 'string';
    const big = typeof values[0] === 'bigint';
    const otherwise = attrs.has('default_tensor')
      ? valuesIn(attrs.tensor('default_tensor'))[0]
      : text
        ? attrs.text('default_string', '_Unused')
        : big
          ? BigInt(attrs.int('default_int64', -1))
          : attrs.float('default_float', 0);
    const found = valuesIn(x).map((v) => map.get(String(v)) ?? otherwise);
    const dtype = text ? 'string' : big ? 'int64' : 'float32';
    const y = constant(found as string[], dtype as 'string').reshape(x.shape);
    return attrs.has('values_tensor') && !text ? y.cast(attrs.tensor('values_tensor').dtype) : y;
  },
};
const valuesIn = (x: Tensor): (string | number | bigint)[] =>
  x.dtype === 'string' ? x.strings() : Array.from(elements(x));

const hot: OnnxOp = {
  eager: true,
  run: (node) => {
    const x = node.x();
    const texts = node.attrs.texts('cats_strings', []);
    const cats: readonly (string | bigint)[] = texts.length > 0 ? texts : node.attrs.bigints('cats_int64s');
    const place = new Map(cats.map((c, i) => [String(c), i]));
    const rows = valuesIn(x).map((v) => place.get(String(typeof v === 'number' ? Math.trunc(v) : v)) ?? -1);
    if (rows.includes(-1) && node.attrs.int('zeros', 1) === 0) node.fail('a value is of no category');
    const data = new Float32Array(rows.length * cats.length);
    rows.forEach((at, i) => {
      if (at >= 0) data[i * cats.length + at] = 1;
    });
    return constant({ data, shape: [...x.shape, cats.length] });
  },
};

const zipped: OnnxOp = {
  eager: true,
  run: (node) => {
    const x = node.x();
    const names = node.attrs.texts('classlabels_strings', []);
    const keys: readonly (string | number)[] =
      names.length > 0 ? names : node.attrs.ints('classlabels_int64s');
    const data = elements(x);
    const maps = range(0, x.shape[0] as number).map(
      (row): ClassMap => new Map(keys.map((key, i) => [key, Number(data[row * keys.length + i])])),
    );
    return new Results(maps);
  },
};

export const ml: OpTable = {
  ArrayFeatureExtractor: (node) => {
    const x = node.x();
    return gather(x.rank === 1 ? x.expandDims(0) : x, node.x(1).reshape([-1]), -1);
  },
  Binarizer: (node) => node.x().greater(node.attrs.float('threshold', 0)).cast(node.x().dtype),
  FeatureVectorizer: (node) => {
    return concat(
      node.all().map((x) => asFloat(x.rank === 1 ? x.expandDims(0) : x)),
      1,
    );
  },
  Imputer: imputer,
  LabelEncoder: encoder,
  LinearClassifier: linearClassifier,
  LinearRegressor: linearRegressor,
  Normalizer: normalizer,
  OneHotEncoder: hot,
  SVMClassifier: supportClassifier,
  SVMRegressor: supportRegressor,
  Scaler: scaler,
  TreeEnsembleClassifier: treeClassifier,
  TreeEnsembleRegressor: treeRegressor,
  ZipMap: zipped,
};
