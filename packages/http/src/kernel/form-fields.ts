import { parseJson, pieceOf } from '@parley/domain/kernel';
import { MAX_FIELDS, NO_BODY } from './body-rules.js';
import { bodyTooLarge, malformedJson } from './errors.js';
import type { Fields } from './request.js';

/** Undefined: it holds no fields. */
export function kindOf(contentType: string): 'form' | 'json' | 'multipart' | undefined {
  if (contentType.startsWith('application/x-www-form-urlencoded')) return 'form';
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'application/json') return 'json';
  return type === 'multipart/form-data' ? 'multipart' : undefined;
}

/** Of a query string or an urlencoded body. The last value of a repeated name counts. */
export function parseForm(text: string): Fields {
  const fields = new Map<string, string>();
  let start = 0;
  let seen = 0;
  while (start < text.length) {
    let end = text.indexOf('&', start);
    if (end === -1) end = text.length;
    if (end > start) {
      if (++seen > MAX_FIELDS) throw bodyTooLarge();
      let equals = text.indexOf('=', start);
      if (equals === -1 || equals > end) equals = end;
      fields.set(unescapeField(pieceOf(text, start, equals)), unescapeField(pieceOf(text, equals + 1, end)));
    }
    start = end + 1;
  }
  return fields;
}

/**
 * Percent signs that introduce nothing stand for themselves; bytes that are no UTF-8 become U+FFFD. Byte by byte: neither
 * `decodeURIComponent`, which throws at the first of either, nor replacing takes time in proportion to the text.
 */
function unescapeField(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    const high = byte === PERCENT ? hexDigit(bytes[at + 1]) : -1;
    const low = high === -1 ? -1 : hexDigit(bytes[at + 2]);
    if (low !== -1) {
      bytes[length++] = high * 16 + low;
      at += 2;
    } else bytes[length++] = byte === PLUS ? SPACE : byte;
  }
  return bytes.toString('utf8', 0, length);
}

const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;

/** Its value; -1: none. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Our extension: a member that is a string is the field of that text, any other the field with its JSON text. */
export function parseJsonBody(text: string): Fields {
  if (text.trim() === '') return NO_BODY.fields;
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw malformedJson();
  }
  return fieldsOfJson(value);
}

function fieldsOfJson(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformedJson();
  const members = Object.entries(value);
  if (members.length > MAX_FIELDS) throw bodyTooLarge();
  return new Map(members.map(([name, member]) => [name, asField(member)]));
}

const asField = (member: unknown): string => (typeof member === 'string' ? member : JSON.stringify(member));

/** Of a body that something before us has parsed. */
export function fieldsOfParsed(body: unknown, contentType: string): Fields {
  const isJson = kindOf(contentType) === 'json';
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    const text = body.toString('utf8');
    return isJson ? parseJsonBody(text) : kindOf(contentType) === 'form' ? parseForm(text) : NO_BODY.fields;
  }
  if (isJson) return fieldsOfJson(body);
  if (typeof body !== 'object' || body === null) return NO_BODY.fields;
  // A form: an array is a name that was repeated.
  return new Map(
    Object.entries(body).map(([name, value]) => [name, asField(Array.isArray(value) ? value.at(-1) : value)]),
  );
}
