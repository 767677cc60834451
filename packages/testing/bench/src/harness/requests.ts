export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface RequestParts {
  readonly method: Method;
  readonly path: string;
  /** Complete header: `Basic …`. */
  readonly authorization?: string;
  readonly form?: Readonly<Record<string, string>>;
}

/** Formats a complete request. */
export function requestText({ method, path, authorization, form }: RequestParts): string {
  const body = form ? new URLSearchParams(form).toString() : '';
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'User-Agent: parley-bench'];
  if (authorization !== undefined) lines.push(`Authorization: ${authorization}`);
  if (form) lines.push('Content-Type: application/x-www-form-urlencoded', `Content-Length: ${Buffer.byteLength(body)}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
