/**
 * Returns a JSON value as text, for parsers of formats that expect text: numbers as they are written, text objects as
 * their text, other lists and objects as JSON. Missing and empty values are empty.
 */
export function jsonText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  if ('text' in value) return jsonText(value.text);
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}

/** Returns a JSON value as a list. Some programs send one element alone, or an object with the indexes of the elements. */
export function listOfJson(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  const isIndexed = typeof value === 'object' && Object.keys(value).every((key) => /^\d+$/.test(key));
  return isIndexed ? Object.values(value) : [value];
}
