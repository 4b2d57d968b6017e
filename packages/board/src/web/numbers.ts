import type { Axis } from './settings.ts';

/** A number in at most about seven signs. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e15 || (size < 1e-4 && size > 0)) {
    const [digits, power] = value.toExponential(2).split('e');
    return `${Number(digits)}e${Number(power)}`;
  }
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(5))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(5))}k`;
  return String(Number(value.toPrecision(5)));
}

const units = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
] as const;

/** Seconds as `1.5s`, `2m 30s`, `3h`, `1d 4h`: the two largest units. */
export function duration(seconds: number): string {
  const size = Math.abs(seconds);
  const sign = seconds < 0 ? '-' : '';
  for (const [i, [unit, name]] of units.entries()) {
    if (size < unit) continue;
    const [below, small] = units[i + 1] ?? [1, 's'];
    const rest = Math.round((size % unit) / below);
    const whole = Math.floor(size / unit);
    // Rounded up to the next whole, which may be one of the larger unit.
    if (rest * below >= unit) return sign + duration((whole + 1) * unit);
    return `${sign}${whole}${name}${rest > 0 ? ` ${rest}${small}` : ''}`;
  }
  return `${sign}${Number(size.toPrecision(3))}s`;
}

/** A place on the horizontal axis, in words. */
export function placeText(axis: Axis, at: number): string {
  if (axis === 'step') return `step ${Math.round(at)}`;
  return axis === 'time' ? new Date(at * 1000).toLocaleString() : `after ${duration(at)}`;
}
