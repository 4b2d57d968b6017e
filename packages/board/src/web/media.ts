import { useEffect, useState } from 'preact/hooks';

/** Whether a media query holds, as it changes. */
export function useMedia(query: string): boolean {
  const [list] = useState(() => matchMedia(query));
  const [matches, setMatches] = useState(list.matches);
  useEffect(() => {
    const changed = (): void => setMatches(list.matches);
    list.addEventListener('change', changed);
    return () => list.removeEventListener('change', changed);
  }, [list]);
  return matches;
}

export const useDark = (): boolean => useMedia('(prefers-color-scheme: dark)');
