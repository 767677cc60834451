/** An answer. `Content-Length`, CORS, request id, rate limits and the like are added when it is written. */
export interface Reply {
  readonly status: number;
  readonly body: ReplyBody;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Instead of the default, which forbids caching answers to people who are logged in. */
  readonly cacheControl?: string;
  /** More headers: name, value, name, value … */
  readonly headers?: readonly string[];
  /** A success envelope: unsupported parameters are named at its end. */
  readonly isEnvelope?: boolean;
}

/** Some of a text, or its UTF-8 bytes, which may be shared with other answers. */
export type BodyChunk = string | Buffer;

/** In chunks where it is long; those shared with other answers take no memory of their own. */
export type ReplyBody = BodyChunk | readonly BodyChunk[] | UnfinishedBody | ByteStream;

/**
 * Bytes that are read from somewhere while the answer is. Nothing is opened before they are asked for. A piece that the reader has
 * taken is released, for its memory to be used again.
 */
export interface ByteStream {
  readonly bytes: AsyncIterable<Uint8Array> & { release?(piece: Uint8Array): void };
  readonly length: number;
}

export const isByteStream = (body: ReplyBody | undefined): body is ByteStream =>
  typeof body === 'object' && 'bytes' in body;

/** A body that is made while it is read, so that only a part of it is in memory. Its length is not known beforehand. */
export interface UnfinishedBody {
  readonly start: readonly BodyChunk[];
  /** Asked for more once what there was has been taken. A throw breaks the connection off: the status has been sent. */
  readonly rest: AsyncIterable<readonly string[]>;
  readonly end: string;
}

/** The operation's own fields of a success; members that are undefined are left out. */
export type WireFields = Readonly<Record<string, unknown>>;

/** Fields that are JSON text already, without the braces around them: `"messages":[…],"anchor":5`. */
export class WireText {
  readonly chunks: readonly BodyChunk[];

  /** `rest`: what follows `text` and is made while that is read. */
  constructor(
    text: string | readonly BodyChunk[],
    readonly rest?: AsyncIterable<readonly string[]>,
  ) {
    this.chunks = typeof text === 'string' ? [text] : text;
  }
}

/** Leads elsewhere, for now. */
export const redirectTo = (url: string): Reply => ({ status: 302, body: '', headers: ['Location', url] });

const START = '{"result":"success","msg":""';
const EMPTY_SUCCESS: Reply = { status: 200, body: `${START}}\n`, isEnvelope: true };

/** A success that says something to whoever asked for it. */
export const successSaying = (msg: string): Reply => ({
  status: 200,
  body: `${JSON.stringify({ result: 'success', msg })}\n`,
  isEnvelope: true,
});

export function success(fields?: WireFields | WireText): Reply {
  if (fields === undefined) return EMPTY_SUCCESS;
  const { chunks, rest } = fields instanceof WireText ? fields : new WireText(JSON.stringify(fields).slice(1, -1));
  if (rest) return { status: 200, body: { start: [`${START},`, ...chunks], rest, end: '}\n' }, isEnvelope: true };
  if (chunks.length > 1) return { status: 200, body: [`${START},`, ...chunks, '}\n'], isEnvelope: true };
  const text = String(chunks[0] ?? '');
  return text === '' ? EMPTY_SUCCESS : { status: 200, body: `${START},${text}}\n`, isEnvelope: true };
}

/** Only bodies that every client takes for JSON: an error has `result`, `msg` and, but for 405 and 500, `code`. */
export function failure(status: number, code: string | undefined, msg: string, extra?: WireFields): Reply {
  return { status, body: `${JSON.stringify({ result: 'error', msg, code, ...extra })}\n` };
}

/** Names the parameters nobody read, in a success that has any. Source: Zulip API, feature level 167. */
export function withIgnoredParameters(reply: Reply, ignored: readonly string[]): Reply {
  if (ignored.length === 0 || !reply.isEnvelope) return reply;
  const { body } = reply;
  const end = `,"ignored_parameters_unsupported":${JSON.stringify(ignored)}}\n`;
  if (typeof body === 'string') return { ...reply, body: body.slice(0, body.lastIndexOf('}')) + end };
  if ('rest' in body) return { ...reply, body: { ...body, end } };
  return Array.isArray(body) ? { ...reply, body: [...body.slice(0, -1), end] } : reply;
}
