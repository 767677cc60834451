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
