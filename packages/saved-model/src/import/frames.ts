import type { Body } from './body.ts';

/** placeholder */
export function functionalized(body: Body): Body {
  return body;
}
