import { expect, test } from 'vitest';
import { OP_DEFS } from '../../../../graph/src/interchange/op-defs.ts';
import { goldenFile } from '../../testing/golden.ts';
import { translatedOps } from './index.ts';
import { whyNot } from './untranslated.ts';

const { ops } = goldenFile<{ readonly ops: Readonly<Record<string, readonly string[]>> }>('ops');

test('every op of TensorFlow is translated, or there is a reason why it is not', () => {
  const translated = translatedOps();
  const neither = Object.keys(ops).filter((op) => !translated.has(op) && whyNot(op) === undefined);
  expect(neither).toEqual([]);
  expect(Object.keys(ops).length).toBeGreaterThan(1500);
  expect(whyNot('FancySoftmax')).toBe(undefined);
});

test('the list of ops in docs/saved-model-ops.md', async () => {
  const translated = translatedOps();
  const names = Object.keys(ops).sort();
  const read = names.filter((op) => translated.has(op));
  const byReason = new Map<string, string[]>();
  for (const op of names.filter((op) => !translated.has(op))) {
    const why = whyNot(op) as string;
    byReason.set(why, [...(byReason.get(why) ?? []), op]);
  }
  const lines = [...byReason]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([why, missing]) => `- ${why}: ${missing.join(', ')}`);
  const text = `# Ops of TensorFlow

What [SavedModels](saved-models.md) and frozen graphs may hold, of the ops of TensorFlow 2.21. \`packages/saved-model/src/import/ops/registry.test.ts\` writes these lists.

## Read

${read.length} of ${names.length} ops are read: ${read.join(', ')}.

## Not read

Each is an \`UnimplementedError\` that says why, while loading, or, with \`lazy: true\`, where it would run.

${lines.join('\n')}
`;
  await expect(text).toMatchFileSnapshot('../../../../../docs/saved-model-ops.md');
});

test('translated ops are ops of TensorFlow, with its outputs', () => {
  for (const [name, { outputs }] of translatedOps()) {
    const own = ops[name];
    // Made by TensorFlow's graph optimizer and by graphs of functions.
    if (own === undefined) expect(name, name).toMatch(/^_/);
    else expect(outputs ?? own.slice(0, 1), name).toEqual(own.length > 1 ? own : own.slice(0, 1));
  }
});

// What the exports of Keras's layers and applications, TensorFlow's tutorials and frozen detectors without their last step are made of.
const COMMON =
  `Abs Add AddN AddV2 All Any ArgMax ArgMin AssignAddVariableOp AssignSubVariableOp AssignVariableOp AvgPool AvgPool3D BatchMatMulV2
BatchToSpaceND BiasAdd BroadcastTo Bucketize Cast Ceil ClipByValue Concat ConcatV2 Const Conv2D Conv2DBackpropInput Conv3D Conv3DBackpropInputV2 Cos
Cumsum DenseBincount DepthToSpace DepthwiseConv2dNative DivNoNan Einsum Elu Enter Equal Erf Erfc Exp ExpandDims ExtractImagePatches Fill Floor FloorDiv
FloorMod FusedBatchNormV3 Gather GatherNd GatherV2 Greater GreaterEqual HashTableV2 Identity IdentityN If InitializeTableFromTextFileV2 IsFinite IsInf
IsNan L2Loss LeakyRelu Less LessEqual LinSpace Log Log1p LogSoftmax LogicalAnd LogicalNot LogicalOr LookupTableFindV2 LookupTableImportV2 LookupTableSizeV2
LoopCond MatMul MatrixBandPart MatrixDiagV3 MatrixSetDiagV3 Max MaxPool MaxPool3D Maximum Mean Min Minimum MirrorPad Mul Neg NoOp NotEqual OneHot OnesLike Pack
Pad PadV2 PartitionedCall Placeholder PlaceholderWithDefault Pow Prod RaggedTensorToTensor Range Rank ReadVariableOp RealDiv Reciprocal Relu Relu6 Reshape
ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor ResourceGather ReverseSequence ReverseV2 Roll Round Rsqrt ScatterNd Select SelectV2 Selu Shape
ShapeN Sigmoid Sign Sin Size Slice Softmax Softplus Softsign SpaceToBatchND SpaceToDepth SparseSoftmaxCrossEntropyWithLogits Split SplitV Sqrt Square
SquaredDifference Squeeze StatefulPartitionedCall StatelessIf StatelessRandomGetKeyCounter StatelessRandomUniformV2 StatelessWhile StaticRegexReplace
StopGradient StridedSlice StringLower StringSplitV2 Sub Sum Switch Tanh TensorArrayGatherV3 TensorArrayReadV3 TensorArrayScatterV3 TensorArrayV3
TensorArrayWriteV3 TensorListFromTensor TensorListGetItem TensorListPushBack TensorListReserve TensorListSetItem TensorListStack TensorScatterUpdate Tile TopKV2
Transpose TruncatedNormal Unpack UnsortedSegmentMax UnsortedSegmentSum VarHandleOp VariableV2 Where While Xdivy ZerosLike`.split(
    /\s+/,
  );

test('the ops that common models use are translated', () => {
  const translated = translatedOps();
  expect(COMMON.filter((op) => !translated.has(op))).toEqual([]);
  expect(COMMON.filter((op) => ops[op] === undefined)).toEqual([]);
});

// What writes checkpoints, which no function of a model calls; and ops that are in the list because their names are words of the writer.
const NEVER_READ: ReadonlySet<string> = new Set(
  'SaveV2 Batch Copy None SelfAdjointEig Stage TensorArray Unary'.split(' '),
);

test('every op that Eagre writes into graphs is translated back', () => {
  const translated = translatedOps();
  const written = OP_DEFS.trim()
    .split('\n')
    .map((line) => /^\w+/.exec(line)?.[0] ?? '');
  expect(written.filter((op) => !translated.has(op) && !NEVER_READ.has(op))).toEqual([]);
  expect(written.length).toBeGreaterThan(250);
});
