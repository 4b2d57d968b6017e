import { digits, formatSummary } from '../results.ts';
import type { Summary } from '../statistics.ts';
import type { GpuWorkload } from './workloads.ts';

/** Seconds, or why there are none. */
export interface Timing extends Partial<Summary> {
  readonly workload: string;
  readonly library: 'eagre' | 'torch' | 'torch-compile';
  readonly failed?: string;
}

export interface GpuResult {
  readonly started: string;
  readonly device: string;
  readonly isTiny: boolean;
  /** Why PyTorch was not timed. */
  readonly absent: string | undefined;
  readonly workloads: readonly Omit<GpuWorkload, 'make'>[];
  readonly timings: readonly Timing[];
}

/** Medians with the 10th and 90th percentiles, and how many times as fast as PyTorch Eagre is. */
export function gpuTable({ started, device, isTiny, absent, workloads, timings }: GpuResult): string {
  const of = (workload: string, library: string): Timing | undefined =>
    timings.find((timing) => timing.workload === workload && timing.library === library);
  const cell = (timing: Timing | undefined): string => {
    if (timing === undefined) return '';
    if (timing.failed !== undefined) return 'failed';
    return formatSummary(timing as Summary, 's');
  };
  const ratio = (ours: Timing | undefined, theirs: Timing | undefined): string =>
    ours?.median === undefined || theirs?.median === undefined
      ? ''
      : `${digits(theirs.median / ours.median)} ×`;
  const rows = workloads.map(({ name, title, flops }) => {
    const [eagre, torch, compiled] = ['eagre', 'torch', 'torch-compile'].map((library) => of(name, library));
    const rate =
      flops === undefined || eagre?.median === undefined || isTiny
        ? ''
        : `${digits(flops / eagre.median / 1e12)}`;
    return [
      name,
      title,
      cell(eagre),
      rate,
      cell(torch),
      cell(compiled),
      ratio(eagre, torch),
      ratio(eagre, compiled),
    ];
  });
  const head = [
    'name',
    'what',
    'Eagre',
    'TFLOP/s',
    'PyTorch',
    'torch.compile',
    'against PyTorch',
    'against torch.compile',
  ];
  const lines = [
    `${started}, ${device}${isTiny ? ', tiny sizes: no figure means anything' : ''}`,
    ...(absent === undefined ? [] : [`PyTorch was not timed: ${absent}`]),
    '',
    ...[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`),
    '',
    ...timings
      .filter(({ failed }) => failed !== undefined)
      .map(({ workload, library, failed }) => `- ${library} ${workload}: ${failed}`),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}
