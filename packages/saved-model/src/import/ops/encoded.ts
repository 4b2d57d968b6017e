// Values in bytes: pictures, sounds, base64, compressed bytes, tensors as messages. Strings are on the host.
import { textOf } from '@eagre/core/internal';
import * as io from '@eagre/data/internal';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several } from '../op-row.ts';
import { known } from './strings.ts';

const channels = <C>(c: OpCall): C => c.intAttr('channels', 0) as C;
const jpegOptions = (c: OpCall): io.DecodeJpegOptions => ({
  fancyUpscaling: c.boolAttr('fancy_upscaling', true),
  tryRecoverTruncated: c.boolAttr('try_recover_truncated', false),
  ratio: c.intAttr('ratio', 1) as 1,
  acceptableFraction: c.floatAttr('acceptable_fraction', 1),
  dctMethod: c.textAttr('dct_method', '') as '',
});

/** The descriptors of messages, which a node has in itself. */
function descriptors(c: OpCall): Uint8Array {
  const source = c.bytesAttr('descriptor_source');
  if (textOf(source.subarray(0, BYTES.length)) !== BYTES)
    throw c.lacks(
      'the descriptors of its messages are not in the node: they are in TensorFlow, or in a file of another machine',
    );
  return source.subarray(BYTES.length);
}
const BYTES = 'bytes://';

export const encoded: OpTable = {
  DecodeJpeg: (c) => io.decodeJpeg(known(c, 0), channels<0 | 1 | 3>(c), jpegOptions(c)),
  DecodePng: (c) =>
    io.decodePng(known(c, 0), channels<0 | 1 | 3 | 4>(c), c.dtypeAttr('dtype', 'uint8') as 'uint8'),
  DecodeWebP: (c) =>
    io.decodeWebp(known(c, 0), channels<0 | 3 | 4>(c), c.dtypeAttr('dtype', 'uint8') as 'uint8'),
  DecodeCSV: several(['output'], (c) => [
    ...io.decodeCsv(c.x(0), c.xs(1), {
      fieldDelim: c.textAttr('field_delim', ','),
      useQuoteDelim: c.boolAttr('use_quote_delim', true),
      naValue: c.textAttr('na_value', ''),
      ...(c.intsAttr('select_cols', []).length > 0 ? { selectCols: c.intsAttr('select_cols') } : {}),
    }),
  ]),
  DecodeBmp: (c) => io.decodeBmp(known(c, 0), channels<0 | 3 | 4>(c)),
  DecodeGif: (c) => io.decodeGif(known(c, 0)),
  DecodeImage: (c) =>
    io.decodeImage(known(c, 0), channels<0 | 1 | 3 | 4>(c), c.dtypeAttr('dtype', 'uint8'), {
      expandAnimations: c.boolAttr('expand_animations', true),
    }),
  DecodeAndCropJpeg: (c) =>
    io.decodeAndCropJpeg(known(c, 0), c.ints(1), channels<0 | 1 | 3>(c), jpegOptions(c)),
  ExtractJpegShape: (c) => io.extractJpegShape(known(c, 0), c.dtypeAttr('output_type', 'int32') as 'int32'),
  EncodePng: (c) => io.encodePng(known(c, 0), c.intAttr('compression', -1)),
  EncodeJpeg: (c) =>
    io.encodeJpeg(known(c, 0), c.textAttr('format', '') as '', c.intAttr('quality', 95), {
      progressive: c.boolAttr('progressive', false),
      optimizeSize: c.boolAttr('optimize_size', false),
      chromaDownsampling: c.boolAttr('chroma_downsampling', true),
      densityUnit: c.textAttr('density_unit', 'in') as 'in',
      xDensity: c.intAttr('x_density', 300),
      yDensity: c.intAttr('y_density', 300),
      xmpMetadata: c.textAttr('xmp_metadata', ''),
    }),
  EncodeJpegVariableQuality: (c) => io.encodeJpeg(known(c, 0), '', c.int(1)),
  DecodeWav: several(['audio', 'sample_rate'], (c) =>
    io.decodeWav(known(c, 0), c.intAttr('desired_channels', -1), c.intAttr('desired_samples', -1)),
  ),
  EncodeWav: (c) => io.encodeWav(known(c, 0), c.int(1)),
  DecodeBase64: (c) => io.decodeBase64(known(c, 0)),
  EncodeBase64: (c) => io.encodeBase64(known(c, 0), c.boolAttr('pad', false)),
  DecodeCompressed: (c) => io.decodeCompressed(known(c, 0), c.textAttr('compression_type', '') as ''),
  DecodeJSONExample: (c) => io.decodeJsonExample(known(c, 0)),
  DecodeProtoV2: {
    outputs: ['sizes', 'values'],
    run: (c) => {
      const messageFormat = c.textAttr('message_format', 'binary') as 'binary';
      const { sizes, values } = io.decodeProto(
        known(c, 0),
        c.textAttr('message_type'),
        c.textsAttr('field_names'),
        c.dtypesAttr('output_types'),
        { descriptorSource: descriptors(c), messageFormat, sanitize: c.boolAttr('sanitize', false) },
      );
      return [sizes, ...values];
    },
  },
  EncodeProto: (c) =>
    io.encodeProto(
      known(c, 0),
      c.xs(1).map((_, i) => known(c, i + 1)),
      c.textsAttr('field_names'),
      c.textAttr('message_type'),
      { descriptorSource: descriptors(c) },
    ),
  ParseTensor: (c) => io.parseTensor(known(c, 0), c.dtypeAttr('out_type')),
  SerializeTensor: (c) => io.serializeTensor(known(c, 0)),
};
