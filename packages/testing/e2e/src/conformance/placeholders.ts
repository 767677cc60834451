/** Patterns in JSON text that vary between runs, with their placeholders. */
export const PLACEHOLDERS: readonly (readonly [RegExp, string])[] = [
  [/("api_key":)"[A-Za-z0-9]{32}"/g, '$1"<api_key>"'],
  [/zulipdev\.com(:\d+)?/g, '<domain>'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>'],
  [/\/user_uploads\/(\d+)\/[^"/ )\\]+\/[^"/ )\\]+\//g, '/user_uploads/$1/<random>/'],
  [/\/user_uploads\/temporary\/[^"/ )\\]+\//g, '/user_uploads/temporary/<random>/'],
  [/\/(join|new)\/[a-z0-9]{20,40}\//g, '/$1/<token>/'],
  [/\b[a-z0-9-]*\.[0-9a-f]{32}(\.[a-z-]+)?@/g, '<mail-token>@'],
];

/** Values specific to a run. */
export interface RunFacts {
  /** Without a trailing slash. */
  readonly url: string;
  /** Word unique to the run. */
  readonly word: string;
  /** Placeholders by API key. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Replaces addresses, keys and random parts anywhere in the value with placeholders. */
export function withPlaceholders<T>(value: T, { url, word, secrets }: RunFacts): T {
  let text = JSON.stringify(value);
  for (const [secret, placeholder] of secrets) text = text.replaceAll(secret, placeholder);
  text = text.replaceAll(url, '<base>').replaceAll(word, '<run>').replaceAll(new URL(url).host, '<host>');
  for (const [pattern, placeholder] of PLACEHOLDERS) text = text.replace(pattern, placeholder);
  return JSON.parse(text) as T;
}
