import type { Chat, UnreadCount } from '@parley/chat';

/** Values of the setting `demote_inactive_streams`. */
const ALWAYS = 2;
const NEVER = 3;
/** Number of subscribed channels from which inactive ones are folded by default, as in Zulip. */
const MANY_CHANNELS = 30;

type Known = Pick<Chat, 'state' | 'sidebar'>;

/** Channels to fold: muted and, by the setting, inactive ones, unless they are pinned. Observed inside computations. */
export function foldedIds({ state }: Known): ReadonlySet<number> {
  const own = state.channels.values().filter(({ membership }) => membership === 'subscribed');
  const setting = state.fields.get('user_settings')?.demote_inactive_streams;
  const foldsInactive = setting === ALWAYS || (setting !== NEVER && own.length >= MANY_CHANNELS);
  const isFolded = ({ own: settings, channel }: (typeof own)[number]) =>
    !settings?.pin_to_top && (settings?.is_muted || (foldsInactive && !channel.is_recently_active));
  return new Set(own.filter(isFolded).map(({ channel }) => channel.stream_id));
}

/** Channels with counted unread messages or mentions. Observed inside computations. */
export const unreadIds = ({ state, sidebar }: Known): readonly number[] =>
  state.unread.topicKeys.keys().filter((id) => hasUnread(sidebar.channel(id).value?.unread));

const hasUnread = (unread: UnreadCount | undefined) => unread !== undefined && (unread.count > 0 || unread.hasMention);

/** Unread messages that mention the user, also in muted conversations. Observed inside computations. */
export function mentionCount({ state, sidebar }: Known): number {
  let count = 0;
  for (const key of state.unread.tallies.keys()) {
    const { mentions } = state.unread.tallies.get(key)!;
    const [kind, id] = key.split(':');
    if (mentions > 0 && (kind === 'dm' || sidebar.channel(Number(id)).value?.isSubscribed)) count += mentions;
  }
  return count;
}
