import type { Chat, Emoji, EmojiName } from '@parley/chat';
import { computed, type ReadonlySignal, signal } from '@preact/signals-core';
import { useServices } from '../services/context.js';
import { characterOf } from './emoji-character.js';

/** Selectable emoji. */
export interface EmojiEntry extends Emoji {
  /** Names, the canonical one first. */
  readonly names: readonly string[];
  /** Unicode emoji; empty for custom emoji. */
  readonly character: string;
  readonly imageUrl: string | null;
  /** True if the character has a skin tone. The server has no names for these. */
  readonly isToned?: boolean;
}

/** Emoji of the organization, followed by Unicode emoji, which are loaded on first use. */
export class EmojiNames {
  readonly entries: ReadonlySignal<readonly EmojiEntry[]>;
  /** Names of popular emoji, then canonical names of the others, which messages show, then aliases. */
  readonly all: ReadonlySignal<readonly EmojiName[]>;
  private readonly unicode = signal<readonly EmojiEntry[]>(POPULAR);
  private isLoaded = false;

  constructor(
    private readonly chat: Chat,
    baseUrl: string,
  ) {
    this.entries = computed(() => {
      const own = ownEntries(chat, baseUrl);
      const taken = new Set(own.map(({ emoji_name: name }) => name));
      // Custom emoji replace standard emoji of the same name (messages §12.1).
      return [...own, ...this.unicode.value.filter(({ emoji_name: name }) => !taken.has(name))];
    });
    this.all = computed(() => {
      const named = (pick: (entry: EmojiEntry) => readonly string[]) =>
        this.entries.value.flatMap((entry) => {
          const { character, imageUrl } = entry;
          return pick(entry).map((name) => ({ name, character, imageUrl }));
        });
      const isPopular = (code: string) => POPULAR_CODES.includes(code);
      return [
        ...named(({ emoji_code: code, names }) => (isPopular(code) ? names : [])),
        ...named(({ emoji_code: code, names }) => (isPopular(code) ? [] : names.slice(0, 1))),
        ...named(({ emoji_code: code, names }) => (isPopular(code) ? [] : names.slice(1))),
      ];
    });
  }

  /** Loads the names once; the next use retries after a failure. */
  async load(): Promise<void> {
    const url = this.chat.state.fields.peek('server_emoji_data_url');
    if (this.isLoaded || url === undefined) return;
    this.isLoaded = true;
    try {
      const { code_to_names: names } = (await (await fetch(url)).json()) as EmojiData;
      this.unicode.value = unicodeEntries(names);
    } catch {
      this.isLoaded = false;
    }
  }
}

const namesByChat = new WeakMap<Chat, EmojiNames>();

/** Returns the emoji names, shared by all elements of the page. */
export function useEmojiNames(): EmojiNames {
  const { chat, baseUrl } = useServices();
  const known = namesByChat.get(chat) ?? new EmojiNames(chat, baseUrl);
  namesByChat.set(chat, known);
  return known;
}

interface EmojiData {
  readonly code_to_names: Readonly<Record<string, readonly string[]>>;
}

const unicodeEntry = (code: string, names: readonly string[]): EmojiEntry => ({
  emoji_name: names[0]!,
  emoji_code: code,
  reaction_type: 'unicode_emoji',
  names,
  character: characterOf(code),
  imageUrl: null,
});

/** Shown first, even before the others are loaded. */
const POPULAR = [
  unicodeEntry('1f44d', ['+1', 'thumbs_up']),
  unicodeEntry('1f389', ['tada']),
  unicodeEntry('1f642', ['smile']),
  unicodeEntry('2764', ['heart']),
  unicodeEntry('1f6e0', ['working_on_it']),
  unicodeEntry('1f419', ['octopus']),
  unicodeEntry('1f440', ['eyes']),
  unicodeEntry('2705', ['check']),
];
export const POPULAR_CODES: readonly string[] = POPULAR.map(({ emoji_code: code }) => code);

/** Unicode blocks with faces and hands, the most frequent emoji. */
const FACES: readonly (readonly [from: number, to: number])[] = [
  [0x1f600, 0x1f64f],
  [0x1f910, 0x1f92f],
  [0x1f970, 0x1f97a],
  [0x1f440, 0x1f450],
];

function unicodeEntries(names: EmojiData['code_to_names']): readonly EmojiEntry[] {
  const all = Object.entries(names).map(([code, list]) => unicodeEntry(code, list));
  const rank = ({ emoji_code: code }: EmojiEntry) => {
    const popular = POPULAR_CODES.indexOf(code);
    if (popular !== -1) return popular;
    const first = Number.parseInt(code, 16);
    const block = FACES.findIndex(([from, to]) => first >= from && first <= to);
    return POPULAR.length + (block === -1 ? FACES.length : block);
  };
  return all.sort((a, b) => rank(a) - rank(b));
}

function ownEntries(chat: Chat, baseUrl: string): readonly EmojiEntry[] {
  return Object.values(chat.field('realm_emoji') ?? {})
    .filter(({ deactivated }) => !deactivated)
    .map(({ id, name, source_url: url }) => ({
      emoji_name: name,
      emoji_code: id,
      reaction_type: 'realm_emoji',
      names: [name],
      character: '',
      // Organization addresses are relative to its mount path.
      imageUrl: new URL(url.startsWith('/') ? url.slice(1) : url, baseUrl).href,
    }));
}
