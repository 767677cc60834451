import { type Destination, formatAddress, narrowOf } from '../kernel/narrow.js';
import { type ChatState, isActive } from '../kernel/state.js';
import { isMember } from '../organization/organization.js';

/** Unfinished mention, link, emoji, command or code block language before the cursor. */
export interface CompletionQuery {
  readonly kind: 'mention' | 'channel' | 'topic' | 'emoji' | 'command' | 'language';
  /** Offset of the first character; a suggestion replaces the text from there to the cursor. */
  readonly start: number;
  readonly text: string;
  readonly isSilent: boolean;
  /** Typed channel name of a topic link; empty for other queries. */
  readonly channel: string;
}

export interface EmojiName {
  readonly name: string;
  /** Unicode emoji; empty for custom emoji. */
  readonly character: string;
  readonly imageUrl: string | null;
}

export interface Suggestion {
  readonly key: string;
  readonly kind: 'person' | 'group' | 'wildcard' | 'channel' | 'topic' | 'emoji' | 'command' | 'language';
  readonly label: string;
  /** Person, group or channel id; 0 for other kinds. */
  readonly id: number;
  /** Group description, or channel of a topic; empty for other kinds. */
  readonly detail: string;
  readonly emoji: EmojiName | null;
  /** Markdown that replaces the query, including a trailing space or line break. */
  readonly insert: string;
}

/** Longest name including its marks: channel and topic names have at most 60 characters each. */
const MAX_QUERY = 130;
const MAX_SUGGESTIONS = 8;
/** Characters allowed before a mention (markdown §9); channel links and emoji follow the same rule. */
const BEFORE = '(?<=^|[\\s\'"({[/<])';
const MENTION = new RegExp(`${BEFORE}@(_?)(\\*{0,2})((?:[^\\s@*][^@*\\n]*)?)$`, 'u');
const LINK = new RegExp(`${BEFORE}#(\\*{0,2})((?:[^\\s#*][^#*\\n]*)?)$`, 'u');
const EMOJI = new RegExp(`${BEFORE}:([\\p{L}\\p{N}+-][\\p{L}\\p{N}_+-]+)$`, 'u');
const COMMAND = /^\/([a-z]*)$/;
const FENCE = /^(?:`{3,}|~{3,}) ?([\w+#.-]+)$/;
const COMMANDS = ['me', 'poll', 'todo'];
const WILDCARDS = ['all', 'everyone', 'channel', 'stream', 'topic'];

/** Returns the unfinished query before the cursor; null within code or if there is none. */
export function completionAt(text: string, cursor: number): CompletionQuery | null {
  const line = text.slice(text.lastIndexOf('\n', cursor - 1) + 1, cursor);
  const word = wordIn('command', COMMAND, text.slice(0, cursor)) ?? wordIn('language', FENCE, line);
  const found = word ?? mentionIn(line) ?? linkIn(line) ?? emojiIn(line);
  // A fence inside a code block closes it.
  const before = word ? text.slice(0, cursor - line.length) : text.slice(0, cursor);
  if (!found || found.length > MAX_QUERY || isCode(before, word ? '' : line)) return null;
  const { length, ...query } = found;
  return { ...query, start: cursor - length };
}

type Found = Omit<CompletionQuery, 'start'> & { readonly length: number };

function mentionIn(line: string): Found | null {
  const [all, silent, , text] = MENTION.exec(line) ?? [];
  if (all === undefined) return null;
  return { kind: 'mention', length: all.length, text: text!, isSilent: silent !== '', channel: '' };
}

function linkIn(line: string): Found | null {
  const [all, , text] = LINK.exec(line) ?? [];
  if (all === undefined) return null;
  const [channel, ...topic] = text!.split('>');
  if (topic.length === 0) return { kind: 'channel', length: all.length, text: text!, isSilent: false, channel: '' };
  return { kind: 'topic', length: all.length, text: topic.join('>'), isSilent: false, channel: channel! };
}

function emojiIn(line: string): Found | null {
  const [all, text] = EMOJI.exec(line) ?? [];
  return all === undefined ? null : { kind: 'emoji', length: all.length, text: text!, isSilent: false, channel: '' };
}

function wordIn(kind: 'command' | 'language', pattern: RegExp, part: string): Found | null {
  const [, text] = pattern.exec(part) ?? [];
  // The slash is part of the command.
  const length = (text?.length ?? 0) + (kind === 'command' ? 1 : 0);
  return text === undefined ? null : { kind, length, text, isSilent: false, channel: '' };
}

/** True if the position is within a code block or an open code span of its line. */
export const isInCode = (text: string, cursor: number): boolean =>
  isCode(text.slice(0, cursor), text.slice(text.lastIndexOf('\n', cursor - 1) + 1, cursor));

function isCode(before: string, line: string): boolean {
  let fence = '';
  for (const [, marks] of before.matchAll(/^(`{3,}|~{3,})/gm)) {
    if (fence === '') fence = marks!;
    else if (marks!.startsWith(fence)) fence = '';
  }
  return fence !== '' || (line.match(/`/g) ?? []).length % 2 === 1;
}

/**
 * Matches a name against a query of several parts, such as "jo sm" with "John Smith". Returns 0 if they are equal, 1 if
 * the name starts with the query, 2 if each part starts a different word, and null otherwise.
 */
export function rankOf(query: string, name: string): 0 | 1 | 2 | null {
  const wanted = folded(query).trim();
  const candidate = folded(name);
  if (candidate === wanted) return 0;
  if (candidate.startsWith(wanted)) return 1;
  const parts = wanted.split(SEPARATORS);
  // Rejects most names without splitting them.
  if (!parts.every((part) => candidate.includes(part))) return null;
  const words = candidate.split(SEPARATORS);
  for (const part of parts.sort((a, b) => b.length - a.length)) {
    const at = words.findIndex((word) => word.startsWith(part));
    if (at === -1) return null;
    words.splice(at, 1);
  }
  return 2;
}

/**
 * True if each part of a query starts a word of the name, with at most one letter of a part wrong, missing, extra or
 * swapped. Parts of fewer than four letters must be right.
 */
export function resembles(query: string, name: string): boolean {
  const words = folded(name).split(SEPARATORS);
  const starts = (part: string, word: string) =>
    word.startsWith(part) ||
    (part.length >= MIN_MISTYPED && [-1, 0, 1].some((more) => hasOneMistake(part, word.slice(0, part.length + more))));
  return folded(query)
    .trim()
    .split(SEPARATORS)
    .every((part) => words.some((word) => starts(part, word)));
}

const MIN_MISTYPED = 4;

function hasOneMistake(typed: string, meant: string): boolean {
  let same = 0;
  while (same < typed.length && typed[same] === meant[same]) same++;
  const [a, b] = [typed.slice(same), meant.slice(same)];
  return (
    a.slice(1) === b.slice(1) ||
    a.slice(1) === b ||
    a === b.slice(1) ||
    (a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2))
  );
}

const SEPARATORS = /[\s_\-./"“”]+/;

/** Removes case, accents and compatibility forms such as `＠`. */
function folded(text: string): string {
  const lower = text.toLowerCase();
  return IS_ASCII.test(lower) ? lower : lower.normalize('NFKD').replaceAll(/\p{M}/gu, '');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII.
const IS_ASCII = /^[\x00-\x7f]*$/;

/** Returns the best suggestions for a query; `emoji` lists names in order of preference, `languages` those of code blocks. */
export function suggestionsFor(
  state: ChatState,
  query: CompletionQuery,
  destination: Destination,
  emoji: readonly EmojiName[] = [],
  languages: readonly string[] = [],
): readonly Suggestion[] {
  switch (query.kind) {
    case 'mention':
      return best([...wildcards(query, destination), ...people(state, query, destination), ...groups(state, query)]);
    case 'channel':
      return best(channels(state, query.text));
    case 'topic':
      return topics(state, query);
    case 'command':
      return best(words('command', COMMANDS, query.text, (name) => `/${name} `));
    case 'language':
      return best(words('language', languages, query.text, (name) => `${name}\n`));
    case 'emoji':
      return best(
        emoji.flatMap((candidate, order) => {
          const rank = rankOf(query.text, candidate.name);
          const insert = `:${candidate.name}: `;
          return rank === null
            ? []
            : [
                {
                  rank,
                  order,
                  key: insert,
                  kind: 'emoji',
                  label: candidate.name,
                  id: 0,
                  detail: '',
                  emoji: candidate,
                  insert,
                },
              ];
        }),
      );
  }
}

/** Returns the channel of a topic query. */
export function channelOf(state: ChatState, query: CompletionQuery): number | null {
  if (query.kind !== 'topic') return null;
  const exact = channels(state, query.channel).find(({ label }) => label === query.channel);
  return exact?.id ?? best(channels(state, query.channel))[0]?.id ?? null;
}

interface Candidate extends Suggestion {
  readonly rank: number;
  readonly order: number;
}

const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

function best(candidates: readonly Candidate[]): readonly Suggestion[] {
  return [...candidates]
    .sort((a, b) => a.rank - b.rank || a.order - b.order || COLLATOR.compare(a.label, b.label))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ rank: _, order: __, ...suggestion }) => suggestion);
}

function words(
  kind: 'command' | 'language',
  names: readonly string[],
  text: string,
  insertOf: (name: string) => string,
): readonly Candidate[] {
  return names.flatMap((label) => {
    const rank = rankOf(text, label);
    const insert = insertOf(label);
    return rank === null ? [] : [{ rank, order: 0, key: label, kind, label, id: 0, detail: '', emoji: null, insert }];
  });
}

function wildcards({ text, isSilent }: CompletionQuery, destination: Destination): readonly Candidate[] {
  const names = destination.kind === 'channel' ? ['all', 'topic'] : ['all'];
  return names.flatMap((name) => {
    const rank = rankOf(text, name);
    if (rank === null) return [];
    const insert = `@${isSilent ? '_' : ''}**${name}** `;
    return [{ rank, order: 4, key: insert, kind: 'wildcard', label: name, id: 0, detail: '', emoji: null, insert }];
  });
}

/** People who wrote in the topic, then elsewhere in the channel, the latest first. */
function writersOf(state: ChatState, destination: Destination): readonly number[] {
  if (destination.kind !== 'channel') return [];
  const topic = destination.topic.toLowerCase();
  const inChannel = [...state.messages.all().values()]
    .filter(({ stream_id }) => stream_id === destination.channelId)
    .sort((a, b) => b.id - a.id);
  const here = inChannel.filter(({ subject }) => subject.toLowerCase() === topic);
  return [...new Set([...here, ...inChannel].map(({ sender_id }) => sender_id))];
}

/** Ranks people who wrote here first, then those of the conversation, recent partners, other people, and bots. */
function people(state: ChatState, { text, isSilent }: CompletionQuery, destination: Destination): readonly Candidate[] {
  const writers = writersOf(state, destination);
  const near = new Set(
    destination.kind === 'channel' ? (state.subscribers.get(destination.channelId) ?? []) : destination.userIds,
  );
  const recent = new Set([...state.recentDirects.all().values()].flatMap(({ userIds }) => userIds));
  const rows = state.people.values();
  const found = rows.filter(isActive).flatMap(({ user }) => {
    const rank = rankOf(text, user.full_name);
    return rank === null ? [] : [{ user, rank }];
  });
  const counts = new Map<string, number>();
  for (const { user } of rows) {
    const name = user.full_name.toLowerCase();
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const orderOf = (id: number, isBot: boolean) => {
    if (isBot) return 3;
    if (id === state.selfId) return 2;
    const index = writers.indexOf(id);
    if (index !== -1) return index - writers.length;
    return near.has(id) ? 0 : recent.has(id) ? 1 : 2;
  };
  return found.map(({ user: { user_id: id, full_name: name, is_bot }, rank }) => {
    const needsId = counts.get(name.toLowerCase())! > 1 || WILDCARDS.includes(name) || /\|\d+$/.test(name);
    return {
      rank,
      order: orderOf(id, is_bot),
      key: `person ${id}`,
      kind: 'person',
      label: name,
      id,
      detail: '',
      emoji: null,
      insert: `@${isSilent ? '_' : ''}**${name}${needsId ? `|${id}` : ''}** `,
    };
  });
}

/** Returns groups that the user may mention; silent mentions need no permission. */
function groups(state: ChatState, { text, isSilent }: CompletionQuery): readonly Candidate[] {
  return state.groups.values().flatMap((group) => {
    const rank = group.is_system_group || group.deactivated ? null : rankOf(text, group.name);
    if (rank === null || !(isSilent || isMember(state, group.can_mention_group))) return [];
    const { id, name, description } = group;
    const insert = `@${isSilent ? '_' : ''}*${name}* `;
    return [
      { rank, order: 2, key: `group ${id}`, kind: 'group', label: name, id, detail: description, emoji: null, insert },
    ];
  });
}

/** Ranks subscribed channels first and omits archived ones. A chosen channel continues with its topics. */
function channels(state: ChatState, text: string): readonly Candidate[] {
  return state.channels.values().flatMap(({ channel, membership }) => {
    const { stream_id: id, name } = channel;
    const rank = channel.is_archived ? null : rankOf(text, name);
    if (rank === null) return [];
    const link = linkTo(state, id, name, null);
    const insert = link.startsWith('#') ? `#**${name}>` : `${link} `;
    const order = membership === 'subscribed' ? 0 : 1;
    return [{ rank, order, key: `channel ${id}`, kind: 'channel', label: name, id, detail: '', emoji: null, insert }];
  });
}

/** Returns the channel itself until a topic is typed, and matching topics, latest first. */
function topics(state: ChatState, query: CompletionQuery): readonly Suggestion[] {
  const id = channelOf(state, query);
  if (id === null) return [];
  const { name: channel } = state.channels.get(id)!.channel;
  /** `topic`: null for the channel itself. */
  const candidate = (topic: string | null, rank: number, order: number): Candidate => {
    const insert = `${linkTo(state, id, channel, topic)} `;
    const about: Pick<Candidate, 'kind' | 'label' | 'id' | 'detail'> =
      topic === null
        ? { kind: 'channel', label: channel, id, detail: '' }
        : { kind: 'topic', label: topic, id: 0, detail: channel };
    return { ...about, rank, order, key: insert, emoji: null, insert };
  };
  const found = [...(state.topics.get(id)?.values() ?? [])].flatMap(({ name, maxId }) => {
    const rank = name === '' ? null : rankOf(query.text, name);
    return rank === null ? [] : [candidate(name, rank, -maxId)];
  });
  return best(query.text === '' ? [candidate(null, -1, 0), ...found] : found);
}

/** Returns Zulip's short syntax, or a Markdown link for names that would end it early. */
function linkTo(state: ChatState, channelId: number, channel: string, topic: string | null): string {
  const label = topic === null ? channel : `${channel}>${topic}`;
  const isPlain = !/[*>]/.test(channel) && !/\*\*|\*$|@\d+$|`/.test(label);
  if (isPlain) return `#**${label}**`;
  const { selfId } = state;
  const names = { selfId, channel: (id: number) => state.channels.peek(id)?.channel.name, person: () => undefined };
  const narrow =
    topic === null
      ? [{ operator: 'channel', operand: channelId } as const]
      : narrowOf({ kind: 'channel', channelId, topic });
  const text = label.replaceAll(/[[\]*`]/g, '').replace('>', ' > ');
  return `[#${text}](${formatAddress({ view: 'narrow', narrow, near: null }, names)})`;
}
