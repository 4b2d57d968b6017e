import type { Statement } from './syntax.ts';

/** The names that statements declare. */
export function declaredIn(statements: readonly Statement[]): string[] {
  return statements.flatMap((s): string[] => {
    switch (s.kind) {
      case 'declare':
        return [s.name];
      case 'if':
        return [...declaredIn(s.then), ...declaredIn(s.else ?? [])];
      case 'for':
        return [...declaredIn(s.init === undefined ? [] : [s.init]), ...declaredIn(s.body)];
      default:
        return [];
    }
  });
}
