/** Of a part of a path or a name in a header; as it is, where what is escaped is no text. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
