import type { IncomingMessage } from 'node:http';
import { type Body, type BodyRules, NO_BODY } from './body-rules.js';
import { bodyTooLarge } from './errors.js';
import { fieldsOfParsed, kindOf, parseForm, parseJsonBody } from './form-fields.js';
import { readMultipart } from './multipart.js';
import { declaredLength, readAll, readAtOnce } from './received-bytes.js';

/** A request whose body something before us may have parsed, as Express's body parsers do. */
type MaybeParsed = IncomingMessage & { readonly body?: unknown };

/**
 * Form fields and files of a body; empty for kinds that hold none.
 * @throws HttpRefusal when it is too large, too slow or malformed, or there is no room for it; ClientGone
 */
export async function readBody(message: MaybeParsed, rules: BodyRules): Promise<Body> {
  const type = message.headers['content-type'];
  if (type === undefined) return NO_BODY;
  if (message.readableDidRead) return { fields: fieldsOfParsed(message.body, type), files: [] };
  const kind = kindOf(type);
  if (!kind) return NO_BODY;
  if (kind === 'multipart' && rules.files) {
    if (declaredLength(message) > rules.maxBytes + rules.files.maxSentBytes) throw bodyTooLarge();
    return readMultipart(message, rules, null);
  }
  const content = readAtOnce(message, rules) ?? (await readAll(message, rules));
  if (kind === 'multipart') return readMultipart(message, rules, content);
  const text = content.toString('utf8');
  return { fields: kind === 'form' ? parseForm(text) : parseJsonBody(text), files: [] };
}
