import type { ByteRange } from '@parley/domain/files';
import type { ReadableFile } from '@parley/domain/messages';
import type { Reply } from '../kernel/reply.js';
import type { Request } from '../kernel/request.js';

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * What of so many bytes a `Range` header asks for (RFC 9110, range requests). `all`: everything, since nothing is asked for that we answer in
 * part: several ranges, other units. `none`: nothing of it is there.
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

/** What browsers show without running anything of it; whatever else there is they save. */
const SHOWN =
  /^(?:image\/(?:apng|png|jpeg|gif|webp|avif|bmp|tiff|heic)|audio\/[\w.+-]+|video\/(?:mp4|webm|ogg|quicktime)|application\/pdf|text\/plain)$/;
/** By whatever name browsers know them. */
const LOADED_BY_PAGES = /^(?:text|application)\/(?:(?:x-)?(?:java|ecma|j|live)script[\d.]*|css)$/;
const CONTENT_TYPE = /^[a-z]+\/[\w.+-]{1,100}$/;
/** Should a browser make a document of it all the same, it is one without scripts, forms and origin. */
const POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'";

/** In a sandbox, browsers show no PDF at all. Their viewers run what is in it apart from our origin. */
const PDF_POLICY = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'";

/** A file's bytes, or the part of them that is asked for (messages §16.2). */
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
  // Whether somebody may read it is asked anew each time.
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

/** Text is never taken for a document, and scripts and styles are never loaded as such by a page of our origin. */
const servedType = (claimed: string): string => {
  const type = CONTENT_TYPE.test(claimed) ? claimed : 'application/octet-stream';
  return type === 'text/plain' || LOADED_BY_PAGES.test(type) ? 'text/plain; charset=utf-8' : type;
};

const listsTag = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*') ?? false;

/** By both ways of RFC 6266, of which old browsers know the first. */
function dispositionOf(name: string, mustSave: boolean): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${mustSave ? 'attachment' : 'inline'}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
