// The table of hyperparameters.
import type { HParamsAnswer, TrialRow } from '../api.ts';
import type { Run } from './run.ts';

/**
 * The trials among runs: their hyperparameters, and the last value of each metric. Where an experiment above them says which metrics count,
 * these; otherwise all scalars of a trial's folder and below.
 */
export function trialsOf(runs: ReadonlyMap<string, Run>): HParamsAnswer {
  const hparams = new Map<string, string>();
  const metrics = new Map<string, string>();
  for (const { experiment } of runs.values()) {
    for (const { name = '', display_name } of experiment?.hparam_infos ?? [])
      if (display_name || !hparams.has(name)) hparams.set(name, display_name || name);
    for (const { name = {}, display_name } of experiment?.metric_infos ?? []) {
      const key = metricName(name.group ?? '', name.tag ?? '');
      metrics.set(key, display_name || key);
    }
  }
  const told = new Set(metrics.keys());
  const trials: TrialRow[] = [];
  for (const run of runs.values()) {
    if (run.trial === undefined) continue;
    const chosen = (experimentOf(run, runs)?.metric_infos ?? []).length > 0;
    const last = new Map<string, number>();
    for (const other of runs.values()) {
      if (other !== run && !other.name.startsWith(`${run.name}/`)) continue;
      for (const [tag, series] of other.scalars) {
        const value = series.columns().values.at(-1);
        const name = metricName(other === run ? '' : other.name.slice(run.name.length + 1), tag);
        if (value === undefined || (chosen && !told.has(name))) continue;
        last.set(name, value);
        if (!metrics.has(name)) metrics.set(name, name);
      }
    }
    for (const name of Object.keys(run.trial.values)) if (!hparams.has(name)) hparams.set(name, name);
    trials.push({
      run: run.name,
      status: run.trial.status,
      values: run.trial.values as TrialRow['values'],
      metrics: Object.fromEntries(
        [...last].map(([name, value]) => [name, Number.isFinite(value) ? value : String(value)]),
      ),
    });
  }
  const columns = (titles: ReadonlyMap<string, string>) =>
    [...titles].map(([name, title]) => ({ name, title }));
  return { hparams: columns(hparams), metrics: columns(metrics), trials };
}

const metricName = (group: string, tag: string): string => (group === '' ? tag : `${group}/${tag}`);

/** That of the run itself, or of the nearest folder above it. */
function experimentOf(run: Run, runs: ReadonlyMap<string, Run>): Run['experiment'] {
  for (let name = run.name; ; ) {
    const found = runs.get(name)?.experiment;
    if (found !== undefined || name === '.') return found;
    const slash = name.lastIndexOf('/');
    name = slash < 0 ? '.' : name.slice(0, slash);
  }
}
