import type { I18n } from '@lingui/core';
import { AlarmClock, CalendarClock, Clock, Inbox, PencilLine, Rows3 } from 'lucide-react';
import type { ComponentType } from 'react';

/** Page with messages or texts of several places. */
export interface View {
  readonly href: string;
  readonly icon: ComponentType<{ readonly size?: number }>;
  readonly label: string;
}

export function viewsOf(i18n: I18n): readonly View[] {
  return [
    { href: '#inbox', icon: Inbox, label: i18n._('Inbox') },
    { href: '#recent', icon: Clock, label: i18n._('Recent conversations') },
    { href: '#feed', icon: Rows3, label: i18n._('Combined feed') },
    { href: '#drafts', icon: PencilLine, label: i18n._('Drafts') },
    { href: '#scheduled', icon: CalendarClock, label: i18n._('Scheduled messages') },
    { href: '#reminders', icon: AlarmClock, label: i18n._('Reminders') },
  ];
}
