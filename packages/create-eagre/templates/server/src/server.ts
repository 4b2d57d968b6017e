import { serve } from './serve.ts';

const server = await serve('runs/spirals', Number(process.env['PORT'] ?? 8501));
console.log(`${server.url}/v1/models/spirals:predict`);
console.log(`curl -d '{"instances": [[0.3, 0.4]]}' ${server.url}/v1/models/spirals:predict`);

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    // Requests that have come are answered first.
    await server.close();
  });
