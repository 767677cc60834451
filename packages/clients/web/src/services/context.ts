import { type Chat, type Destination, type Fields, narrowOf } from '@parley/chat';
import type { ParleyClient } from '@parley/client';
import { computed } from '@preact/signals-core';
import { createContext, useCallback, useContext, useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Drafts } from './drafts.js';
import type { ShownData } from './element-types.js';
import type { FieldTexts } from './field-texts.js';
import { keyOf, type Navigation, type Place } from './location.js';
import type { PassedTokens } from './passed-tokens.js';
import type { Uploads } from './uploads.js';
import { useReading } from './use-reading.js';

/** Page services used by components. */
export interface Services {
  readonly chat: Chat;
  readonly client: ParleyClient;
  /** URL of the organization, with a trailing slash. */
  readonly baseUrl: string;
  readonly drafts: Drafts;
  /** Opened by the first text field. */
  readonly uploads: { readonly storageKey: string; opened?: Uploads };
  readonly navigation: Navigation;
  readonly fieldTexts: FieldTexts;
  /** Present if the host's page passes tokens, which files and log-ins then need. */
  readonly tokens?: PassedTokens | undefined;
  /** Link target for external pages; default: a new window. */
  readonly linkTarget?: string;
  /** `enter`: Enter sends. Default: the user's setting. */
  readonly sends?: 'enter';
  /** `simple`: only the tools that customers need. */
  readonly tools?: 'simple';
  /** Switches the language, also for the next start; absent if the host chooses it. */
  setLanguage?(language: string): void;
  /** Called when the user has sent a message. */
  onSent?(destination: Destination, content: string): void;
  /** Called for each shown object with data of the application; the host may fill the slot of this name. */
  onData?(shown: ShownData): void;
  /** Objects with fetched data in addition to messages: `channel`, `user` or both. */
  readonly dataOf?: string | null;
}

export const ServicesContext = createContext<Services | null>(null);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (!services) throw new Error('Components of the chat need a ServicesContext');
  return services;
}

export const useChat = (): Chat => useServices().chat;

/** Value computed from readings; re-renders when it changes. */
export function useComputed<T>(compute: () => T, dependencies: readonly unknown[]): T {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller lists them.
  return useReading(useMemo(() => computed(compute), dependencies));
}

/** Fetches channels and people with the text in their names, if the organization is so large that the state lacks some. */
export function useFind(text: string): void {
  const chat = useChat();
  useEffect(() => chat.find(text), [chat, text]);
}

/** Field of the register response, such as `realm_name`. */
export function useField<F extends keyof Fields>(name: F): Fields[F] {
  const chat = useChat();
  return useComputed(() => chat.field(name), [chat, name]);
}

/** Unsaved text of a field inside a message; null if there is none. Setting null discards it. */
export function useFieldText(field: string): readonly [string | null, (text: string | null) => void] {
  const { fieldTexts } = useServices();
  const text = useComputed(() => fieldTexts.texts.value.get(field)?.text ?? null, [fieldTexts, field]);
  const setText = useCallback((next: string | null) => fieldTexts.set(field, next), [fieldTexts, field]);
  return [text, setText];
}

/** Names of people, in the order of the ids. */
export function useNames(userIds: readonly number[]): readonly string[] {
  const chat = useChat();
  const key = userIds.join();
  const names = useComputed(() => userIds.map((id) => chat.people.person(id).value.name).join('\n'), [chat, key]);
  return useMemo(() => (names === '' ? [] : names.split('\n')), [names]);
}

/** Address of a conversation within the page. */
export function useAddressOf(destination: Destination, near: number | null = null): string {
  return useChat().formatAddress({ view: 'narrow', narrow: narrowOf(destination), near });
}

/** Part of the current place; re-renders only when that part changes. */
export function usePlace<T>(select: (place: Place) => T): T {
  const { navigation } = useServices();
  return useSyncExternalStore(
    (onChange) => navigation.subscribe(onChange),
    () => select(navigation.current()),
  );
}

export function useAddress(): Place {
  const chat = useChat();
  const place = usePlace((it) => it);
  return useMemo(() => ({ ...place, address: chat.ownAddress(place.address) }), [chat, place]);
}

/** True if an address shows the same conversation as the current place. */
export function useIsCurrent(hash: string): boolean {
  const key = useMemo(() => keyOf(hash), [hash]);
  return usePlace((place) => place.key === key);
}
