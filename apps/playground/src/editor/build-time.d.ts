// What `editor.mjs` puts into the bundle.

/** The keys of each type of node of a syntax tree. */
declare const __VISITOR_KEYS__: Readonly<Record<string, string[]>>;

/** The programs to choose from, by their titles. */
declare const __PROGRAMS__: Readonly<Record<string, string>>;

declare module '*.css' {
  const text: string;
  export default text;
}
