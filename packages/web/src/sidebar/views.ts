import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { NavigationView } from '@parley/client';
import { AlarmClock, AtSign, Bookmark, CalendarClock, Clock, Inbox, PencilLine, Rows3, Star } from 'lucide-react';
import type { ComponentType } from 'react';
import { useComputed, useField, useServices } from '../services/context.js';

/** Page with messages or texts of several places. */
export interface View {
  /** Name in the API (users §19). */
  readonly fragment: string;
  readonly href: string;
  readonly icon: ComponentType<{ readonly size?: number }>;
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

interface SidebarView extends View {
  readonly isShown: boolean;
  /** Number of the user's texts in it; undefined for message views. */
  readonly waiting?: number | undefined;
}

/** All views. Views of the user's texts show while there are any, unless the user chose otherwise. */
export function useViews(): readonly SidebarView[] {
  const { i18n } = useLingui();
  const { drafts } = useServices();
  const pins = useField('navigation_views') ?? [];
  const waiting: Readonly<Record<string, number>> = {
    drafts: useComputed(() => drafts.all.value.length, [drafts]),
    scheduled: useField('scheduled_messages')?.length ?? 0,
    reminders: useField('reminders')?.length ?? 0,
  };
  return [...builtInViews(i18n), ...ownViews(pins)].map((each) => {
    const pin = pins.find(({ fragment }) => fragment === each.fragment);
    const own = waiting[each.fragment];
    return { ...each, waiting: own, isShown: pin?.is_pinned ?? own !== 0 };
  });
}
