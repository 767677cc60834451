import type { Route } from '@parley/http';
import { encodeForm, encodeMultipart, type FilePart, type HttpRequest } from '../conformance/request.js';
import { type Fields, hasQuery } from './routes.js';

/** Request size limits (docs/limits.md), reduced for headers and multipart separators. */
const MAX_TARGET_LENGTH = 120_000;
const MAX_BODY_BYTES = 1024 * 1024 - 20_000;
const MAX_LONG_BODY_BYTES = 25 * 1024 * 1024 - 20_000;
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
/** Content type of resumable uploads. */
const BYTES = 'application/offset+octet-stream';

/** Field that is sent as a form file. */
export class FormFile {
  constructor(
    readonly name: string,
    readonly content: Buffer,
  ) {}
}

/** Field that is sent as a header of that name. */
export class Header {
  constructor(readonly value: string) {}
}

/** Field that replaces the whole body. */
export class Bytes {
  constructor(readonly content: Buffer) {}
}

export interface EncodedRequest extends Omit<HttpRequest, 'url'> {
  /** Path and query. */
  readonly target: string;
}

/**
 * Encodes fields into path, query or body as required by the operation. Uses a form, or multipart if the form is too
 * long. Null if both are too long.
 */
export async function encodeRequest(route: Route, fields: Fields): Promise<EncodedRequest | null> {
  const form: Record<string, string> = {};
  const files: FilePart[] = [];
  const headers: Record<string, string> = {};
  let bytes: Buffer | null = null;
  let target = (route.atRoot ? '' : '/api/v1') + route.path;
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (value instanceof FormFile) {
      files.push({ field: name, name: value.name, content: value.content, type: 'application/octet-stream' });
      continue;
    }
    if (value instanceof Header) {
      headers[name] = value.value;
      continue;
    }
    if (value instanceof Bytes) {
      bytes = value.content;
      continue;
    }
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const inPath = target.replace(new RegExp(`[:*]${name}(?=/|$)`), () => encodeURIComponent(text));
    if (inPath === target) form[name] = text;
    target = inPath;
  }
  const { method } = route;
  if (bytes) return { method, target, body: bytes, headers: { ...headers, 'Content-Type': BYTES } };
  if (route.body === 'long') {
    const body = JSON.stringify(fields);
    if (Buffer.byteLength(body) > MAX_LONG_BODY_BYTES) return null;
    return { method, target, body, headers: { ...headers, 'Content-Type': JSON_TYPE } };
  }
  const length = Object.values(form).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (length > MAX_BODY_BYTES) return null;
  const encoded = encodeForm(form);
  if (hasQuery(route)) {
    if (encoded !== '') target += `?${encoded}`;
    return target.length > MAX_TARGET_LENGTH ? null : { method, target, body: null, headers };
  }
  if (target.length > MAX_TARGET_LENGTH) return null;
  if (files.length === 0 && encoded.length <= MAX_BODY_BYTES) {
    return { method, target, body: encoded, headers: { ...headers, 'Content-Type': FORM } };
  }
  const { body, contentType } = await encodeMultipart(form, files);
  return files.length === 0 && body.length > MAX_BODY_BYTES
    ? null
    : { method, target, body, headers: { ...headers, 'Content-Type': contentType } };
}
