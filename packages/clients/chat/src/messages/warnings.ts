import type { Destination } from '../kernel/narrow.js';
import { activeFirst, type ChatState } from '../kernel/state.js';
import { isMember } from '../organization/organization.js';

/** Warning shown before a message is sent. */
export type SendWarning =
  | { readonly kind: 'many'; readonly count: number }
  /** Mentioned people who are not subscribed to the channel. */
  | { readonly kind: 'unseen' | 'guests'; readonly userIds: readonly number[] };

/** Group and wildcard mentions of at most this many people need no warning, as in Zulip. */
const MANY = 15;
const GUEST = 600;
const EVERYBODY = new Set(['all', 'everyone', 'channel', 'stream']);
const CODE = /^(`{3,}|~{3,})[\s\S]*?(?:^\1|(?![\s\S]))|`[^`\n]*`/gm;
const PERSON = /@\*\*([^*|\n]+?)(?:\|(\d+))?\*\*/g;
const GROUP = /@\*([^*\n]+)\*(?!\*)/g;

/** Returns warnings about a message draft. Observed inside computations. */
export function warningsFor(state: ChatState, destination: Destination, text: string): readonly SendWarning[] {
  const warnings: SendWarning[] = [];
  const plain = text.replaceAll(CODE, '');
  const names = [...plain.matchAll(PERSON)];
  const isChannel = destination.kind === 'channel';
  const subscribers = isChannel ? state.subscribers.get(destination.channelId) : undefined;
  const sizes = [...plain.matchAll(GROUP)].map(([, name = '']) => sizeOf(state, name));
  if (isChannel && names.some(([, name = '']) => EVERYBODY.has(name))) {
    const channel = state.channels.get(destination.channelId)?.channel;
    sizes.push(subscribers?.length ?? channel?.subscriber_count ?? 0);
  }
  const count = Math.max(0, ...sizes);
  if (count > MANY) warnings.push({ kind: 'many', count });
  if (subscribers) {
    const unseen = names.flatMap(([, name = '', id]) => personOf(state, name, id) ?? []);
    const userIds = [...new Set(unseen)].filter((id) => !subscribers.includes(id));
    if (userIds.length > 0) warnings.push({ kind: 'unseen', userIds });
  }
  if (destination.kind === 'direct' && state.fields.get('realm_enable_guest_user_dm_warning') === true) {
    const userIds = destination.userIds.filter((id) => state.people.get(id)?.user.role === GUEST);
    if (userIds.length > 0) warnings.push({ kind: 'guests', userIds });
  }
  return warnings;
}

function sizeOf(state: ChatState, name: string): number {
  const group = state.groups.values().find((each) => each.name === name && !each.deactivated);
  if (!group) return 0;
  return state.people.values().filter(({ user }) => isMember(state, group.id, user.user_id)).length;
}

function personOf(state: ChatState, name: string, id: string | undefined): number | null {
  const person =
    id === undefined ? activeFirst(state).find(({ user }) => user.full_name === name) : state.people.get(Number(id));
  return person?.user.user_id ?? null;
}
