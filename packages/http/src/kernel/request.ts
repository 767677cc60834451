import type { IncomingMessage } from 'node:http';
import type { ReceivedBlob } from '@parley/domain/files';
import type { ClientIdentity } from './client-identity.js';
import type { ClientVariant } from './client-variant.js';

/** Form fields by name, as text. A Map, so that a field called `__proto__` is just a name. */
export type Fields = ReadonlyMap<string, string>;

const NO_FIELDS: Fields = new Map();

/**
 * What a request says about itself, query and body together; of a name in both, the body's value counts. All of it is
 * well-formed text from here on, whatever it came in.
 */
export class Parameters {
  static readonly none = new Parameters(NO_FIELDS, NO_FIELDS);

  private readonly merged: Fields;

  constructor(
    private readonly query: Fields = NO_FIELDS,
    private readonly body: Fields = NO_FIELDS,
  ) {
    if (body.size === 0) this.merged = query;
    else if (query.size === 0) this.merged = body;
    else this.merged = new Map([...query, ...body]);
  }

  get(name: string): string | undefined {
    return this.merged.get(name)?.toWellFormed();
  }

  /** Where the value that counts came from. */
  originOf(name: string): 'query' | 'body' | undefined {
    if (this.body.has(name)) return 'body';
    return this.query.has(name) ? 'query' : undefined;
  }

  /** Each name once, in no order worth relying on. */
  names(): Iterable<string> {
    return Array.from(this.merged.keys(), (name) => name.toWellFormed());
  }

  get size(): number {
    return this.merged.size;
  }
}

/** A file part of a multipart body. */
export interface UploadedFile {
  /** Name of the form field; some clients put the path of the file there. */
  readonly field: string;
  readonly filename: string;
  /** As the client claims. */
  readonly mimeType: string;
  /** Empty where the route has files stored. */
  readonly content: Buffer;
  /** Where the bytes are, of the first file of a route that has files stored; null: not kept, as it is too long, or another one. */
  readonly blob: ReceivedBlob | null;
  /** Longer than the limit; `content` holds the beginning. The operation refuses in its own words. */
  readonly isTruncated: boolean;
}

/** Values of the path's named segments, decoded; integers as canonical digits. */
export type PathParameters = Readonly<Record<string, string>>;

/** A request as operations see it, whatever server or framework received it. */
export interface Request {
  /** Of `X-Request-Id`, or made up; also in the answer and in the log. */
  readonly id: string;
  /** Upper case, after a `method` form field had its say. `HEAD` stays `HEAD`. */
  readonly method: string;
  /** Undecoded, without query, from the mount path on: `/api/v1/users/me`. */
  readonly path: string;
  /** Undecoded, without the question mark; empty when there is none. */
  readonly query: string;
  /** Lower case, without port. */
  readonly host: string;
  /** What chooses the organization: the host, or where organizations are distinguished by path `/` and the first part of it. */
  readonly realmAddress: string;
  /** Lower case, with the port that was named. */
  readonly authority: string;
  /** It came over TLS, as far as we see it or a proxy that is trusted says so. */
  readonly isSecure: boolean;
  /** Of the client; behind proxies that are trusted, what they say. */
  readonly ip: string;
  readonly client: ClientIdentity;
  readonly variant: ClientVariant;
  readonly pathParameters: PathParameters;
  readonly parameters: Parameters;
  readonly files: readonly UploadedFile[];
  /** Where the route tells it: what pages have to send back to change something by a browser's cookies. */
  readonly csrfToken: string | null;
  /** Name in lower case. */
  header(name: string): string | undefined;
  /** Called once if the client goes away before it is answered; at once if it is gone already. */
  onClose(listener: () => void): void;
  /** Called once when the answer has left as a whole, or nobody is there to take it. */
  onEnd(listener: () => void): void;
  /** The client went away before it was answered. */
  readonly isGone: boolean;
  /** Aborted when the client goes away before it is answered. */
  readonly signal: AbortSignal;
  /** What Node received, for the host application's own authentication, and for operations that stream the body. */
  readonly raw: IncomingMessage;
}
