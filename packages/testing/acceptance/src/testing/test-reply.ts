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
