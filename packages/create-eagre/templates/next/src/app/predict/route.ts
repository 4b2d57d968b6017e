import * as tf from 'eagre';
import { createModel, decide } from '../../model.ts';
import { spirals } from '../../spirals.ts';

/** Trained once, by the first request. A program of your own would load a model: `tf.keras.models.loadModel(…)`. */
let trained: Promise<tf.Sequential> | undefined;

async function train(): Promise<tf.Sequential> {
  const { points, labels } = spirals(3000);
  const model = createModel();
  await model.fit(points, labels, { epochs: 10, batchSize: 64, verbose: 0 });
  return model;
}

/** `{ point: [x, y] }` → `{ arm, backend }`; the arm is -1 where the model is not sure. */
export async function POST(request: Request): Promise<Response> {
  const { point } = (await request.json().catch(() => ({}))) as { point?: unknown };
  if (!Array.isArray(point) || point.length !== 2 || !point.every(Number.isFinite))
    return Response.json({ error: 'point: give two numbers' }, { status: 400 });
  trained ??= train();
  const arm = decide(await trained, tf.constant(point, 'float32')).item();
  return Response.json({ arm, backend: tf.zeros([1]).backend.name });
}
