import { createDecipheriv } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Complete response. */
export interface TestReply {
  readonly status: number;
  /** Headers with names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Null for an empty body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect by their assertions.
  readonly body: any;
}

/** Hidden form fields of a page. */
export const hiddenFieldsOf = ({ body }: TestReply): Record<string, string> =>
  Object.fromEntries(
    [...String(body).matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(([, name, value]) => [
      name!,
      value!.replaceAll('&amp;', '&'),
    ]),
  );

/** Token on the page after a log-in for the desktop app, as the app decrypts it. `pad`: hexadecimal. */
export function desktopTokenIn({ body }: TestReply, pad: string): string {
  const code = Buffer.from(/readonly>([0-9a-f]+)</.exec(String(body))![1]!, 'hex');
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(pad, 'hex'), code.subarray(0, 12));
  decipher.setAuthTag(code.subarray(-16));
  return Buffer.concat([decipher.update(code.subarray(12, -16)), decipher.final()]).toString();
}
