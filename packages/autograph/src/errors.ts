import { InvalidArgumentError } from '@eagre/backend';

/** A construct that cannot become part of a graph; the message names it, says where it stands, and what to write instead. */
export class AutographError extends InvalidArgumentError {
  /** Where it stands, as `file:line:column`. */
  readonly site: string;

  constructor(site: string, message: string, options?: ErrorOptions) {
    super(`${site}: ${message}`, 'autograph', options);
    this.site = site;
  }
}
