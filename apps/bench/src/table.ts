import {
  digits,
  formatSummary,
  formatValue,
  percent,
  type RunResult,
  rateOf,
  ratioTo,
  seriesOf,
  times,
  verdicts,
  type WorkloadResult,
} from './results.ts';

/** The whole report as Markdown. */
export function report(run: RunResult): string {
  const { machine } = run;
  const peers = run.libraries.filter((l) => l.id !== 'eagre');
  const parts = [
    `# Benchmarks, ${run.started}`,
    [
      `- ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGB} GB; ${machine.system}; Node ${machine.node}; commit ${machine.commit}`,
      `- ${run.libraries.map((l) => `${l.title} ${l.version}`).join(', ')}`,
      ...run.absent.map(({ title, why }) => `- absent: ${title} (${why})`),
      `- ${run.rounds} rounds of ${run.seconds} s in turn; medians, in brackets the 10th and 90th percentile`,
      ...(run.busyCores > 0.15
        ? [
            `- **noisy**: other programs kept up to ${run.busyCores.toFixed(1)} cores busy, the figures are not to be trusted`,
          ]
        : []),
      ...run.notes.map((n) => `- **${n}**`),
    ].join('\n'),
  ];
  if (run.machineLimits.length > 0) {
    parts.push(
      table(
        ['The machine at most', 'Threads', 'Best', 'Median', 'By'],
        run.machineLimits.map((l) => {
          const unit = l.kind === 'fma' ? 'GFLOP/s' : 'GB/s';
          return [
            limitNames[l.kind] ?? l.kind,
            `${l.threads}`,
            `${digits(l.best / 1e9)} ${unit}`,
            `${digits(l.median / 1e9)} ${unit}`,
            l.how,
          ];
        }),
      ),
    );
  }
  parts.push(
    table(
      ['Workload', 'Threads', 'Eagre', 'Rate (of the limit)', ...peers.map((p) => p.title), 'Missed targets'],
      run.workloads.flatMap((w) =>
        rows(
          w,
          run.workloads,
          run.threads,
          peers.map((p) => p.id),
        ),
      ),
    ),
    `A peer's cell ends with its time ÷ Eagre's: above 1×, Eagre is faster. \`best\` compares each library's better number of threads.`,
  );
  const judged = run.workloads.flatMap((w) =>
    verdicts(w, run.workloads).map((v) => ({ name: w.name, ...v })),
  );
  if (judged.length > 0) {
    parts.push(
      [
        `## Targets: ${judged.filter((v) => v.met).length} of ${judged.length} met`,
        '',
        ...judged.map((v) => `- ${v.met ? 'met' : '**missed**'}: ${v.name}, ${v.target}: ${v.text}`),
      ].join('\n'),
    );
  }
  const notes = run.workloads.flatMap((w) => w.notes.map((n) => `- ${w.name}: ${n}`));
  if (notes.length > 0) parts.push(['## Notes', '', ...notes].join('\n'));
  return `${parts.join('\n\n')}\n`;
}

const limitNames: Readonly<Record<string, string>> = {
  fma: 'float32 multiply-add',
  copy: 'copy of 10 million floats',
  add: 'addition of 10 million floats',
  read: 'reading 10 million floats',
};

function rows(
  result: WorkloadResult,
  all: readonly WorkloadResult[],
  threads: readonly number[],
  peers: readonly string[],
): string[][] {
  const counts: (number | 'best')[] = !result.threaded
    ? ['best']
    : threads.length > 1
      ? [...threads, 'best']
      : [...threads];
  const judged = verdicts(result, all);
  return counts.map((count, i) => {
    const own = seriesOf(result, 'eagre', count);
    const rate = own && rateOf(result, own);
    // With a single row, everything is said there.
    const here = judged.filter((v) => v.threads === count || counts.length === 1);
    const fraction = rate?.fraction === undefined ? '' : ` (${percent(rate.fraction)})`;
    return [
      i === 0 ? result.name : '',
      result.threaded ? `${count}` : '',
      own === undefined ? '—' : formatSummary(own.summary, result.unit),
      rate === undefined ? '' : `${digits(rate.rate / 1e9)} ${rate.unit}${fraction}`,
      ...peers.map((peer) => {
        const series = seriesOf(result, peer, count);
        if (series === undefined) return '—';
        const ratio = ratioTo(result, peer, count);
        const time =
          count === 'best' && result.threaded
            ? formatValue(series.summary.median, result.unit)
            : formatSummary(series.summary, result.unit);
        if (ratio === undefined) return time;
        const spread = peer === 'before' ? ` (${times(ratio.low)} to ${times(ratio.high)})` : '';
        return `${time} **${times(ratio.value)}**${spread}`;
      }),
      here
        .filter((v) => !v.met)
        .map((v) => v.target)
        .join('; '),
    ];
  });
}

/** A Markdown table that reads well as plain text too. */
export function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = head.map((h, c) => Math.max(3, h.length, ...body.map((r) => r[c]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, c) => cell.padEnd(widths[c]!)).join(' | ')} |`;
  return [line(head), `|${widths.map((w) => '-'.repeat(w + 2)).join('|')}|`, ...body.map(line)].join('\n');
}
