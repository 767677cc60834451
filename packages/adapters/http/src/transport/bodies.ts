import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import type { ReceivedBlob } from '@parley/domain/files';
import { firstOf, parseJson, parseLongJson, pieceOf } from '@parley/domain/kernel';
import type { OrganizationClient, Route } from '../declarations/route.js';
import {
  type Body,
  type BodyRules,
  ByteBudget,
  Charge,
  CLIENT_SHARE,
  type ClientKey,
  type FileRules,
  type FileSink,
  MAX_FIELDS,
  NO_BODY,
  type TransportLimits,
} from '../limits/budgets.js';
import { YieldingScheduler } from '../limits/yielding.js';
import { clientOf, isProven, type Proof } from '../security/authenticate.js';
import { bodyAlreadyRead, bodyTooLarge, malformedJson } from '../wire/reply.js';
import type { Fields, Request } from '../wire/request.js';
import { decodeBody, encodingOf, requireIdentity, requirePlainFromAnonymous } from './content-encoding.js';
import { declaredLength, readAll, readAtOnce, readMultipart } from './multipart.js';

/** Undefined for content types without fields. */
export function kindOf(contentType: string): 'form' | 'json' | 'multipart' | undefined {
  if (contentType.startsWith('application/x-www-form-urlencoded')) return 'form';
  const type = firstOf(contentType.split(';', 1)).trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'application/json') return 'json';
  return type === 'multipart/form-data' ? 'multipart' : undefined;
}

/** Parses a query string or urlencoded body. For repeated names, the last value counts. */
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
 * Keeps invalid percent signs and replaces invalid UTF-8 by U+FFFD. Works byte by byte in linear time, unlike
 * `decodeURIComponent`, which throws, or text replacement.
 */
function unescapeField(text: string): string {
  return text.includes('%') || text.includes('+') ? unescaped(Buffer.from(text)).toString('utf8') : text;
}

/** Overwrites `bytes` and returns the used part of it. */
function unescaped(bytes: Buffer): Buffer {
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
  return bytes.subarray(0, length);
}

const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;

/** Returns the digit value; -1 if invalid. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Parses a JSON body (our extension): string members become their text, other members their JSON text. */
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

const asField = (member: unknown): string => (typeof member === 'string' ? member : jsonOf(member));

/** @throws HttpRefusal for values nested too deeply, which parsers of host applications accept */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) throw malformedJson();
    throw error;
  }
}

/** Returns the fields of a body parsed by an earlier middleware. */
export function fieldsOfParsed(body: unknown, contentType: string): Fields {
  const isJson = kindOf(contentType) === 'json';
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    const text = body.toString('utf8');
    return isJson ? parseJsonBody(text) : kindOf(contentType) === 'form' ? parseForm(text) : NO_BODY.fields;
  }
  if (isJson) return fieldsOfJson(body);
  if (typeof body !== 'object' || body === null) return NO_BODY.fields;
  // In a form, an array holds the values of a repeated name.
  return new Map(
    Object.entries(body).map(([name, value]) => [name, asField(Array.isArray(value) ? value.at(-1) : value)]),
  );
}

/** Reconstructs the bytes of a body parsed by an earlier middleware, up to insignificant differences. */
function bytesOfParsed(body: unknown, contentType: string): Buffer {
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === 'string') return Buffer.from(body);
  if (kindOf(contentType) !== 'form') return Buffer.from(jsonOf(body) ?? '');
  return Buffer.from(new URLSearchParams([...fieldsOfParsed(body, contentType)]).toString());
}

/** Bytes of a long body to decode in one step. */
const STEP_BYTES = 256 * 1024;

/** Parses a long form like `parseForm`. Overwrites `content`. */
function* parseLongForm(content: Buffer): Generator<void, Fields> {
  const fields = new Map<string, string>();
  let seen = 0;
  for (let start = 0, end = 0; start < content.length; start = end + 1) {
    end = content.indexOf(AMPERSAND, start);
    if (end === -1) end = content.length;
    if (end === start) continue;
    if (++seen > MAX_FIELDS) throw bodyTooLarge();
    const field = content.subarray(start, end);
    const equals = field.indexOf(EQUALS);
    const name = equals === -1 ? field : field.subarray(0, equals);
    const value = equals === -1 ? NO_BYTES : field.subarray(equals + 1);
    fields.set(yield* decodeLong(name, unescaped), yield* decodeLong(value, unescaped));
  }
  return fields;
}

/** Parses a long JSON body like `parseJsonBody`. */
function* parseLongJsonBody(content: Buffer): Generator<void, Fields> {
  const text = yield* decodeLong(content, (bytes) => bytes);
  let value: unknown;
  try {
    value = yield* parseLongJson(text);
  } catch {
    throw malformedJson();
  }
  yield;
  return fieldsOfJson(value);
}

/** Decodes UTF-8 in steps that split no escape sequence such as `%C3`. */
function* decodeLong(bytes: Buffer, unescapeStep: (bytes: Buffer) => Buffer): Generator<void, string> {
  const decoder = new StringDecoder('utf8');
  let text = '';
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    end = Math.min(start + STEP_BYTES, bytes.length);
    if (end < bytes.length) end -= bytes[end - 1] === PERCENT ? 1 : bytes[end - 2] === PERCENT ? 2 : 0;
    text += decoder.write(unescapeStep(bytes.subarray(start, end)));
    yield;
  }
  return text + decoder.end();
}

const NO_BYTES = Buffer.alloc(0);

/** Request with a body that may already be parsed, for example by Express body parsers. */
type MaybeParsed = IncomingMessage & { readonly body?: unknown };

/** @throws HttpRefusal if the host application has read the body without keeping it */
function parsedBodyOf({ body }: MaybeParsed): unknown {
  if (body === undefined) throw bodyAlreadyRead();
  return body;
}

/** @throws HttpRefusal if the parsed fields exceed the bounds of a body */
function bounded(fields: Fields, maxBytes: number): Fields {
  let bytes = 0;
  for (const [name, value] of fields) bytes += name.length + value.length;
  if (fields.size > MAX_FIELDS || bytes > maxBytes) throw bodyTooLarge();
  return fields;
}

/** Reads and decodes a whole body. */
async function readContent(message: IncomingMessage, rules: BodyRules): Promise<Buffer> {
  const content = await readAll(message, rules);
  const encoding = encodingOf(message);
  return encoding === null ? content : decodeBody(content, encoding, rules);
}

/**
 * Reads form fields and files of a body; empty for other content types.
 * @throws HttpRefusal if the body is too large, too slow or malformed, or exceeds the budget; ClientGone
 */
export async function readBody(message: MaybeParsed, rules: BodyRules): Promise<Body> {
  const type = message.headers['content-type'];
  if (rules.isRaw) {
    if (!message.readableDidRead) return { ...NO_BODY, content: await readContent(message, rules) };
    const content = bytesOfParsed(parsedBodyOf(message), type ?? '');
    if (content.length > rules.maxBytes) throw bodyTooLarge();
    return { ...NO_BODY, content };
  }
  if (type === undefined) return NO_BODY;
  const kind = kindOf(type);
  if (!kind) return NO_BODY;
  if (message.readableDidRead) {
    if (kind === 'multipart') throw bodyAlreadyRead();
    return { fields: bounded(fieldsOfParsed(parsedBodyOf(message), type), rules.maxBytes), files: [] };
  }
  if (kind === 'multipart' && rules.files) {
    requireIdentity(message);
    if (declaredLength(message) > rules.maxBytes + rules.files.maxSentBytes) throw bodyTooLarge();
    return readMultipart(message, rules, null);
  }
  const content = readAtOnce(message, rules) ?? (await readContent(message, rules));
  if (kind === 'multipart') return readMultipart(message, rules, content);
  if (rules.scheduler) {
    const steps = kind === 'form' ? parseLongForm(content) : parseLongJsonBody(content);
    const fields = await rules.scheduler.runSteps(steps);
    // Yields before the operation, since the last step may have been long.
    return rules.scheduler.run(async () => ({ fields, files: [] }));
  }
  const text = content.toString('utf8');
  return { fields: kind === 'form' ? parseForm(text) : parseJsonBody(text), files: [] };
}

/** Request that owns the body and its resources. */
export interface BodyOwner {
  readonly proof: Proof | undefined;
  readonly client: OrganizationClient | undefined;
  readonly charges: Charge[];
  /** Files stored for the request. */
  readonly blobs: ReceivedBlob[];
}

/** Reads bodies within the remaining budgets, which are larger for authenticated callers. */
export class RequestBodies {
  private readonly budgets;
  private readonly scheduler = new YieldingScheduler();

  constructor(
    private readonly limits: TransportLimits,
    /** Destination of streamed files; if null, streaming routes receive no files. */
    private readonly sink: FileSink | null,
  ) {
    const budget = (total: number, ofOneRequest: number) =>
      new ByteBudget(total, Math.max(total * CLIENT_SHARE, 2 * ofOneRequest));
    this.budgets = {
      anonymousBodies: budget(limits.anonymousBodiesBytes, limits.anonymousBodyBytes),
      bodies: budget(limits.bodiesBytes, limits.bodyBytes),
      longBodies: new ByteBudget(limits.longBodiesBytes, limits.longBodyBytes),
      files: budget(limits.filesBytes, 2 * limits.fileBytes),
      uploads: new ByteBudget(limits.uploads, limits.uploadsPerUser),
    };
  }

  get heldBytes(): number {
    const { anonymousBodies, bodies, longBodies, files } = this.budgets;
    return anonymousBodies.used + bodies.used + longBodies.used + files.used;
  }

  /** True if the body is within the limit for anonymous callers. */
  isSmall(raw: IncomingMessage): boolean {
    return Number(raw.headers['content-length'] ?? Number.NaN) <= this.limits.anonymousBodyBytes;
  }

  /** @throws HttpRefusal, ClientGone */
  read(request: Request, owner: BodyOwner, route: Route | undefined): Promise<Body> | Body {
    if (request.raw.headers['content-type'] === undefined && route?.body !== 'raw') return NO_BODY;
    return this.receive(request, owner, route);
  }

  private async receive(request: Request, owner: BodyOwner, route: Route | undefined): Promise<Body> {
    const { limits, budgets } = this;
    const isIdentified = isProven(owner.proof) || owner.client !== undefined;
    if (!isIdentified) requirePlainFromAnonymous(request.raw);
    const client = clientOf(request, owner.proof);
    const isLong = isIdentified && route?.body === 'long' && this.isLong(request.raw);
    const budget = isLong ? budgets.longBodies : isIdentified ? budgets.bodies : budgets.anonymousBodies;
    const charge = new Charge(budget, client);
    owner.charges.push(charge);
    const sink = route?.body === 'storedFile' ? this.sink : null;
    const takesFiles = route?.body === 'files' || sink !== null;
    const files = isIdentified && takesFiles ? new Charge(budgets.files, client) : null;
    if (files) owner.charges.push(files);
    if (route?.body === 'stream') requireIdentity(request.raw);
    if (sink || route?.body === 'stream') owner.charges.push(this.uploadOf(client));
    const room = sink && isProven(owner.proof) ? await sink.roomFor(owner.proof.identity) : Number.POSITIVE_INFINITY;
    const body = await readBody(request.raw, {
      maxBytes: isLong ? limits.longBodyBytes : isIdentified ? limits.bodyBytes : limits.anonymousBodyBytes,
      timeoutMs: files || isLong ? limits.filesMs : limits.bodyMs,
      charge,
      scheduler: isLong ? this.scheduler : null,
      isRaw: route?.body === 'raw',
      files: files && this.fileRules(files, sink, route, room),
    });
    for (const { blob } of body.files) if (blob) owner.blobs.push(blob);
    return body;
  }

  /** True if the body may be longer than most routes allow. Multipart forms cannot be parsed in steps. */
  private isLong({ headers }: IncomingMessage): boolean {
    const isWithinLimit = Number(headers['content-length'] ?? Number.NaN) <= this.limits.bodyBytes;
    return !isWithinLimit && kindOf(headers['content-type'] ?? '') !== 'multipart';
  }

  /** Reserves one of the concurrent uploads. @throws HttpRefusal */
  private uploadOf(client: ClientKey): Charge {
    const upload = new Charge(this.budgets.uploads, client);
    upload.add(1);
    return upload;
  }

  /** @param room maximum size of a file of the caller */
  private fileRules(charge: Charge, sink: FileSink | null, route: Route | undefined, room: number): FileRules {
    const { fileBytes } = this.limits;
    const maxBytes = sink?.maxBytes ?? route?.maxFileBytes ?? fileBytes;
    return { maxBytes: Math.min(maxBytes, room), maxSentBytes: 2 * Math.max(maxBytes, fileBytes), charge, sink };
  }
}
