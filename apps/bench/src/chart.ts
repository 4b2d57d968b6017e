import { type RunResult, ratioTo, times } from './results.ts';

const colours = ['#c2571a', '#d9a400', '#2f6db5', '#6b9bd1', '#3f8f5b', '#8a5fb0', '#7a7a7a'];
const left = 250;
const width = 560;
const right = 70;
const bar = 14;
const gap = 14;

/** The ratios as horizontal bars on a logarithmic axis: to the right of 1×, Eagre is faster. An SVG document. */
export function chart(run: RunResult): string {
  const peers = run.libraries.filter((l) => l.id !== 'eagre');
  const groups = run.workloads
    .map(({ name }, i) => ({
      name,
      bars: peers.flatMap((peer, p) => {
        const ratio = ratioTo(run.workloads[i]!, peer.id, 'best');
        return ratio === undefined ? [] : [{ value: ratio.value, colour: colours[p % colours.length]! }];
      }),
    }))
    .filter((g) => g.bars.length > 0);
  const all = groups.flatMap((g) => g.bars.map((b) => b.value));
  const low = Math.min(0.5, ...all);
  const high = Math.max(2, ...all);
  const x = (ratio: number): number => round(left + (width * Math.log(ratio / low)) / Math.log(high / low));

  const marks: string[] = [];
  const top = 64;
  let y = top;
  for (const { name, bars } of groups) {
    marks.push(text(left - 10, y + (bars.length * bar) / 2 + 4, name, 'end'));
    for (const { value, colour } of bars) {
      const [from, to] = value < 1 ? [x(value), x(1)] : [x(1), x(value)];
      marks.push(
        `<rect x="${from}" y="${y}" width="${round(to - from)}" height="${bar - 2}" fill="${colour}"/>`,
      );
      marks.push(text(value < 1 ? x(1) + 4 : to + 4, y + bar - 4, times(value), 'start', '#555'));
      y += bar;
    }
    y += gap;
  }
  const grid = [0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000]
    .filter((t) => t >= low && t <= high)
    .map((t) => {
      const colour = t === 1 ? '#222' : '#ddd';
      const line = `<line x1="${x(t)}" x2="${x(t)}" y1="${top - 8}" y2="${y}" stroke="${colour}"/>`;
      return line + text(x(t), top - 14, `${t}×`, 'middle', '#555');
    });
  let at = 110;
  const legend = peers.map((peer, p) => {
    const label = `${peer.title} ${peer.version}`;
    const square = `<rect x="${at}" y="14" width="12" height="12" fill="${colours[p % colours.length]}"/>`;
    const entry = square + text(at + 18, 24, label);
    at += 42 + 7 * label.length;
    return entry;
  });
  const [w, h] = [left + width + right, y + 10];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" font-family="sans-serif" font-size="12">
<title>How many times as fast as its peers Eagre is</title>
<rect width="100%" height="100%" fill="#fff"/>
${[text(10, 24, 'Eagre against'), ...legend, ...grid, ...marks].join('\n')}
</svg>
`;
}

function text(x: number, y: number, content: string, anchor = 'start', colour = '#222'): string {
  const escaped = content.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  return `<text x="${x}" y="${round(y)}" text-anchor="${anchor}" fill="${colour}">${escaped}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
