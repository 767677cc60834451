import type { Chat, EmojiName } from '@parley/chat';
import { computed, type ReadonlySignal, signal } from '@preact/signals-core';

/** Names of emoji: the organization's own, then Unicode's, which are loaded on first use. */
export class EmojiNames {
  readonly all: ReadonlySignal<readonly EmojiName[]>;
  private readonly unicode = signal<readonly EmojiName[]>([]);
  private isLoaded = false;

  constructor(
    private readonly chat: Chat,
    baseUrl: string,
  ) {
    this.all = computed(() => [...ownNames(chat, baseUrl), ...this.unicode.value]);
  }

  /** Loads the names once; a failed attempt is repeated at the next use. */
  async load(): Promise<void> {
    const url = this.chat.state.fields.peek('server_emoji_data_url');
    if (this.isLoaded || url === undefined) return;
    this.isLoaded = true;
    try {
      const { code_to_names: names } = (await (await fetch(url)).json()) as EmojiData;
      this.unicode.value = unicodeNames(names);
    } catch {
      this.isLoaded = false;
    }
  }
}

interface EmojiData {
  readonly code_to_names: Readonly<Record<string, readonly string[]>>;
}

/** Canonical names first, because they are the ones that people see on messages. */
function unicodeNames(names: EmojiData['code_to_names']): readonly EmojiName[] {
  const rows = Object.entries(names).map(([code, list]) => ({ character: characterOf(code), list }));
  const of = (pick: (list: readonly string[]) => readonly string[]) =>
    rows.flatMap(({ character, list }) => pick(list).map((name) => ({ name, character, imageUrl: null })));
  return [...of((list) => list.slice(0, 1)), ...of((list) => list.slice(1))];
}

const characterOf = (code: string): string =>
  String.fromCodePoint(...code.split('-').map((digits) => Number.parseInt(digits, 16)));

function ownNames(chat: Chat, baseUrl: string): readonly EmojiName[] {
  return Object.values(chat.field('realm_emoji') ?? {})
    .filter(({ deactivated }) => !deactivated)
    .map(({ name, source_url: url }) => ({
      name,
      character: '',
      // Addresses of the organization are relative to its mount path.
      imageUrl: new URL(url.startsWith('/') ? url.slice(1) : url, baseUrl).href,
    }));
}
