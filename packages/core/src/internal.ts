/** What Eagre's other packages build on. No promise is made to anyone else: names here change without notice. */

export { ambient, keepingAmbient, notAtRest, standingAlone } from './ambient.ts';
export type { IntegerLike, IntegersLike, ShapeLike } from './argument-kinds.ts';
export * as kind from './argument-kinds.ts';
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
  nameFunctions,
} from './arguments.ts';
export { Callable, callable, showFields } from './callable.ts';
export {
  checkCount,
  checkFunction,
  checkLevel,
  checkNoPromise,
  checkNumber,
  checkOneOf,
  checkPath,
  checkText,
  shown,
} from './checks.ts';
export {
  argumentsOf,
  type Parameters,
  parametersOf,
  takesArguments,
  withoutUnused,
} from './class-arguments.ts';
export {
  type Context,
  context,
  currentBackend,
  fromOneLine,
  hostBackend,
  inContext,
  inGraphScope,
  lifted,
  override,
  scoped,
  type TapeObserver,
  type TensorTracker,
  type Tracer,
  within,
  withoutTapes,
} from './context.ts';
export { advice, isSharedScalar, toOwnTensor, toTensor } from './convert.ts';
export {
  customClass,
  customObject,
  customObjects,
  enterCustomObjects,
  type RegisterOptions,
  registeredName,
  registerKerasSerializable,
} from './custom-names.ts';
export { threads } from './device.ts';
export { type Draw, type DrawSource, drawWords, isDrawSource, writeDraw } from './draws.ts';
export { findDropped, whenDropped } from './dropped.ts';
export { checkDType, checkDTypeName, type DTypeGroup, isFloating, isInteger } from './dtypes.ts';
export { roundingTo, showInConsole } from './format.ts';
export { atRunTime, callHost } from './host.ts';
export { methodNames } from './install.ts';
export { checkListSize } from './list-size.ts';
export { camelCaseKeys, snakeCase } from './module.ts';
export { noValue, outOfScope, SymbolicStorage, type TensorOwner } from './no-value.ts';
export {
  type Attrs,
  defineBinary,
  defineElementwise,
  defineOp,
  defineUnary,
  execute,
  execute1,
  GradContext,
  type GradFn,
  isElementwise,
  kernelFor,
  listOps,
  named,
  Op,
  type OpSpec,
  onBackend,
  pair,
  sumTo,
  tell,
  transfer,
} from './op.ts';
export { causalMask } from './ops/attention.ts';
export { fusedConv2d } from './ops/conv.ts';
export { getRow, setRow } from './ops/list.ts';
export { fusedMatMul } from './ops/products.ts';
export { runGru, runLstm } from './ops/rnn.ts';
export { checkOptionNames, nearestName, type OptionNames, unknownName } from './option-names.ts';
export { isPlain, unseen } from './plain.ts';
export { isRefusedPromise } from './promises.ts';
export { RecentMap } from './recent-map.ts';
export { type RowLoop, rowLoop } from './row-loop.ts';
export type { Sample, SampleInput } from './samples.ts';
export {
  anyOption,
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
} from './schema.ts';
export { forEachTensor, inScope, isKept, outsideScopes } from './scope.ts';
export { seeds } from './seeds.ts';
export {
  classOf,
  type Deserialize,
  defineDeserialize,
  defineSerialize,
  type Serialized,
} from './serialized.ts';
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
} from './shape.ts';
export * from './shapes/dim.ts';
export * from './shapes/dims.ts';
export * from './shapes/shape-env.ts';
export { differs, endsInOne, hostDims, shapesAgree, sizeValue } from './sizes.ts';
export {
  knownTensor,
  type Sink,
  type SymbolicDraw,
  symbolic,
  symbolically,
  symbolicTensor,
} from './symbolic.ts';
export { aliasTensor, emptyTensor, hostValues, setValues, spaceOf, uploaded, viewOf } from './tensor.ts';
export * as tree from './tree/tree.ts';
export { copyBytes, own } from './variable.ts';
