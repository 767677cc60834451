import { ReadableStream } from 'node:stream/web';
import type { ResumableUploads } from '@parley/domain/files';
import { type Caller, DomainError, type ErrorCode } from '@parley/domain/kernel';
import type { DataStore, MemoryLocker, ServerOptions } from '@tus/server';
import type { PublicRealms } from '../delivery/public-realm.js';
import { unescaped } from '../express/target.js';
import { ClientGone } from '../limits/budgets.js';
import type { Reply } from '../wire/reply.js';
import type { Request as ParleyRequest } from '../wire/request.js';

export const TUS_PATH = '/api/v1/tus';

/** Extensions of tus 1.0.0 (https://tus.io) advertised in OPTIONS responses. */
export const TUS_EXTENSIONS = 'creation,creation-with-upload,expiration,termination';

/** Status codes of rejections that end an upload; clients show their `message` to users (messages §16.1). */
const STATUSES: Partial<Record<ErrorCode, number>> = {
  FILE_TOO_LARGE: 413,
  UPLOAD_METADATA_TOO_LONG: 413,
  UPLOAD_QUOTA_EXCEEDED: 413,
  OWN_UPLOAD_QUOTA_EXCEEDED: 413,
  TOO_MANY_FILES: 403,
  TOO_MANY_UPLOADS: 403,
  UNKNOWN_UPLOAD: 404,
};

/** Headers copied from the library's responses; other headers are set for all responses. */
const HEADERS = ['Tus-Resumable', 'Upload-Offset', 'Upload-Length', 'Upload-Metadata', 'Location'];

/** Adapter of the tus library, loaded with the first upload. Use cases decide on storage and permissions. */
export class TusProtocol {
  private locker: MemoryLocker | undefined;

  constructor(private readonly publicRealms: PublicRealms) {}

  /**
   * Handles a tus request. The upload id is the file's path, so clients can derive the file URL: `…/tus/2/ab/…`
   * becomes `…/user_uploads/2/ab/…`.
   */
  async handle(request: ParleyRequest, caller: Caller, uploads: ResumableUploads): Promise<Reply> {
    const { DataStore, MemoryLocker, Server, Upload } = await import('@tus/server');
    this.locker ??= new MemoryLocker();
    // Browser sessions use a different path prefix than API keys.
    const pathId = unescaped(request.path.replace(/^.*?\/tus\/*/, ''));
    const uploadsPath = uploadsPathOf(request, (await this.publicRealms.of(caller.realmId)).url);
    let expiresAt: number | null = null;
    /** Error with an ordinary response. */
    let thrown: unknown;
    /** Error of `append`. On Node 20, the library replaces it if content remains. */
    let failure: unknown;

    /** Store of the caller's own uploads. */
    class Store extends DataStore {
      override extensions = TUS_EXTENSIONS.split(',').filter((name) => name !== 'expiration');

      override async getUpload(id: string) {
        const upload = await uploads.find(caller, { pathId: id });
        ({ expiresAt } = upload);
        const { size, offset } = upload;
        return new Upload({ id, size, offset });
      }

      override async write(content: AsyncIterable<Uint8Array>, id: string, offset: number): Promise<number> {
        try {
          return await uploads.append(caller, { pathId: id, offset, content });
        } catch (error) {
          failure = error;
          throw error;
        }
      }

      override remove(id: string): Promise<void> {
        return uploads.cancel(caller, { pathId: id });
      }
    }

    const options: ServerOptions & { readonly datastore: DataStore } = {
      path: TUS_PATH,
      datastore: new Store(),
      locker: this.locker,
      namingFunction: async ({ headers }, metadata = {}) => {
        const upload = await uploads.begin(caller, {
          name: metadata.filename ?? metadata.name ?? '',
          claimedType: metadata.filetype ?? metadata.type ?? '',
          metadata: headers.get('upload-metadata') ?? '',
          size: Number(headers.get('upload-length')),
        });
        ({ expiresAt } = upload);
        return upload.pathId;
      },
      generateUrl: (_, { id }) => `${uploadsPath}/${id.split('/').map(encodeURIComponent).join('/')}`,
      getFileIdFromRequest: () => pathId,
      onUploadFinish: async (_, { id }) => {
        const file = await uploads.finish(caller, { pathId: id });
        expiresAt = null;
        const body = JSON.stringify({ url: `/user_uploads/${file.pathId}`, filename: file.name });
        return request.method === 'POST' ? { body } : { status_code: 200, body };
      },
      onResponseError: (_, raised: unknown) => {
        const error = failure ?? raised;
        // The library's own errors are plain objects.
        if (!(error instanceof Error)) return undefined;
        const status = error instanceof DomainError ? STATUSES[error.code as ErrorCode] : undefined;
        if (status !== undefined) return { status_code: status, body: JSON.stringify({ message: error.message }) };
        thrown = error;
        return undefined;
      },
    };
    const response = await new Server(options).handleWeb(webRequestOf(request));
    if (request.isGone) throw new ClientGone();
    if (thrown) throw thrown;
    const body = await response.text();
    const headers = HEADERS.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [name, value];
    });
    if (expiresAt !== null) headers.push('Upload-Expires', new Date(expiresAt * 1000).toUTCString());
    return {
      status: response.status,
      body,
      headers,
      contentType: body.startsWith('{') ? 'application/json' : 'text/plain; charset=utf-8',
      cacheControl: 'no-store',
    };
  }
}

/**
 * Returns the path of the request. Clients resolve it against the URL that they called, so that the `Host` header of a
 * proxy does not matter. The organization's URL adds the path that a proxy or a host application removes.
 */
const uploadsPathOf = ({ path }: ParleyRequest, realmUrl: string): string =>
  new URL(realmUrl).pathname.replace(/\/$/, '') + path.replace(/\/+$/, '');

/** Headers passed to the library. Headers such as `X-Forwarded-*` are dropped. */
const TAKEN = /^(?:content-length|content-type|tus-.*|upload-.*)$/;

function webRequestOf({ raw, method }: ParleyRequest): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw.headers)) if (TAKEN.test(name)) headers.set(name, String(value));
  const isRead = method === 'GET' || method === 'HEAD';
  // Remains open if not fully read, because a rejection is sent on the same connection.
  const content = raw.iterator({ destroyOnReturn: false });
  return new Request(`http://parley.invalid${TUS_PATH}`, {
    method: isRead ? 'HEAD' : method,
    headers,
    ...(!isRead && headers.has('content-type') && { body: ReadableStream.from(content), duplex: 'half' }),
  } as RequestInit);
}
