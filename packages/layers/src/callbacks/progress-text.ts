// What progress bars show.

/** A bar of so many characters. */
export function drawn(width: number, steps: number | undefined, seen: number): string {
  const filled = steps === undefined ? 0 : Math.round((width * Math.min(seen, steps)) / Math.max(1, steps));
  return `${'━'.repeat(filled)}${'─'.repeat(width - filled)}`;
}

/** Whole seconds, minutes and hours. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  const two = (n: number): string => String(n).padStart(2, '0');
  const m = Math.floor(whole / 60);
  const rest = two(whole % 60);
  return m < 60 ? `${m}:${rest}` : `${Math.floor(m / 60)}:${two(m % 60)}:${rest}`;
}

/** The time of a step. */
export function rate(seconds: number): string {
  if (seconds >= 1) return `${seconds.toFixed(1)}s`;
  if (seconds >= 1e-3) return `${(seconds * 1e3).toFixed(seconds >= 1e-2 ? 0 : 1)}ms`;
  return `${Math.round(seconds * 1e6)}us`;
}

/** A metric. */
export function number(value: number): string {
  return Math.abs(value) >= 1e-3 || value === 0 ? value.toFixed(4) : value.toExponential(4);
}
