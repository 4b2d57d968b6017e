// Programs of the guides say behind an arrow what comes of a line; docs/autograph.md says how.

/** An example of a guide as a program that prints these values. */
export function programOf(example: string): string {
  const text = example
    .split('\n')
    .map((line) => {
      const throws = /^(.*?);? \/\/ throws: (.*)$/.exec(line);
      if (throws !== null)
        return `try { ${throws[1]}; } catch (error) { console.log(error.message); } // throws: ${throws[2]}`;
      const gives = /^(?:const (\w+) = )?(.*?);? (\/\/ → .*)$/.exec(line);
      if (gives === null || /^\s*(?:console\.log\(|\/\/)/.test(line)) return line;
      const [, name, value, arrow] = gives;
      return name === undefined
        ? `console.log(${value}); ${arrow}`
        : `const ${name} = ${value}; console.log(${name}); ${arrow}`;
    })
    .join('\n');
  return /\bfrom 'eagre'/.test(text) ? text : `import * as tf from 'eagre';\n\n${text}`;
}
