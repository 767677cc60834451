/** An entity that somebody typed is left as it is, wherever it stands. */
const LONE_AMPERSAND = /&(?!(?:#[0-9]+|#x[0-9a-f]+|[0-9a-z]+);)/gi;
const SPECIAL_IN_TEXT = /[&<>]/;
const SPECIAL_IN_ATTRIBUTE = /[&<>"]/;

export function escapeText(text: string): string {
  if (!SPECIAL_IN_TEXT.test(text)) return text;
  return text.replace(LONE_AMPERSAND, '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function escapeAttribute(value: string): string {
  if (!SPECIAL_IN_ATTRIBUTE.test(value)) return value;
  return escapeText(value).replaceAll('"', '&quot;');
}

/** For code, where an entity stands for nothing but its letters. */
export function escapeCode(text: string): string {
  if (!SPECIAL_IN_TEXT.test(text)) return text;
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
