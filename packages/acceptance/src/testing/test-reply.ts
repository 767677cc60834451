import type { IncomingHttpHeaders } from 'node:http';

/** An answer, read to its end. */
export interface TestReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Null for an empty body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect by their assertions.
  readonly body: any;
}
