import { expect, test } from 'vitest';
import { createModel } from './model.ts';
import { serve } from './serve.ts';

test('a model answers over HTTP', async () => {
  const server = await serve(createModel(), 0);
  try {
    const response = await fetch(`${server.url}/v1/models/spirals:predict`, {
      method: 'POST',
      body: JSON.stringify({
        instances: [
          [0.3, 0.4],
          [0, 0],
        ],
      }),
    });
    expect(response.status).toBe(200);
    const { predictions } = (await response.json()) as { predictions: number[][] };
    expect(predictions.map((row) => row.length)).toEqual([3, 3]);
  } finally {
    await server.close();
  }
});
