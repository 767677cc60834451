import { useLingui } from '@lingui/react';
import { type Chat, rankOf, resembles, type TopicRow } from '@parley/chat';
import { type KeyboardEvent, type MouseEvent, useState } from 'react';
import { Hash, ListFilter, UserPlus } from '../icons/icons.js';
import { CountBadge } from '../kit/badge.js';
import { IconButton } from '../kit/icon-button.js';
import { useChat, useComputed, useFind } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';
import { useManagement } from '../services/use-management.js';
import { useReading } from '../services/use-reading.js';
import { useUnopenedTopics } from '../services/use-unopened-topics.js';
import { onlyUnread, setOnlyUnread } from './only-unread.js';
import styles from './sidebar.module.css';
import { Channel, ChannelList, type ChannelsProps, Direct, Entry, Section, ViewEntry } from './sidebar-rows.js';
import { useViews } from './views.js';

/** Maximum rows of each kind that match a filter. */
const MAX_FOUND = 50;
/** Maximum matching topics of one channel. */
const MAX_TOPICS = 10;

interface FilterProps {
  readonly query: string;
  onChange(query: string): void;
}

/** Field that filters the sidebar, and a switch for unread conversations. */
export function Filter({ query, onChange }: FilterProps) {
  const { i18n } = useLingui();
  const isOnlyUnread = useReading(onlyUnread);
  const label = i18n._('Filter conversations');
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const links = [...(event.currentTarget.parentElement!.nextElementSibling?.querySelectorAll('a') ?? [])];
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && query.trim() !== '') {
      // Channels are also listed above matching topics.
      (links.find((link) => matches(query, nameIn(link))) ?? links[0])?.click();
      onChange('');
    } else if (event.key === 'ArrowDown') links[0]?.focus();
    else if (event.key === 'Escape' && query !== '') onChange('');
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        type="search"
        className={styles.filter}
        aria-label={label}
        aria-keyshortcuts="q"
        placeholder={label}
        autoComplete="off"
        value={query}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={onKeyDown}
      />
      <IconButton
        icon={ListFilter}
        label={i18n._('Only unread conversations')}
        isPressed={isOnlyUnread}
        onClick={() => setOnlyUnread(!isOnlyUnread)}
      />
    </>
  );
}

const nameIn = (link: Element): string => link.querySelector(`.${styles.label}`)!.textContent;

/** Rows of the list: links, headings, and buttons as wide as the list. */
const ROWS = `a, summary, button.${styles.entry}`;

/** Moves the focus between rows and their buttons, and from the first row or by Escape to the filter. */
export function moveInList(event: KeyboardEvent<HTMLElement>): void {
  const { key, currentTarget: list, ctrlKey, altKey, metaKey, shiftKey } = event;
  const target = event.target as HTMLElement;
  const filter = list.previousElementSibling?.querySelector('input');
  if (key === 'Escape' && filter?.value) filter.focus();
  if (!key.startsWith('Arrow') || ctrlKey || altKey || metaKey || shiftKey) return;
  const inRow = target.closest(`.${styles.line}`)?.querySelectorAll<HTMLElement>('a, button');
  const inHeading = target.closest(`.${styles.section}`)?.querySelectorAll<HTMLElement>(HEADING);
  // The button of a heading precedes it in the document.
  const controls = inRow ? [...inRow] : [...(inHeading ?? [])].reverse();
  event.preventDefault();
  if (key === 'ArrowRight' || key === 'ArrowLeft') {
    const isForward = (key === 'ArrowRight') === (getComputedStyle(list).direction === 'ltr');
    controls[controls.indexOf(target) + (isForward ? 1 : -1)]?.focus();
    return;
  }
  const rows = [...list.querySelectorAll<HTMLElement>(ROWS)].filter((row) => row.checkVisibility());
  const row = target.matches(ROWS) ? target : controls[0]!;
  const next = rows.indexOf(row) + (key === 'ArrowDown' ? 1 : -1);
  if (next < 0) filter?.focus();
  else rows[next]?.focus();
}

const HEADING = `:scope > .${styles.sectionButton} button, :scope > details > summary`;

/** True for a click or Enter on a link, except to open it in another tab or window. */
export const isOpening = ({ target, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean =>
  !(ctrlKey || metaKey || shiftKey) && (target as Element).closest('a') !== null;

/** Views, conversations, channels and topics with matching names. */
export function Found({ query }: Pick<FilterProps, 'query'>) {
  const { i18n } = useLingui();
  const chat = useChat();
  useUnopenedTopics(chat.sidebar.channelIds.peek());
  useFind(query);
  const views = useViews().filter(({ label, isShown }) => isShown && matches(query, label));
  const directs = useComputed(() => matchingDirects(chat, query), [chat, query]);
  const channels = useComputed(() => matchingChannels(chat, query), [chat, query]);
  if (views.length + directs.length + channels.length === 0) {
    return <output className={styles.nothing}>{i18n._('Nothing found')}</output>;
  }
  return (
    <>
      {views.length > 0 && (
        <Section title={i18n._('Views')}>
          {views.map((view) => (
            <ViewEntry key={view.href} view={view} />
          ))}
        </Section>
      )}
      {directs.length > 0 && (
        <Section title={i18n._('Direct messages')}>
          {directs.map((row) => (
            <Direct key={row.key} row={row} />
          ))}
        </Section>
      )}
      {channels.length > 0 && (
        <Section title={i18n._('Channels')}>
          {channels.map(({ id, topics }) => (
            <Channel key={id} id={id} topics={topics} />
          ))}
        </Section>
      )}
    </>
  );
}

const matches = (query: string, name: string): boolean => rankOf(query, name) !== null || resembles(query, name);

function matchingDirects(chat: Chat, query: string) {
  const nameOf = (id: number) => chat.people.person(id).value.name;
  return chat.sidebar.directs.value
    .filter(({ userIds }) => matches(query, userIds.map(nameOf).join(' ')))
    .slice(0, MAX_FOUND);
}

interface FoundChannel {
  readonly id: number;
  readonly topics: readonly TopicRow[];
}

/** Channels with matching names or topics. Only topics loaded so far are searched. */
function matchingChannels(chat: Chat, query: string): readonly FoundChannel[] {
  const { state, sidebar } = chat;
  const withTopics = new Set([...state.topics.keys(), ...state.unread.topicKeys.keys()]);
  const found: FoundChannel[] = [];
  for (const id of sidebar.channelIds.value) {
    const topics = withTopics.has(id)
      ? sidebar
          .topics(id)
          .value.filter(({ title }) => matches(query, title))
          .slice(0, MAX_TOPICS)
      : [];
    const isFound = topics.length > 0 || matches(query, state.channels.peek(id)?.channel.name ?? '');
    if (isFound) found.push({ id, topics });
    if (found.length === MAX_FOUND) break;
  }
  return found;
}

/** Button that shows muted and inactive channels below it. */
export function FoldedChannels({ ids }: Pick<ChannelsProps, 'ids'>) {
  const { i18n } = useLingui();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <li>
        <button
          type="button"
          className={styles.entry}
          data-more
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {i18n._('Inactive or muted channels')} <CountBadge count={ids.length} />
        </button>
      </li>
      {isOpen && <ChannelList ids={ids} isFirst />}
    </>
  );
}

/** Link to the channels that a partial state lacks, and a button for people who may invite others. */
export function More() {
  const { i18n } = useLingui();
  const { state } = useChat();
  return (
    <>
      {state.isPartial && (
        <ul className={styles.list}>
          <Entry href="#channels/all" icon={<Hash size={17} aria-hidden />}>
            {i18n._('Browse channels')}
          </Entry>
        </ul>
      )}
      <InvitePeople />
    </>
  );
}

/** Button for people who may invite others. */
function InvitePeople() {
  const { i18n } = useLingui();
  const { rights } = useManagement();
  const may = useComputed(() => {
    const byLink = rights.has('realm_create_multiuse_invite_group');
    return { byEmail: rights.has('realm_can_invite_users_group'), byLink };
  }, [rights]);
  const { byEmail, byLink } = may;
  if (!byEmail && !byLink) return null;
  return (
    <button
      type="button"
      className={styles.entry}
      data-wide
      aria-haspopup="dialog"
      onClick={({ currentTarget }) =>
        openOverlay(currentTarget, async () => {
          const [{ InviteDialog }, { loadManagingTexts }] = await Promise.all([
            import('../managing/invite-dialog.js'),
            import('../managing/open.js'),
          ]);
          await loadManagingTexts(i18n, i18n.locale);
          return <InviteDialog isLink={!byEmail} />;
        })
      }
    >
      <UserPlus size={16} aria-hidden />
      <span className={styles.label}>{i18n._('Invite people')}</span>
    </button>
  );
}
