// How long a step takes on n processes, by a link and a model:
// npx tsx --tsconfig tsconfig.base.json apps/bench/src/step-time/main.ts --latency 30e-6 --bandwidth 1.19e9 --bytes 102e6 --forward 0.2 --backward 0.4 --layers 50
// With --figure FILE it writes the figure of docs/distribution-multi-worker.md.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { efficiencyFigure } from './figure.ts';
import { evenProfile, simulateStep } from './simulate.ts';

const number = (value: string): { readonly type: 'string'; readonly default: string } => ({
  type: 'string',
  default: value,
});
const { values } = parseArgs({
  options: {
    latency: number('30e-6'),
    bandwidth: number('1.19e9'),
    bytes: number('102e6'),
    layers: number('50'),
    forward: number('0.2'),
    backward: number('0.4'),
    pack: number('0'),
    figure: { type: 'string' },
  },
});
if (values.figure !== undefined) {
  writeFileSync(values.figure, efficiencyFigure());
} else {
  const { latency, bandwidth, bytes, layers, forward, backward, pack } = values;
  for (const [name, value] of Object.entries({ latency, bandwidth, bytes, layers, forward, backward, pack }))
    if (!(Number(value) >= 0)) throw new Error(`--${name} must be a number from 0 on, got ${value}`);
  const profile = evenProfile(Number(layers), Number(bytes), {
    forward: Number(forward),
    backward: Number(backward),
  });
  const link = { latency: Number(latency), bandwidth: Number(bandwidth) };
  const milliseconds = (seconds: number): string => `${(seconds * 1000).toFixed(0).padStart(7)} ms`;
  console.log('processes   overlapped      at the end   16-bit, overlapped');
  for (let n = 1; n <= 4096; n *= 2) {
    const steps = [
      { overlap: true, compression: 1 },
      { overlap: false, compression: 1 },
      { overlap: true, compression: 0.5 },
    ].map((layout) => simulateStep(profile, n, link, { bytesPerPack: Number(pack), ...layout }));
    const shown = steps.map(
      ({ step, efficiency }) => `${milliseconds(step)} ${(efficiency * 100).toFixed(0)} %`,
    );
    console.log(`${String(n).padStart(9)} ${shown.join('  ')}`);
  }
}
