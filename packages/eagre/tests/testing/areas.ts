// Tables of what of TensorFlow is here, by module.

/** Names, and why they are not here. */
export type Reasons = readonly { readonly what: RegExp; readonly why: string }[];

/** A module, and what of it is not here. */
export interface Area {
  readonly title: string;
  readonly count: number;
  readonly lacking: readonly string[];
  readonly leftOut: ReadonlyMap<string, string>;
}

export function areaOf(path: string, count: number, not: readonly string[], reasons: Reasons): Area {
  const leftOut = new Map<string, string>();
  for (const name of not) {
    const found = reasons.find(({ what }) => what.test(`${path === '' ? 'tf' : path}.${name}`));
    if (found !== undefined) leftOut.set(name, found.why);
  }
  return {
    title: path === '' ? 'tf' : `tf.${path}`,
    count,
    lacking: not.filter((name) => !leftOut.has(name)),
    leftOut,
  };
}

/** The reasons that nothing needs: what they speak of is here. */
export function idleReasons(areas: readonly Area[], reasons: Reasons): Reasons {
  const found = areas.flatMap(({ title, leftOut }) =>
    [...leftOut.keys()].map((name) => `${title === 'tf' ? 'tf' : title.slice(3)}.${name}`),
  );
  return reasons.filter(({ what }) => !found.some((name) => what.test(name)));
}

/** All that lacks without a reason. */
export const lackingIn = (areas: readonly Area[]): readonly string[] =>
  areas.flatMap(({ title, lacking }) => lacking.map((name) => `${title}.${name}`));

function row(title: string, of: readonly Area[]): string {
  const sum = (count: (area: Area) => number): number => of.reduce((n, area) => n + count(area), 0);
  const [all, out, lacking] = [
    sum((a) => a.count),
    sum((a) => a.leftOut.size),
    sum((a) => a.lacking.length),
  ] as const;
  const here = all - out - lacking;
  return `| ${title} | ${all} | ${here} | ${lacking} | ${out} | ${all === out ? '–' : `${Math.floor((100 * here) / (all - out))} %`} |`;
}

/** A row for each module, and one for all. */
export const tableOf = (areas: readonly Area[], counted: string): string =>
  `| module | ${counted} | here | lacking | left out | share of what is not left out |
| --- | --- | --- | --- | --- | --- |
${areas.map((area) => row(area.title, [area])).join('\n')}
${row('all', areas)}`;

const code = (list: readonly string[]): string => list.map((name) => `\`${name}\``).join(', ');

export const lackingList = (areas: readonly Area[]): string =>
  areas
    .filter((area) => area.lacking.length > 0)
    .map((area) => `- ${area.title}: ${code(area.lacking)}`)
    .join('\n') || 'Nothing.';

/** What is left out, by its reason. */
export const leftOutList = (
  areas: readonly Area[],
  shown: (names: readonly string[]) => string = code,
): string =>
  [...new Set(areas.flatMap(({ leftOut }) => [...leftOut.values()]))]
    .map((why) => {
      const of = areas
        .map(
          ({ title, leftOut }) => [title, [...leftOut].filter(([, w]) => w === why).map(([n]) => n)] as const,
        )
        .filter(([, list]) => list.length > 0);
      return `- ${why}: ${of.map(([title, list]) => `${shown(list)} of ${title}`).join('; ')}`;
    })
    .join('\n');
