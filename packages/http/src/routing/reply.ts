/** An answer. `Content-Length`, CORS, request id, rate limits and the like are added when it is written. */
export interface Reply {
  readonly status: number;
  readonly body: string | Buffer;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Instead of the default, which forbids caching answers to people who are logged in. */
  readonly cacheControl?: string;
  /** More headers: name, value, name, value … */
  readonly headers?: readonly string[];
  /** A success envelope: unsupported parameters are named at its end. */
  readonly isEnvelope?: boolean;
}

/** The operation's own fields of a success; members that are undefined are left out. */
export type WireFields = Readonly<Record<string, unknown>>;

/** Fields that are JSON text already, without the braces around them: `"messages":[…],"anchor":5`. */
export class WireText {
  constructor(readonly text: string) {}
}

const EMPTY_SUCCESS: Reply = { status: 200, body: '{"result":"success","msg":""}\n', isEnvelope: true };

export function success(fields?: WireFields | WireText): Reply {
  const text =
    fields === undefined ? '' : fields instanceof WireText ? fields.text : JSON.stringify(fields).slice(1, -1);
  if (text === '') return EMPTY_SUCCESS;
  return { status: 200, body: `{"result":"success","msg":"",${text}}\n`, isEnvelope: true };
}

/** Only bodies that every client takes for JSON: an error has `result`, `msg` and, but for 405 and 500, `code`. */
export function failure(status: number, code: string | undefined, msg: string, extra?: WireFields): Reply {
  return { status, body: `${JSON.stringify({ result: 'error', msg, code, ...extra })}\n` };
}

/** Names the parameters nobody read, in a success that has any. Source: Zulip API, feature level 167. */
export function withIgnoredParameters(reply: Reply, ignored: readonly string[]): Reply {
  if (ignored.length === 0 || !reply.isEnvelope || typeof reply.body !== 'string') return reply;
  const end = reply.body.lastIndexOf('}');
  const body = `${reply.body.slice(0, end)},"ignored_parameters_unsupported":${JSON.stringify(ignored)}}\n`;
  return { ...reply, body };
}
