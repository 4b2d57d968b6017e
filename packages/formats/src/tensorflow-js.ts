/** Files of TensorFlow.js, apart from the others: few programs read them, and an import takes as long as its source is to parse. */
export { fromProtoJson, type Json, toProtoJson } from './protobuf/json-format.ts';
export {
  beginsAsJson,
  parseTfjsModel,
  readTfjsModel,
  readTfjsWeights,
  TFJS_MODEL_FILE,
  type TfjsModel,
  tfjsWeightsPath,
} from './tensorflow-js/model-json.ts';
export {
  decodeWeightGroup,
  parseWeightsManifest,
  type TfjsDType,
  type TfjsQuantization,
  type TfjsWeight,
  type TfjsWeightGroup,
} from './tensorflow-js/weights.ts';
export { encodeTfjsModel, type TfjsArray } from './tensorflow-js/write-model.ts';
