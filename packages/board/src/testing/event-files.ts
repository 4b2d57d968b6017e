import { encodeRecord, tensorflow } from '@eagre/formats';

type Value = tensorflow.SummaryValue;

/** The bytes of an event file with these events. */
export function eventFile(events: readonly tensorflow.Event[]): Uint8Array {
  return Buffer.concat(events.map((event) => encodeRecord(tensorflow.Event.encode(event))));
}

export const event = (step: number, ...value: Value[]): tensorflow.Event => ({
  wall_time: 1_700_000_000 + step,
  step,
  summary: { value },
});

/** As TensorFlow 2 writes one. */
export const scalar = (tag: string, value: number): Value => ({
  tag,
  tensor: {
    dtype: 1,
    tensor_shape: {},
    tensor_content: new Uint8Array(Float32Array.of(value).buffer),
  },
  metadata: { plugin_data: { plugin_name: 'scalars' } },
});
