import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { NavigationView } from '@parley/client';
import type { Icon } from '../icons/icon.js';
import { AlarmClock, AtSign, Bookmark, CalendarClock, Clock, Inbox, PencilLine, Rows3, Star } from '../icons/icons.js';
import { useComputed, useField, useServices } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import { mentionCount } from './channel-lists.js';

/** Page with messages or texts of several places. */
export interface View {
  /** Name in the API (users §19). */
  readonly fragment: string;
  readonly href: string;
  readonly icon: Icon;
  readonly label: string;
}

const view = (fragment: string, icon: View['icon'], label: string, href = `#${fragment}`): View => {
  return { fragment, href, icon, label };
};

export function builtInViews(i18n: I18n): readonly View[] {
  return [
    view('inbox', Inbox, i18n._('Inbox')),
    view('recent', Clock, i18n._('Recent conversations')),
    view('all', Rows3, i18n._('Combined feed'), '#feed'),
    view('narrow/is/mentioned', AtSign, i18n._('Mentions')),
    view('narrow/is/starred', Star, i18n._('Starred messages')),
    view('drafts', PencilLine, i18n._('Drafts')),
    view('scheduled', CalendarClock, i18n._('Scheduled messages')),
    view('reminders', AlarmClock, i18n._('Reminders')),
  ];
}

/** Pages named by the user. */
export const ownViews = (pins: readonly NavigationView[] = []): readonly View[] =>
  pins.flatMap(({ fragment, name }) => (name === null ? [] : [view(fragment, Bookmark, name)]));

export interface SidebarView extends View {
  readonly isShown: boolean;
  /** Unread messages in it that deserve a badge. */
  readonly count: number;
  /** Number of drafts, scheduled messages, reminders or starred messages in it. */
  readonly waiting: number;
}

/** Views that are hidden while they are empty, unless the user chose otherwise. */
const HIDDEN_WHEN_EMPTY: readonly string[] = ['scheduled', 'reminders'];

/** All views. Drafts always show, since the sidebar must not move while the user types. */
export function useViews(): readonly SidebarView[] {
  const { i18n } = useLingui();
  const { drafts, chat } = useServices();
  const pins = useField('navigation_views') ?? [];
  const unread: Readonly<Record<string, number>> = {
    inbox: useReading(chat.sidebar.total).count,
    'narrow/is/mentioned': useComputed(() => mentionCount(chat), [chat]),
  };
  const countsStars = useField('user_settings')?.starred_message_counts;
  const waiting: Readonly<Record<string, number>> = {
    'narrow/is/starred': useComputed(() => (countsStars ? chat.state.starred.keys().length : 0), [chat, countsStars]),
    drafts: useComputed(() => drafts.all.value.length, [drafts]),
    scheduled: useField('scheduled_messages')?.length ?? 0,
    reminders: useField('reminders')?.length ?? 0,
  };
  return [...builtInViews(i18n), ...ownViews(pins)].map((each) => {
    const { fragment } = each;
    const pin = pins.find((it) => it.fragment === fragment);
    const own = waiting[fragment] ?? 0;
    const isShown = pin?.is_pinned ?? (own > 0 || !HIDDEN_WHEN_EMPTY.includes(fragment));
    return { ...each, count: unread[fragment] ?? 0, waiting: own, isShown };
  });
}
