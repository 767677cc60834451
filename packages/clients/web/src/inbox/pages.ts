import type { Address } from '@parley/chat';
import type { ComponentType } from 'react';
import { InboxPage } from './inbox-page.js';
import { RecentPage } from './recent-page.js';

export type ListView = Exclude<Address['view'], 'narrow' | 'other'>;

/** Pages with conversations or texts of several places. */
export const PAGES: Readonly<Record<ListView, () => Promise<ComponentType>>> = {
  inbox: async () => InboxPage,
  recent: async () => RecentPage,
  drafts: () => import('./drafts-page.js').then(({ DraftsPage }) => DraftsPage),
  scheduled: () => import('./scheduled-page.js').then(({ ScheduledPage }) => ScheduledPage),
  reminders: () => import('./reminders-page.js').then(({ RemindersPage }) => RemindersPage),
};
