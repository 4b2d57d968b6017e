/** log Γ(x) for x above 0, by Stirling's series beyond 10 and the recurrence below. */
export function logGamma(x: number): number {
  let z = x;
  let product = 1;
  while (z < 10) product *= z++;
  const inverse = 1 / (z * z);
  const series =
    ((((((-691 / 360360) * inverse + 1 / 1188) * inverse - 1 / 1680) * inverse + 1 / 1260) * inverse -
      1 / 360) *
      inverse +
      1 / 12) /
    z;
  return (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + series - Math.log(product);
}
