// Sends requests to a server.
import type { Server } from '../server.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever was answered
  readonly json: any;
  readonly headers: Headers;
}

export async function ask(server: Pick<Server, 'url'>, path: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, init);
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, text, json, headers: response.headers };
}

/** Sends a body: as JSON, or as it is where it is a text or bytes. */
export function post(
  server: Pick<Server, 'url'>,
  path: string,
  body: unknown,
  init?: RequestInit,
): Promise<Answer> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  return ask(server, path, { method: 'POST', body: raw ? (body as string) : JSON.stringify(body), ...init });
}

export const predict = (server: Pick<Server, 'url'>, model: string, body: unknown): Promise<Answer> =>
  post(server, `/v1/models/${model}:predict`, body);
