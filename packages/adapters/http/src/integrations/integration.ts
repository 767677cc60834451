import { isParsableUrl, parseJson, takeCodePoints, toSingleLine, withoutLoneSurrogates } from '@parley/domain/kernel';
import { quoted } from '@parley/domain/writing';
import { isLosslessNumber, LosslessNumber, parse } from 'lossless-json';
import { flattened, isScalar } from './flattened.js';

/** Service that reports events to `/api/v1/external/{name}` (organization §19). */
export interface Integration {
  /** URL segment. */
  readonly name: string;
  readonly displayName: string;
  /** Page of the service about its webhooks. */
  readonly documentation: string;
  /** Header with the event name; absent if the payload contains the name. */
  readonly eventHeader?: string;
  /** True if older versions of the service send no header; `eventOf` then gets an empty one. */
  readonly isHeaderOptional?: boolean;
  /** Returns the event name. @throws AnomalousPayload */
  readonly eventOf: (payload: Payload, header: string) => string;
  /**
   * Message template per event. Unlisted events are unsupported. A part of an event that users may want to switch
   * separately is an event `{event}.{detail}`, such as `pull_request.edited`.
   */
  readonly events: Readonly<Record<string, EventTemplate>>;
  /** Events that are posted only if the URL names them. */
  readonly offByDefault?: readonly string[];
  /** Events that catch-all webhooks also send and that never produce a message. */
  readonly ignored?: readonly string[];
  /**
   * Body, script or configuration that users enter at a service without a fixed format. `ADDRESS` stands for the
   * URL of the webhook.
   */
  readonly setup?: string;
  /** True if the `branches` parameter can restrict pushes. */
  readonly hasBranches?: boolean;
  /** Parameters of the URL that change the message, with their descriptions. */
  readonly options?: Readonly<Partial<Record<keyof OptionValues, string>>>;
  /** Parameters that the service itself adds to the URL; they are ignored. */
  readonly addedParameters?: readonly string[];
  /** True for events that an option or their branch excludes. They produce no message. */
  readonly isExcluded?: (payload: Payload, options: OptionValues) => boolean;
}

/** Values of the options in the URL. */
export interface OptionValues {
  readonly name?: string;
  readonly desc?: string;
  readonly template?: string;
  readonly ignore_private_repositories?: boolean;
  readonly use_merge_request_title?: boolean;
  readonly eu_region?: boolean;
}

export interface EventTemplate {
  readonly topic: (payload: Payload, options: OptionValues) => string;
  /** Markdown; null if this event produces no message. */
  readonly text: (payload: Payload, options: OptionValues) => string | null;
  /** Returns the branch of a push. */
  readonly branch?: (payload: Payload) => string;
}

/** Returns the event `{name}.{detail}` if it is listed, otherwise `name`. */
export const detailed = (events: Integration['events'], name: string, detail: string): string =>
  Object.hasOwn(events, `${name}.${detail}`) ? `${name}.${detail}` : name;

/** Thrown if a payload does not match the format of the service. */
export class AnomalousPayload extends Error {}

/** Maximum length in code points of one external text, which is shown on one line. */
const MAX_TEXT = 500;
/** Maximum number of commits, alerts and similar entries per message. */
export const MAX_ENTRIES = 20;

/** Characters with a meaning in Markdown, as entities that the dialect preserves (markdown §9.5). */
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

/** Characters with a meaning in their context; an address such as `https://example.com` remains a link. */
const MARKDOWN = /[*`[\]]|~(?=~)|(?<=~)~|\$(?=\$)|(?<=\$)\$|!(?=\[)|&(?=#?\w+;)|<(?=time:)|:(?=[\w+-]+:)|^\//g;

/** Escapes external text to one line of Markdown without mentions or formatting. */
export const escapeText = (text: string, max = MAX_TEXT): string =>
  takeCodePoints(toSingleLine(text).trim(), max).replace(MARKDOWN, (character) => ENTITIES[character]!);

/** Maximum length in code points of external text with several lines; same as for a message. */
const MAX_LINES_TEXT = 10_000;

/** Escapes each line of external text. */
export const escapeLines = (text: string): string =>
  takeCodePoints(text, MAX_LINES_TEXT)
    .trim()
    .split(/\r?\n/)
    .map((line) => escapeText(line))
    .join('\n');

/** Returns a web address usable in Markdown links; null for other values. */
function safeUrl(value: unknown): string | null {
  if (typeof value !== 'string' || !isParsableUrl(value)) return null;
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  return url.href.replace(/[()[\]<>*`|\\]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns a Markdown link, or only the text if the value is not a web address. `text` must already be escaped. */
export function linkTo(text: string, value: unknown): string {
  const url = safeUrl(value);
  return url === null ? text : `[${text}](${url})`;
}

/** Numbers that JavaScript may write differently: with many digits, an exponent, or zeros at the end. */
const UNUSUAL_NUMBER = /[\d.]{17}|\.\d*0(?!\d)|\d[eE]|-0(?![.\d])|0\.0{6}/;

/** Parses untrusted JSON. Numbers that JavaScript would write differently keep their text. @throws SyntaxError */
export function parsePayload(json: string): unknown {
  const value = parseJson(json);
  if (!UNUSUAL_NUMBER.test(json)) return value;
  return parse(withoutLoneSurrogates(json), undefined, {
    parseNumber: (text) => (String(Number(text)) === text ? Number(text) : new LosslessNumber(text)),
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/** JSON payload of another service, read by paths such as `repository.owner.login`. */
export class Payload {
  constructor(private readonly value: unknown) {}

  /** Reads own properties only; undefined if missing. Numbers may be rounded. */
  at(path: string): unknown {
    const value = this.exact(path);
    return isLosslessNumber(value) ? Number(value.toString()) : value;
  }

  /** Like `at`, but numbers that JavaScript would write differently are a `LosslessNumber`. */
  exact(path: string): unknown {
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

  /** Returns a string, number or boolean as unescaped text. @throws AnomalousPayload */
  raw(path: string): string {
    const value = this.exact(path);
    if (isScalar(value)) return String(value);
    throw new AnomalousPayload(path);
  }

  /** Returns text on one line, escaped. @throws AnomalousPayload */
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

  /** Returns the first existing text, unescaped. */
  firstRaw(...paths: readonly string[]): string {
    const path = paths.find((each) => this.has(each));
    return path === undefined ? 'unknown' : this.raw(path);
  }

  /** Returns the first existing text, escaped. */
  first(...paths: readonly string[]): string {
    return escapeText(this.firstRaw(...paths));
  }

  /** @throws AnomalousPayload unless the value is a number of things */
  count(path: string): number {
    const value = this.at(path);
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw new AnomalousPayload(path);
  }

  /** Returns the first existing name in bold. Services write `none` if nobody acted. */
  person(...paths: readonly string[]): string {
    const path = paths.find((each) => this.has(each) && this.at(each) !== 'none');
    return path === undefined ? 'Somebody' : `**${this.text(path)}**`;
  }

  /** Returns unescaped text, also of documents, lists and objects; empty if missing or false. */
  maybe(path: string): string {
    const value = this.exact(path);
    return value === false ? '' : flattened(value);
  }

  /** Returns a Markdown link, or only the text if the path has no web address. `text` must already be escaped. */
  link(text: string, path: string): string {
    return linkTo(text, this.at(path));
  }

  /** Returns the text as a quote below the message; empty if it is missing or blank. */
  quote(path: string): string {
    return quoteOf(this.maybe(path));
  }

  /** Returns the text as inline code. @throws AnomalousPayload */
  code(path: string): string {
    return codeOf(this.raw(path));
  }

  /** Returns the entries of a list; empty if missing. @throws AnomalousPayload if the value is not a list */
  list(path: string): readonly Payload[] {
    const value = this.at(path);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw new AnomalousPayload(path);
    return value.map((entry) => new Payload(entry));
  }

  /** Returns the texts of an object's members, such as labels. */
  entries(path: string): readonly (readonly [string, string])[] {
    const value = this.at(path);
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, member]) => {
      const text = flattened(member);
      return text === '' && !isScalar(member) ? [] : [[name, text]];
    });
  }
}

/** Returns the text as a quote below the message; empty if it is blank. */
export const quoteOf = (text: string): string => (text.trim() === '' ? '' : `\n\n${quoted(text.trim())}`);

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: ' ',
  amp: '&',
};

/** Maximum length in code points; a message shows less of the text. */
const MAX_HTML = 50_000;

/** Returns the text of HTML without its formatting. */
export const textOfHtml = (html: string): string =>
  takeCodePoints(html, MAX_HTML)
    .replace(/<(?:br|\/p|\/div|\/li)\b[^<>]*>/gi, '\n')
    .replace(/<[^<>]*>/g, '')
    .replace(/&(#39|\w{2,4});/g, (entity, name: string) => lookUp(HTML_ENTITIES, name) ?? entity)
    .trim();

/** Returns text as inline code; backticks become apostrophes, so that the text cannot end the code. */
export const codeOf = (text: string): string => `\`${toSingleLine(text).trim().replaceAll('`', "'") || ' '}\``;

/** Returns a bullet list, with a last line for omitted entries. */
export function bulletsOf(entries: readonly Payload[], line: (entry: Payload) => string): string {
  const lines = entries.slice(0, MAX_ENTRIES).map((entry) => `* ${line(entry)}`);
  if (entries.length > MAX_ENTRIES) lines.push(`* … and ${entries.length - MAX_ENTRIES} more`);
  return lines.join('\n');
}

/** Returns the value of a listed key; null for other keys. */
export const lookUp = <T>(table: Readonly<Record<string, T>>, key: string): T | null =>
  Object.hasOwn(table, key) ? table[key]! : null;

/** Returns `1 commit`, `2 commits`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Returns a topic truncated to 60 characters. */
export const topicOf = (...parts: readonly string[]): string =>
  toSingleLine(parts.filter((part) => part !== '').join(' / '));

/** Returns the name of a branch or tag. */
export const shortRef = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, '');

export const shortCommit = (id: string): string => codeOf(id.slice(0, 10));
