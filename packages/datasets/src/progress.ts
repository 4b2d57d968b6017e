import type { DownloadProgress, LoadOptions } from './options.ts';

/** Shows one download. */
export interface ProgressDisplay {
  update(progress: DownloadProgress): void;
  stop(): void;
}

/** The display that the options ask for: a bar on a terminal, else one line per download, on standard error. */
export async function progressDisplay(progress: LoadOptions['progress'] = true): Promise<ProgressDisplay> {
  if (typeof progress === 'function') return { update: progress, stop: () => {} };
  if (!progress) return { update: () => {}, stop: () => {} };
  return process.stderr.isTTY ? barDisplay() : lineDisplay();
}

async function barDisplay(): Promise<ProgressDisplay> {
  // Loaded here since browsers, which have no terminal, cannot.
  const { default: cliProgress } = await import('cli-progress');
  const bar = new cliProgress.SingleBar(
    { format: '{name} {bar} {percentage}% of {size}', stream: process.stderr, hideCursor: true },
    cliProgress.Presets.shades_classic,
  );
  let started = false;
  return {
    update({ dataset, file, received, total }) {
      if (started) bar.update(received);
      else if (total) bar.start(total, received, { name: `${dataset}/${file}`, size: megabytes(total) });
      started ||= Boolean(total);
    },
    stop: () => {
      if (started) bar.stop();
    },
  };
}

function lineDisplay(): ProgressDisplay {
  let shown: string | undefined;
  return {
    update({ url, received, total }) {
      if (shown === url) return;
      shown = url;
      const rest = received > 0 ? `, ${megabytes(received)} of it here already` : '';
      process.stderr.write(`Downloading ${url}${total ? ` (${megabytes(total)}${rest})` : ''}\n`);
    },
    stop: () => {},
  };
}

function megabytes(bytes: number): string {
  return bytes < 1e5 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
