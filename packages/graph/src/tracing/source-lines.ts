// Where code is: the library's or its users'.

// The library's own lines are not where a user's mistake is.
function isOwnLine(line: string): boolean {
  return /[\\/]@eagre[\\/]|[\\/]packages[\\/][\w-]+[\\/](src|dist)[\\/](?!.*\.test\.)/.test(line);
}

/** The first line of a stack that is a user's, such as `at step (/app/train.ts:3:7)`. */
export function userLine(stack: string | undefined): string | undefined {
  return stack
    ?.split('\n')
    .find((l) => /^\s+at /.test(l) && !l.endsWith('(<anonymous>)') && !isOwnLine(l))
    ?.trim();
}
