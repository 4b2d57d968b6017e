// The figure of docs/distribution-multi-worker.md: the share of a step that is not spent waiting, by the number of processes.
import { evenProfile, type Link, simulateStep } from './simulate.ts';

const links: readonly { readonly name: string; readonly color: string; readonly link: Link }[] = [
  { name: '1 Gbit/s', color: '#c0392b', link: { latency: 100e-6, bandwidth: 0.119e9 } },
  { name: '10 Gbit/s', color: '#2471a3', link: { latency: 30e-6, bandwidth: 1.19e9 } },
  { name: '100 Gbit/s', color: '#1e8449', link: { latency: 10e-6, bandwidth: 11.9e9 } },
];
/** 102 MB of gradients, as ResNet-50 has, in steps of 600 ms. */
const profile = evenProfile(50, 102e6, { forward: 0.2, backward: 0.4 });
const COUNTS = Array.from({ length: 13 }, (_, i) => 2 ** i);
const [WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM] = [640, 360, 56, 16, 150, 44];
const x = (n: number): number => LEFT + (Math.log2(n) / 12) * (WIDTH - LEFT - RIGHT);
const y = (share: number): number => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);

/** The efficiency of each link, with overlap and (dashed) without. */
export function efficiencyFigure(): string {
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<line x1="${LEFT}" y1="${y(share)}" x2="${WIDTH - RIGHT}" y2="${y(share)}" stroke="#ddd"/>` +
      `<text x="${LEFT - 8}" y="${y(share) + 4}" text-anchor="end">${share * 100} %</text>`,
  );
  const ticks = COUNTS.filter((_, i) => i % 2 === 0).map(
    (n) =>
      `<text x="${x(n)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${n.toLocaleString('en')}</text>`,
  );
  const lines = links.flatMap(({ color, link }) =>
    [true, false].map((overlap) => {
      const layout = { bytesPerPack: 0, overlap, compression: 1 };
      const points = COUNTS.map(
        (n) => `${x(n).toFixed(1)},${y(simulateStep(profile, n, link, layout).efficiency).toFixed(1)}`,
      );
      const dash = overlap ? '' : ' stroke-dasharray="5 4"';
      return `<polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="2"${dash}/>`;
    }),
  );
  const names = links.map(({ name, color }, i) => label(name, i, `stroke="${color}"`));
  const kinds = [
    label('with overlap', 4, 'stroke="#333"'),
    label('without', 5, 'stroke="#333" stroke-dasharray="5 4"'),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#333">
<title>The share of a step that is not spent waiting, by the number of processes</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>
${[...grid, ...ticks, ...lines, ...names, ...kinds].join('\n')}
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 6}" text-anchor="middle">processes</text>
</svg>
`;
}

function label(text: string, row: number, stroke: string): string {
  const [at, line] = [WIDTH - RIGHT + 14, TOP + 12 + row * 20];
  return `<line x1="${at}" y1="${line - 4}" x2="${at + 24}" y2="${line - 4}" stroke-width="2" ${stroke}/><text x="${at + 30}" y="${line}">${text}</text>`;
}
