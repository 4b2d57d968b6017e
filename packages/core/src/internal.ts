/** What Eagre's other packages build on. No promise is made to anyone else: names here change without notice. */

export { fileError, Philox } from '@eagre/backend';
export type { IntegerLike, IntegersLike, ShapeLike } from './arguments/argument-kinds.ts';
export * as kind from './arguments/argument-kinds.ts';
export {
  type Arguments,
  type Declared,
  declareAs,
  declared,
  defineFunction,
  defineMethods,
  defineVariadic,
  type Kind,
  type MethodArguments,
  type NamedFunction,
  worksByElement,
} from './arguments/arguments.ts';
export { Callable, callable, showFields } from './arguments/callable.ts';
export {
  checkCount,
  checkFunction,
  checkLevel,
  checkNoPromise,
  checkNumber,
  checkOneOf,
  checkPath,
  checkText,
  isClass,
  naming,
  shown,
} from './arguments/checks.ts';
export {
  argumentsOf,
  declaredClasses,
  type Parameters,
  parametersOf,
  takesArguments,
  withoutUnused,
} from './arguments/class-arguments.ts';
export {
  customClass,
  customObject,
  customObjects,
  enterCustomObjects,
  type RegisterOptions,
  registeredName,
  registerKerasSerializable,
} from './arguments/custom-names.ts';
export {
  checkOptionNames,
  nearestHint,
  nearestName,
  type OptionNames,
  unknownName,
} from './arguments/option-names.ts';
export { isPlain, unseen } from './arguments/plain.ts';
export { isRefusedPromise } from './arguments/promises.ts';
export {
  anyOption,
  checkConfig,
  configOf,
  flagOption,
  integerOption,
  nameOption,
  numberOption,
  type Option,
  optionsFrom,
  orNull,
  type Schema,
  type SerializedObject,
  serializedObject,
  setOptions,
  takesOptions,
  valuesOf,
} from './arguments/schema.ts';
export {
  classOf,
  type Deserialize,
  defineDeserialize,
  defineSerialize,
  type Serialized,
} from './arguments/serialized.ts';
export { type Call, CompositeTensor, isComposite } from './composite/composite.ts';
export { crossedBins } from './composite/crosses.ts';
export {
  type ApiSignature,
  type ArgumentType,
  dispatchForApi,
  dispatchForBinaryElementwiseApis,
  dispatchForBinaryElementwiseAssertApis,
  dispatchForUnaryElementwiseApis,
  unregisterDispatchFor,
} from './composite/dispatchers.ts';
export {
  isRagged,
  lengthsOf,
  makeRagged,
  makeSparse,
  raggedFromTensor,
  splitsOfLengths,
  toRaggedOrDense,
} from './composites.ts';
export { ambient, computingAsHere, keepingAmbient, notAtRest, standingAlone } from './dispatch/ambient.ts';
export { autocast } from './dispatch/autocast.ts';
export { checkValues, integersOf } from './dispatch/checked-values.ts';
export {
  type Context,
  context,
  currentBackend,
  deviceName,
  eagerBackend,
  fromOneLine,
  inContext,
  inGraphScope,
  inInitScope,
  override,
  scoped,
  type TapeObserver,
  type TensorTracker,
  type Tracer,
  within,
  withoutTapes,
} from './dispatch/context.ts';
export { findDevice, onBackend, threads } from './dispatch/device.ts';
export {
  type DeviceMemory,
  type DevicePolicy,
  enableOpDeterminism,
  enableTensorFloat32Execution,
  getDeviceDetails,
  getDevicePolicy,
  getMemoryGrowth,
  getMemoryInfo,
  getMemoryUsage,
  getVisibleDevices,
  resetMemoryStats,
  setDevicePolicy,
  setMemoryGrowth,
  setVisibleDevices,
  tensorFloat32ExecutionEnabled,
} from './dispatch/device-settings.ts';
export {
  alikeInReplicas,
  type DistributionReplica,
  type DistributionStrategy,
  distribution,
  type StateSharding,
  type StepScheduler,
  scaleLoss,
  unscaleLoss,
  type VariableHome,
  type VariableRequest,
} from './dispatch/distribution.ts';
export { graphLoops } from './dispatch/graph-loops.ts';
export { atRunTime, callHost, type PortableForm } from './dispatch/host.ts';
export { methodNames, methods } from './dispatch/install.ts';
export {
  type Attrs,
  copyTo,
  defineBinary,
  defineElementwise,
  defineOp,
  defineUnary,
  dtypeOf,
  execute,
  execute1,
  GradContext,
  type GradFn,
  isElementwise,
  kernelFor,
  listOps,
  Op,
  type OpSpec,
  opHooks,
  pair,
  recordOnTapes,
  sumTo,
  toBackend,
  withOpName,
} from './dispatch/op.ts';
export {
  type PortableCall,
  PortableOp,
  portable,
  portableEach,
  portableOpOf,
  type TypedAttr,
  tracesForFile,
} from './dispatch/portable.ts';
export { profiling } from './dispatch/profiling.ts';
export { RecentMap } from './dispatch/recent-map.ts';
export type { Sample, SampleInput } from './dispatch/samples.ts';
export {
  type KernelRecorder,
  knownTensor,
  type SymbolicDraw,
  symbolic,
  symbolically,
  symbolicTensor,
} from './dispatch/symbolic.ts';
export * from './index.ts';
export { type KeyIndex, keyIndexOf } from './lookup/key-index.ts';
export { portableBins, portableCross, portableFind } from './lookup/portable-lookups.ts';
export {
  columnOfLines,
  itemsOf,
  LookupTable,
  linesOf,
  type TableItem,
  tensorOfItems,
} from './lookup/table-items.ts';
export { type TableFile, TableResource, tableOf } from './lookup/table-resource.ts';
export { tableView } from './lookup/table-view.ts';
export { Asset } from './module/asset.ts';
export { lazily, lazyObject } from './module/lazily.ts';
export { camelCaseKeys, snakeCase } from './module/module.ts';
export { loadVariables, saveVariables } from './module/own-variables.ts';
export { gatherOp, scatterRows } from './ops/array/gathering.ts';
export { parseIndex } from './ops/array/index-item.ts';
export { iota } from './ops/array/iota.ts';
export { getRow, setRow } from './ops/array/list.ts';
export { unraveled } from './ops/array/partition.ts';
export { namesRange } from './ops/array/run-index.ts';
export { cropped, surrounded } from './ops/image/placing.ts';
export { resizeBatch, sumOfSpans } from './ops/image/resize.ts';
export { homography, projected, sampled } from './ops/image/warp.ts';
export { choleskyOf, factored, inverseOrder, qrOf, substituted } from './ops/linalg/factors.ts';
export { fusedMatMul } from './ops/linalg/products.ts';
export {
  defaultShare,
  determinantOf,
  inverseOf,
  pseudoInverse,
  slogdetOf,
  solved,
} from './ops/linalg/solutions.ts';
export { causalMask } from './ops/nn/attention.ts';
export { fusedConvolution } from './ops/nn/conv.ts';
export { denseLabels } from './ops/nn/ctc-decode.ts';
export { pooledBy } from './ops/nn/fractional-pooling.ts';
export { rnnGradients, runGru, runLstm } from './ops/nn/rnn.ts';
export { bucketsOf, hashedTexts, setBuckets } from './ops/strings/buckets.ts';
export { bytesOf, compareTexts, textOf } from './ops/strings/bytes.ts';
export { integersOfStrings } from './ops/strings/convert.ts';
export { fingerprint64, keyedHash } from './ops/strings/hashes.ts';
export { knownStrings, onKnown, toStrings, toText } from './ops/strings/known-strings.ts';
export { numberOf } from './ops/strings/numbers.ts';
export { ngramsOf, words } from './ops/strings/parts.ts';
export { expressionOf } from './ops/strings/re2.ts';
export { numbersOf as integersAsNumbers } from './ops/strings/rows.ts';
export { lowerAscii } from './ops/strings/text.ts';
export { eachUtf8, type Utf8 } from './ops/strings/utf8.ts';
export {
  type AxisLength,
  DynamicRaggedShape,
  type DynamicRaggedShapeOptions,
  type FromLengthsOptions,
} from './ragged/dynamic-shape.ts';
export { RowPartition } from './ragged/partition-class.ts';
export {
  type Distribution,
  drawCandidates,
  LearnedClasses,
  logUniformClasses,
  uniformClasses,
  weightedClasses,
} from './random/candidates.ts';
export {
  type Draw,
  type Drawn,
  type DrawSource,
  drawing,
  drawWords,
  isDrawSource,
  writeDraw,
} from './random/draws.ts';
export { logGamma } from './random/gamma.ts';
export { StreamGenerator } from './random/random.ts';
export { determinism, seeds } from './random/seeds.ts';
export {
  drawn,
  fullIntOp,
  gammaOp,
  integerOp,
  type KeyAndCounter,
  keyAndCounter,
  normalOp,
  shuffledRows,
  truncatedOp,
  uniformOp,
} from './random/stateless-ops.ts';
export { findDropped, whenDropped } from './scopes/dropped.ts';
export { type KerasDefaults, kerasDefaults, wideFloatx } from './scopes/keras-defaults.ts';
export { forEachTensor, inScope, isKept, outsideScopes } from './scopes/scope.ts';
export * from './shapes/dim.ts';
export * from './shapes/dims.ts';
export {
  broadcastDims,
  broadcastShapes,
  checkFlag,
  checkList,
  checkPartialShape,
  checkShape,
  isCompatible,
  normalizeAxes,
  normalizeAxis,
  reducedShape,
  sameShape,
  showShape,
  sizeOf,
} from './shapes/shape.ts';
export * from './shapes/shape-env.ts';
export { checkSize, differs, endsInOne, hostDims, shapesAgree, sizeValue } from './shapes/sizes.ts';
export { sparseCrosses } from './sparse/cross.ts';
export { columnOf } from './sparse/sparse-base.ts';
export { bytesIn, byteTensor } from './tensor/byte-strings.ts';
export { complexAt, complexText } from './tensor/complex-numbers.ts';
export { advice, isSharedScalar, toOwnTensor, toTensor } from './tensor/convert.ts';
export {
  checkDType,
  checkDTypeName,
  type DTypeGroup,
  hasGradient,
  isFloating,
  isInteger,
} from './tensor/dtypes.ts';
export { adopt, refillVariables, UnfilledValues, type VariableSpec } from './tensor/filled-variables.ts';
export { roundingTo, showInConsole } from './tensor/format.ts';
export { whileHolding } from './tensor/held-values.ts';
export { checkListSize } from './tensor/list-size.ts';
export { carryLogits, logitsFor, noteLogits } from './tensor/logits.ts';
export { maskOf, masksInUse, setMask, useMasks } from './tensor/masks.ts';
export { noValue, outOfScope, SymbolicStorage, type TensorOwner } from './tensor/no-value.ts';
export {
  aliasTensor,
  checkAlive,
  emptyTensor,
  hostValues,
  setValues,
  spaceOf,
  stringTensor,
  textsOf,
  uploaded,
  viewOf,
} from './tensor/tensor.ts';
export { copyBytes, copyTensor, type SparseDelta, scaledRows, variableIn } from './tensor/variable.ts';
export * as tree from './tree/tree.ts';
