import type { ByteRange } from '@parley/domain/files';
import type { ReadableFile } from '@parley/domain/messages';
import type { Reply } from '../wire/reply.js';
import type { Request } from '../wire/request.js';

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * Parses a `Range` header (RFC 9110) for a file of the given size. Returns `all` for unsupported ranges, such as
 * multiple ranges or other units. Returns `none` if the range is unsatisfiable.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'all' | 'none' {
  const [, first, last] = RANGE.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'all';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'none' : { start: size - length, end: size };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'all';
  if (start >= size) return 'none';
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) };
}

/**
 * Types that browsers display without running code. All others are downloaded, as is XML, which can contain scripts.
 */
const SHOWN =
  /^(?:image\/(?:apng|png|jpeg|gif|webp|avif|bmp|tiff|heic)|audio\/(?![\w.+-]*\+xml$)[\w.+-]+|video\/(?:mp4|webm|ogg|quicktime)|application\/pdf|text\/plain)$/;
/** Script and style types under all names known to browsers. */
const LOADED_BY_PAGES = /^(?:text|application)\/(?:(?:x-)?(?:java|ecma|j|live)script[\d.]*|css)$/;
const CONTENT_TYPE = /^[a-z]+\/[\w.+-]{1,100}$/;
/** Denies scripts, forms and our origin if a browser treats the file as a document. */
const POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'";

/**
 * Policy without sandbox, because browsers do not show PDF in a sandbox. PDF viewers isolate the content from our
 * origin.
 */
const PDF_POLICY = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'";

/** Serves a file or the requested range of it (messages §16.2). */
export function serveFile(
  file: Pick<ReadableFile, 'blob' | 'contentType' | 'name' | 'read' | 'size'>,
  request: Request,
  mustSave = false,
): Reply {
  const { size } = file;
  const etag = `"${file.blob}"`;
  const type = servedType(file.contentType);
  const headers = [
    ...[
      'ETag',
      etag,
      'Accept-Ranges',
      'bytes',
      'Content-Security-Policy',
      type === 'application/pdf' ? PDF_POLICY : POLICY,
    ],
    ...['Content-Disposition', dispositionOf(file.name, mustSave || !SHOWN.test(file.contentType))],
  ];
  // Caches must revalidate, so that access is checked on each request.
  const common = { contentType: type, cacheControl: 'private, no-cache' };
  if (listsTag(request.header('if-none-match'), etag)) return { ...common, status: 304, body: '', headers };
  const isSame = [undefined, etag].includes(request.header('if-range'));
  const range = parseRange(isSame ? request.header('range') : undefined, size);
  if (range === 'none') {
    return { ...common, status: 416, body: '', headers: [...headers, 'Content-Range', `bytes */${size}`] };
  }
  if (range === 'all') {
    return { ...common, status: 200, body: { bytes: file.read({ start: 0, end: size }), length: size }, headers };
  }
  const { start, end } = range;
  return {
    ...common,
    status: 206,
    body: { bytes: file.read(range), length: end - start },
    headers: [...headers, 'Content-Range', `bytes ${start}-${end - 1}/${size}`],
  };
}

/** Returns a content type that browsers neither render as a document nor load as script or style on our pages. */
const servedType = (claimed: string): string => {
  const type = CONTENT_TYPE.test(claimed) ? claimed : 'application/octet-stream';
  return type === 'text/plain' || LOADED_BY_PAGES.test(type) ? 'text/plain; charset=utf-8' : type;
};

const listsTag = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*') ?? false;

/** Writes both forms of RFC 6266; older browsers support only the first. */
function dispositionOf(name: string, mustSave: boolean): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${mustSave ? 'attachment' : 'inline'}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
