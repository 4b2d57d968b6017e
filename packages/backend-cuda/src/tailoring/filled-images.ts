// Images of 16 bits whose channels tensor cores cannot bring, as those of photographs, filled up with zeros by the cast that makes them: not by a copy for each convolution.
import { isHalf, type Plan, type PlanCall, type PlanTensor, Uses } from '@eagre/backend';
import { filledConvolution, type Instead, pitchedLines } from '@eagre/gpu-kernels';
import { type Gpu, isCastOf, type MakeOwn } from './plans.ts';

export function fillImages(plan: Plan, make: MakeOwn, gpu: Gpu): Plan {
  const uses = new Uses(plan);
  const bytes = [...plan.bytes];
  const instead = new Map<number, PlanCall>();
  plan.calls.forEach((call, at) => {
    const [image] = call.outputs;
    if (!isCastOf(call) || !isHalf(image.dtype) || !uses.isTemporary(image.value)) return;
    const readers = uses.readers[image.value].map((reader) => ({
      at: reader,
      call: plan.calls[reader],
      made: filled(plan.calls[reader], image, gpu),
    }));
    const channels = readers[0]?.made?.channels;
    if (channels === undefined || readers.some(({ made }) => made?.channels !== channels)) return;
    const [, , , run] = readers[0].call.inputs[0].shape;
    const lines = image.size / run;
    const whole = (shape: readonly number[]): PlanTensor => ({
      ...image,
      shape: [...shape.slice(0, -1), channels],
      size: lines * channels,
    });
    bytes[image.value] = 2 * lines * channels;
    const copy = pitchedLines(call.inputs[0].dtype, image.dtype, lines, run);
    const output = whole([lines, run]);
    instead.set(
      at,
      make({ inputs: call.inputs, outputs: [output], name: call.name }, 'an elementwise function', copy),
    );
    for (const { at: place, call: reader, made } of readers) {
      const [x, ...others] = reader.inputs;
      const { outputs, name } = reader;
      const given = { inputs: [whole(x.shape), ...others], outputs, name };
      const lowered = { dispatches: [], scratch: [], instead: made?.instead };
      instead.set(place, make(given, reader.kernel as string, lowered));
    }
  });
  return { ...plan, bytes, calls: plan.calls.map((call, at) => instead.get(at) ?? call) };
}

/** What a call runs that reads an image filled up. */
function filled(
  call: PlanCall,
  image: PlanTensor,
  gpu: Gpu,
): { readonly channels: number; readonly instead: Instead } | undefined {
  const { kernel, inputs } = call;
  if (kernel !== 'Conv2D' && kernel !== 'Conv2DBackpropFilter') return undefined;
  if (inputs.some(({ value }, i) => (value === image.value) !== (i === 0))) return undefined;
  const made = filledConvolution(kernel === 'Conv2DBackpropFilter', call);
  const instead = made?.cuda?.(gpu.capability);
  if (made === undefined || instead === undefined || !gpu.runs(instead)) return undefined;
  return { channels: made.channels, instead };
}
