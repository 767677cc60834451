import { FirstSteps } from '../src/inbox/first-steps.js';
import { LaterList } from '../src/inbox/later-list.js';
import { type Exhibit, LONG_TOPIC, page, VERONA } from './exhibit.js';
import { channelId, messageId, personId } from './world.js';

const topic = (name: string, channel = VERONA) =>
  `narrow/channel/${channel}-x/topic/${encodeURIComponent(name).replaceAll('.', '%2E').replaceAll('%', '.')}`;

/** Views and personal lists, including empty, failing and loading states. */
export const PAGES: readonly Exhibit[] = [
  ...['drafts', 'scheduled', 'reminders', 'inbox', 'recent'].flatMap((at) => [
    page(at, at),
    page(at, at, 'empty', 200),
  ]),
  { name: 'first steps', height: 300, draw: () => <FirstSteps /> },
  { name: 'kept for later', height: 600, draw: () => <LaterList /> },
  page('conversation with every kind of message', topic('gallery'), 'full', 1400),
  page('one message of it', `${topic('gallery')}/near/${messageId('Short, to')}`),
  page('long names', topic(LONG_TOPIC, channelId('preparations-for-the-annual-meeting-of-all-regional-offices'))),
  page('names from right to left', topic('נושא', channelId('ערוץ'))),
  page('new topic', topic('nothing here yet'), 'full', 320),
  page('channel', `narrow/channel/${VERONA}-Verona`),
  page(
    'group conversation',
    `narrow/dm/${['King', 'Cordelia', 'Max', 'אבנר'].map(personId).join()}-group`,
    'full',
    420,
  ),
  page('feed', 'feed'),
  page('feed', 'feed', 'empty', 320),
  page('feed', 'feed', 'loading', 320),
  page('feed', 'feed', 'failing', 320),
  page('starred', 'narrow/is/starred', 'full', 320),
  page('search', 'narrow/search/topic'),
  page('nothing found', 'narrow/search/xyzzyplugh', 'full', 240),
  page('unknown channel', 'narrow/channel/99999-gone', 'full', 240),
  page('unknown person', 'narrow/dm/99999-gone', 'full', 240),
  page('unknown address', 'nowhere', 'full', 160),
  page('direct messages', 'narrow/is/dm', 'visitor', 160),
  page('conversation', topic('gallery'), 'visitor', 420),
];
