// What `npm start` and `npm test` print while turbo builds: only built-in modules here, and none of what is being built.

/** Follows what turbo prints, and tells how far it is. */
export class BuildProgress {
  /** All that turbo has said, to be shown where it fails. */
  said = '';
  #doing = 'starting';
  /** The end of what was heard that is no whole line yet. */
  #rest = '';

  /** @param text what turbo printed, cut anywhere. */
  hear(text) {
    this.said += text;
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = lines.pop();
    for (const line of lines) {
      const [, name, file, files] = /^(\S+):build: (?:\[ *(\d+)\/(\d+)\])?/.exec(line) ?? [];
      if (name !== undefined) this.#doing = file === undefined ? name : `${name}, file ${file} of ${files}`;
    }
  }

  /** The line for a build that has run for so many milliseconds. */
  line(milliseconds) {
    return `  ${Math.round(milliseconds / 1000)} s: ${this.#doing}`;
  }
}
