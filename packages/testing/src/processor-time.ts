/** How many milliseconds of processors a function takes: what else the machine does adds next to nothing. */
export function processorTime(fn: () => unknown): number {
  const before = process.cpuUsage();
  fn();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
