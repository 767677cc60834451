import { takeCodePoints, toSingleLine } from '@parley/domain/kernel';
import { quoted } from '@parley/domain/messages';

/** Service that reports events to `/api/v1/external/{name}` (organization §19). */
export interface Integration {
  /** Part of the URL. */
  readonly name: string;
  readonly displayName: string;
  /** Header that names the event; absent if the payload does. */
  readonly eventHeader?: string;
  /** Returns the name of the event. @throws AnomalousPayload */
  readonly eventOf: (payload: Payload, header: string) => string;
  /** Message of each event. An event that is not listed is unsupported. */
  readonly events: Readonly<Record<string, EventTemplate>>;
  /** Events that a hook for everything sends too and that are worth no message. */
  readonly ignored?: readonly string[];
  /** True if pushes can be restricted by the parameter `branches`. */
  readonly hasBranches?: boolean;
}

export interface EventTemplate {
  readonly topic: (payload: Payload) => string;
  /** Markdown; null if this event is not worth a message. */
  readonly text: (payload: Payload) => string | null;
  /** Branch of a push. */
  readonly branch?: (payload: Payload) => string;
}

/** The payload is not one of the service. */
export class AnomalousPayload extends Error {}

/** Per text of another person on one line, in code points. */
const MAX_TEXT = 500;
/** Commits, alerts and similar entries of one message. */
export const MAX_ENTRIES = 20;

/** Characters that begin Markdown, as entities, which the dialect passes through (markdown §9.5). */
const ENTITIES: Readonly<Record<string, string>> = {
  '*': '&#42;',
  '`': '&#96;',
  '[': '&#91;',
  ']': '&#93;',
  '!': '&#33;',
  '&': '&amp;',
  '<': '&lt;',
  ':': '&#58;',
  '~': '&#126;',
  $: '&#36;',
  '/': '&#47;',
};

/** Characters that have a meaning where they stand; an address such as `https://example.com` stays a link. */
const MARKDOWN = /[*`[\]]|~(?=~)|(?<=~)~|\$(?=\$)|(?<=\$)\$|!(?=\[)|&(?=#?\w+;)|<(?=time:)|:(?=[\w+-]+:)|^\//g;

/** Returns text of another person as Markdown on one line that mentions nobody and formats nothing. */
export const escapeText = (text: string, max = MAX_TEXT): string =>
  takeCodePoints(toSingleLine(text).trim(), max).replace(MARKDOWN, (character) => ENTITIES[character]!);

/** Returns a web address for Markdown links; null if it is none. */
function safeUrl(value: unknown): string | null {
  if (typeof value !== 'string' || !URL.canParse(value)) return null;
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  return url.href.replace(/[()[\]<>*`|\\]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** JSON of another service, read by paths such as `repository.owner.login`. */
export class Payload {
  constructor(private readonly value: unknown) {}

  /** Own members only; undefined if there is none. */
  at(path: string): unknown {
    let value = this.value;
    for (const name of path === '' ? [] : path.split('.')) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
      value = (value as Readonly<Record<string, unknown>>)[name];
    }
    return value ?? undefined;
  }

  has(path: string): boolean {
    const value = this.at(path);
    return value !== undefined && value !== '' && value !== false;
  }

  /** Returns a text, number or boolean as it is. @throws AnomalousPayload */
  raw(path: string): string {
    const value = this.at(path);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw new AnomalousPayload(path);
  }

  /** Returns a text on one line, escaped. @throws AnomalousPayload */
  text(path: string): string {
    return escapeText(this.raw(path));
  }

  /** Returns the first line of a text, escaped. @throws AnomalousPayload */
  line(path: string): string {
    return escapeText(
      this.raw(path)
        .trimStart()
        .split(/[\r\n]/, 1)[0]!,
    );
  }

  /** Returns the first text that is there, escaped. */
  first(...paths: readonly string[]): string {
    const path = paths.find((each) => this.has(each));
    return path === undefined ? 'unknown' : this.text(path);
  }

  /** Returns a text as it is, or an empty one. */
  maybe(path: string): string {
    const value = this.at(path);
    return typeof value === 'string' ? value : '';
  }

  /** Returns a Markdown link; only the text if there is no web address. `text` is escaped already. */
  link(text: string, path: string): string {
    const url = safeUrl(this.at(path));
    return url === null ? text : `[${text}](${url})`;
  }

  /** Returns the text as a quote below the message; nothing if it is missing or blank. */
  quote(path: string): string {
    const text = this.maybe(path).trim();
    return text === '' ? '' : `\n\n${quoted(text)}`;
  }

  /** Returns the text as inline code. @throws AnomalousPayload */
  code(path: string): string {
    return codeOf(this.raw(path));
  }

  /** Returns the entries of a list; empty if it is missing. @throws AnomalousPayload if it is no list */
  list(path: string): readonly Payload[] {
    const value = this.at(path);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw new AnomalousPayload(path);
    return value.map((entry) => new Payload(entry));
  }

  /** Returns the members of an object with text values, such as labels. */
  entries(path: string): readonly (readonly [string, string])[] {
    const value = this.at(path);
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, member]) => (typeof member === 'string' ? [[name, member]] : []));
  }
}

/** Returns a text as inline code, which it cannot end. */
export const codeOf = (text: string): string => `\`${toSingleLine(text).trim().replaceAll('`', "'") || ' '}\``;

/** Returns a list of entries with a last line for those that are left out. */
export function bulletsOf(entries: readonly Payload[], line: (entry: Payload) => string): string {
  const lines = entries.slice(0, MAX_ENTRIES).map((entry) => `* ${line(entry)}`);
  if (entries.length > MAX_ENTRIES) lines.push(`* … and ${entries.length - MAX_ENTRIES} more`);
  return lines.join('\n');
}

/** Returns a topic of at most 60 characters, of which the end may be cut. */
export const topicOf = (...parts: readonly string[]): string =>
  toSingleLine(parts.filter((part) => part !== '').join(' / '));

/** Returns the name of a branch or tag. */
export const shortRef = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, '');

export const shortCommit = (id: string): string => codeOf(id.slice(0, 10));
