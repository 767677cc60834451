import { encodeForm, send } from '../conformance/request.js';
import type { Fields } from './routes.js';

export interface Credentials {
  readonly email: string;
  readonly apiKey: string;
}

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: responses, checked by assertions.
  readonly body: any;
}

export const basic = ({ email, apiKey }: Credentials): string =>
  `Basic ${Buffer.from(`${email}:${apiKey}`).toString('base64')}`;

/** Sends form fields to an operation; null is anonymous. Returns non-JSON bodies as text. */
export async function callApi(
  origin: string,
  as: Credentials | null,
  method: string,
  path: string,
  fields: Fields = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const texts = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const form = encodeForm(Object.fromEntries(texts));
  const isQuery = method === 'GET';
  const { status, text } = await send({
    method,
    url: `${origin}/api/v1${path}${isQuery && form !== '' ? `?${form}` : ''}`,
    headers: {
      ...(as && { authorization: basic(as) }),
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    },
    body: isQuery ? null : form,
  });
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // Pages and empty bodies.
  }
  return { status, body };
}
