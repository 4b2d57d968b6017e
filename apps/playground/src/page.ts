// What pages do.

/** Shows a text. */
export const say = (id: string, text: string): void => {
  const output = document.getElementById(id);
  if (output) output.textContent = text;
};

/** Lets the page be drawn. */
export const frame = (): Promise<void> => new Promise((resolve) => requestAnimationFrame(() => resolve()));
